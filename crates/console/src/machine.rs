//! The machine that a result was made on.

use std::{
    env, fs,
    num::NonZero,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// A machine, and the program that ran on it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The date of the run, such as `2026-11-21`.
    pub date: String,
    /// The processor's name and numbers.
    pub processor: String,
    /// Threads that run at once.
    pub processors: usize,
    /// Memory in MiB, if the system reports it.
    pub memory: Option<u64>,
    /// The operating system and its release.
    pub system: String,
    /// The program's name and version.
    pub program: String,
    /// The processor's extensions that the program uses.
    pub extensions: String,
}

impl Machine {
    /// Describes this machine today.
    pub fn new(program: &str, extensions: String) -> Machine {
        let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs() / 86_400);
        Machine {
            date: date(days),
            processor: processor(),
            processors: processors(),
            memory: memory("MemTotal").map(|bytes| bytes >> 20),
            system: system(),
            program: program.to_owned(),
            extensions,
        }
    }

    /// The description as labels and values.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let memory = self.memory.map_or("memory unknown".to_owned(), |mib| format!("{mib} MiB"));
        vec![
            ("date", self.date.clone()),
            ("processor", self.processor.clone()),
            ("machine", format!("{} processors, {memory}, {}", self.processors, self.system)),
            ("program", self.program.clone()),
            ("extensions", self.extensions.clone()),
        ]
    }
}

/// The Gregorian date that is `days` after 1970-01-01.
fn date(days: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

/// Whether the system lets this process start another thread now.
pub fn can_start_threads() -> bool {
    thread::Builder::new().spawn(|| ()).is_ok()
}

/// How many threads run at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The processor's name and numbers.
pub fn processor() -> String {
    if cfg!(windows)
        && let Ok(name) = env::var("PROCESSOR_IDENTIFIER")
    {
        return name;
    }
    // A virtual machine's processor often has a vague name; the numbers identify it.
    let info = report("cpuinfo").unwrap_or_default();
    let field = |name: &str| field(&info, name).map(str::to_owned);
    let Some(name) = field("model name") else {
        return format!("unknown {} processor", env::consts::ARCH);
    };
    match (field("cpu family"), field("model"), field("stepping")) {
        (Some(family), Some(model), Some(stepping)) => {
            format!("{name} (family {family}, model {model}, stepping {stepping})")
        }
        _ => name,
    }
}

/// Bytes of memory of one kind, `MemTotal` or `MemAvailable`, if the system reports it.
pub fn memory(kind: &str) -> Option<u64> {
    let info = report("meminfo")?;
    let kibibytes: u64 = field(&info, kind)?.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

fn system() -> String {
    let release = report("sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", env::consts::OS, release.trim()).trim().to_owned()
}

/// A file in which Linux describes the machine. Elsewhere anybody may have made such a file.
fn report(name: &str) -> Option<String> {
    let is_linux = cfg!(any(target_os = "linux", target_os = "android"));
    is_linux.then(|| fs::read_to_string(format!("/proc/{name}")).ok()).flatten()
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (label, value) = line.split_once(':')?;
        (label.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(365 + 365 + 31 + 28), "1972-02-29");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_778), "2026-11-21");
        assert_eq!(date(20_818), "2026-12-31");
    }

    #[test]
    fn fields() {
        let text = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: A: B\n";
        assert_eq!(field(text, "model"), Some("17"));
        assert_eq!(field(text, "model name"), Some("A: B"));
        assert_eq!(field(text, "cores"), None);
    }
}
