//! The machine that something runs on, and how RandomX runs there, as far as it can be told.

use std::{
    env, fs,
    io::{self, Write},
    num::NonZero,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use randomx::cpu::Cpu;
use serde::{Deserialize, Serialize};

/// What tells one machine, and one build, from another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Today, such as `2026-11-21`.
    pub(crate) date: String,
    pub(crate) processor: String,
    pub(crate) processors: usize,
    /// Memory in MiB.
    pub(crate) memory: Option<u64>,
    pub(crate) system: String,
    /// The name and the version of this program.
    pub(crate) program: String,
    /// The processor's extensions that are used.
    pub(crate) extensions: String,
    /// What runs programs, if that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<String>,
    /// The pages of caches and of datasets, if some were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cache: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// What the reference is, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
}

impl Host {
    /// This machine, today, when RandomX uses of it what `cpu` holds.
    pub(crate) fn new(cpu: Cpu) -> Host {
        let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs() / 86_400);
        Host {
            date: date(days),
            processor: processor(),
            processors: processors(),
            memory: memory("MemTotal").map(|bytes| bytes >> 20),
            system: system(),
            program: format!("randomx {}", env!("CARGO_PKG_VERSION")),
            extensions: cpu.to_string(),
            ..Host::default()
        }
    }

    /// Writes it, a line for each thing.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.lines();
        lines.iter().try_for_each(|(label, text)| writeln!(out, "{label:<10} {text}"))
    }

    /// The same as names and values.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        self.lines().into_iter().map(|(label, text)| (label.to_owned(), text)).collect()
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let memory = self.memory.map_or("memory unknown".to_owned(), |mib| format!("{mib} MiB"));
        let machine = format!("{} processors, {memory}, {}", self.processors, self.system);
        let mut lines = vec![
            ("date", self.date.clone()),
            ("processor", self.processor.clone()),
            ("machine", machine),
            ("program", self.program.clone()),
            ("extensions", self.extensions.clone()),
        ];
        let known = [
            ("engine", &self.engine),
            ("cache", &self.cache),
            ("dataset", &self.dataset),
            ("reference", &self.reference),
        ];
        lines.extend(known.into_iter().filter_map(|(label, text)| Some((label, text.clone()?))));
        lines
    }
}

/// The date, by the Gregorian calendar, so many days after 1970-01-01.
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

/// How many threads run at once.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The processor's name and numbers.
pub(crate) fn processor() -> String {
    // Virtual machines often have a name that says little; the numbers say more.
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
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

/// Bytes of memory of a kind, `MemTotal` or `MemAvailable`, where the system tells.
pub(crate) fn memory(kind: &str) -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes: u64 = field(&info, kind)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", env::consts::OS, release.trim()).trim().to_owned()
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
