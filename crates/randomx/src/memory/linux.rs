//! Reads Linux's reports about huge pages.

use std::fs;

/// Returns whether the system may grant transparent huge pages to memory that requests them.
pub fn transparent_pages() -> bool {
    const SETTINGS: &str = "/sys/kernel/mm/transparent_hugepage";
    let read = |file: &str| fs::read_to_string(format!("{SETTINGS}/{file}")).ok();
    let process = fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Newer systems have a setting for each page size.
    may_be_huge(
        read("hugepages-2048kB/enabled").as_deref(),
        read("enabled").as_deref(),
        value(&process, "THP_enabled"),
    )
}

fn may_be_huge(size: Option<&str>, system: Option<&str>, process: Option<&str>) -> bool {
    let setting = match size.map(chosen) {
        Some("inherit") | None => system.map_or("never", chosen),
        Some(own) => own,
    };
    matches!(setting, "always" | "madvise") && process != Some("0")
}

/// Returns the choice of a setting such as `always [madvise] never`.
fn chosen(setting: &str) -> &str {
    let inside = setting.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or("", |(choice, _)| choice)
}

/// Returns the bytes on huge pages in the mapping that holds `address`, if that can be read.
pub fn huge_bytes_at(address: usize) -> Option<usize> {
    huge_bytes_in(&fs::read_to_string("/proc/self/smaps").ok()?, address)
}

fn huge_bytes_in(maps: &str, address: usize) -> Option<usize> {
    let holds = |line: &str| {
        let (start, rest) = line.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(rest.split(' ').next()?, 16).ok()?;
        Some((start..end).contains(&address))
    };
    let mut lines = maps.lines().skip_while(|line| holds(line) != Some(true));
    let huge = lines.find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    Some(huge.trim().strip_suffix(" kB")?.parse::<usize>().ok()? << 10)
}

/// Returns the value after `name:`.
fn value<'a>(table: &'a str, name: &str) -> Option<&'a str> {
    table.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_setting_counts() {
        let (always, madvise, never) =
            ("[always] madvise never", "always [madvise] never\n", "always madvise [never]");
        let inherit = "always [inherit] madvise never";
        for (size, system, process, expected) in [
            (None, Some(always), None, true),
            (None, Some(madvise), Some("1"), true),
            (None, Some(never), Some("1"), false),
            (None, None, Some("1"), false),
            (Some(inherit), Some(madvise), Some("1"), true),
            (Some(inherit), Some(never), Some("1"), false),
            (Some(madvise), Some(never), Some("1"), true),
            (Some(never), Some(always), Some("1"), false),
            (Some(inherit), Some(always), Some("0"), false),
            (None, Some("what is this"), Some("1"), false),
        ] {
            assert_eq!(may_be_huge(size, system, process), expected, "{size:?}, {system:?}");
        }
    }

    #[test]
    fn huge_pages_are_those_of_the_mapping() {
        let maps = "00400000-00500000 r-xp 00000000 00:00 0  /bin/a-b\nAnonHugePages:  4 kB\n\
                    7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize:  4096 kB\n\
                    AnonHugePages:      2048 kB\nShmemPmdMapped: 0 kB\n\
                    7f0000400000-7f0000401000 rw-p 00000000 00:00 0 \nAnonHugePages: 0 kB\n";
        assert_eq!(huge_bytes_in(maps, 0x7f00_0000_0000), Some(2 << 20));
        assert_eq!(huge_bytes_in(maps, 0x7f00_003f_ffff), Some(2 << 20));
        assert_eq!(huge_bytes_in(maps, 0x7f00_0040_0000), Some(0));
        assert_eq!(huge_bytes_in(maps, 0x7f00_0040_1000), None);
        assert_eq!(value("Name:\tx\nTHP_enabled:\t1\n", "THP_enabled"), Some("1"));
    }
}
