//! The memory that Linux has left for this process: in the machine, and in the control groups that
//! limit it, as in containers.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use super::Room;

/// Returns the bytes that the process can use now without being killed, if the system reports them.
pub fn bytes(room: Room) -> Option<u64> {
    bytes_below(Path::new("/"), room)
}

/// Returns a number of 64 bits: a process of 32 bits may run on a machine with more than 4 GiB.
fn bytes_below(root: &Path, room: Room) -> Option<u64> {
    let table = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let machine = |name| number(&table, name)?.checked_mul(1 << 10);
    let groups = groups(root);
    let left = groups.iter().filter_map(Group::left);
    // With what the machine's file cache would release.
    let memory = machine("MemAvailable:").into_iter().chain(left).min()?;
    let swap = match room {
        Room::Memory => 0,
        Room::MemoryAndSwap => {
            let free = machine("SwapFree:").unwrap_or(0);
            let allowed = groups.iter().filter_map(Group::swap_left);
            iter::once(free).chain(allowed).min().unwrap_or(0)
        }
    };
    Some(memory.saturating_add(swap))
}

/// A control group, by its folder. The two generations of groups name their files differently.
struct Group {
    folder: PathBuf,
    limit: &'static str,
    /// A limit of the second generation, above which Linux slows processes down: filling a dataset would take hours.
    soft_limit: Option<&'static str>,
    used: &'static str,
    /// Lines of `memory.stat` with memory that the system releases when it is needed.
    reclaimable: &'static [&'static str],
    /// The limit of swap, and its use. In the first generation both include memory.
    swap: [&'static str; 2],
    swap_includes_memory: bool,
}

/// From here on, a limit of the first generation stands for none.
const NO_LIMIT: u64 = 1 << 62;

impl Group {
    fn first_generation(folder: PathBuf) -> Group {
        Group {
            folder,
            limit: "memory.limit_in_bytes",
            soft_limit: None,
            used: "memory.usage_in_bytes",
            // These groups do not report their slabs.
            reclaimable: &["total_inactive_file ", "total_active_file "],
            swap: ["memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"],
            swap_includes_memory: true,
        }
    }

    fn second_generation(folder: PathBuf) -> Group {
        Group {
            folder,
            limit: "memory.max",
            soft_limit: Some("memory.high"),
            used: "memory.current",
            reclaimable: &["inactive_file ", "active_file ", "slab_reclaimable "],
            swap: ["memory.swap.max", "memory.swap.current"],
            swap_includes_memory: false,
        }
    }

    /// Returns the bytes of memory left under the lower limit; `None` without a group or a limit.
    fn left(&self) -> Option<u64> {
        let limits = iter::once(self.limit).chain(self.soft_limit);
        let limit = limits.filter_map(|file| self.bytes(file)).min()?;
        let used = self.bytes(self.used)?;
        let details = self.read("memory.stat").unwrap_or_default();
        let reclaimable = self.reclaimable.iter().filter_map(|name| number(&details, name));
        Some(limit.saturating_sub(used.saturating_sub(reclaimable.sum())))
    }

    /// Returns the bytes of swap left under the limit; `None` without a group or a limit.
    fn swap_left(&self) -> Option<u64> {
        let unused = |[limit, used]: [&str; 2]| {
            let limit = self.bytes(limit).filter(|&limit| limit < NO_LIMIT)?;
            Some(limit.saturating_sub(self.bytes(used)?))
        };
        let left = unused(self.swap)?;
        let memory = unused([self.limit, self.used]).filter(|_| self.swap_includes_memory);
        Some(left.saturating_sub(memory.unwrap_or(0)))
    }

    /// Returns the number in a file; `None` if there is no file, or the word `max` in it.
    fn bytes(&self, file: &str) -> Option<u64> {
        self.read(file)?.trim().parse().ok()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }
}

/// Returns the process's groups and all their ancestors.
fn groups(root: &Path) -> Vec<Group> {
    let lines = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in lines.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        // Inside a container the path may be the host's; then only the outermost folder exists.
        let folders = Path::new(path.trim_start_matches('/')).ancestors();
        let mounted = root.join("sys/fs/cgroup");
        if controllers.is_empty() {
            groups.extend(folders.map(|folder| Group::second_generation(mounted.join(folder))));
        } else if controllers.split(',').any(|controller| controller == "memory") {
            let mounted = mounted.join("memory");
            groups.extend(folders.map(|folder| Group::first_generation(mounted.join(folder))));
        }
    }
    groups
}

/// Returns the number after `name`, which starts a line.
fn number(table: &str, name: &str) -> Option<u64> {
    let rest = table.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine faked by files.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[(&str, &str)]) -> Machine {
            let root = std::env::temp_dir().join(format!("randomx-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                let folder = path.parent().expect("a folder");
                fs::create_dir_all(folder).expect("a folder for the test");
                fs::write(path, text).expect("a file for the test");
            }
            Machine(root)
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MEMORY: (&str, &str) =
        ("proc/meminfo", "MemTotal: 8000 kB\nMemFree: 1000 kB\nMemAvailable:    4000 kB\n");

    #[test]
    fn without_groups_the_machine_counts() {
        assert_eq!(
            bytes_below(&Machine::new("plain", &[MEMORY]).0, Room::Memory),
            Some(4000 << 10)
        );
        assert_eq!(
            bytes_below(&Machine::new("mute", &[("proc/self/cgroup", "")]).0, Room::Memory),
            None
        );
    }

    #[test]
    fn more_than_4_gib_count_in_a_process_of_32_bits() {
        let much = ("proc/meminfo", "MemAvailable: 8650000 kB\n");
        assert_eq!(
            bytes_below(&Machine::new("large", &[much]).0, Room::Memory),
            Some(8_857_600_000)
        );
    }

    #[test]
    fn the_tightest_group_counts() {
        let machine = Machine::new(
            "second",
            &[
                MEMORY,
                ("proc/self/cgroup", "0::/outer/inner\n"),
                ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
                ("sys/fs/cgroup/outer/inner/memory.current", "70000\n"),
                ("sys/fs/cgroup/outer/memory.max", "100000\n"),
                ("sys/fs/cgroup/outer/memory.current", "70000\n"),
                (
                    "sys/fs/cgroup/outer/memory.stat",
                    "anon 1\ninactive_file 4000\nactive_file 1000\nslab_reclaimable 600\nslab_unreclaimable 9\n",
                ),
            ],
        );
        assert_eq!(bytes_below(&machine.0, Room::Memory), Some(35_600));
    }

    #[test]
    fn a_limit_that_slows_processes_down_counts() {
        for (name, max, high, expected) in [
            ("high", "max\n", "90000\n", 20_000),
            ("lower", "100000\n", "90000\n", 20_000),
            ("higher", "100000\n", "110000\n", 30_000),
            ("max", "100000\n", "max\n", 30_000),
        ] {
            let machine = Machine::new(
                name,
                &[
                    MEMORY,
                    ("proc/self/cgroup", "0::/a\n"),
                    ("sys/fs/cgroup/a/memory.max", max),
                    ("sys/fs/cgroup/a/memory.high", high),
                    ("sys/fs/cgroup/a/memory.current", "70000\n"),
                ],
            );
            assert_eq!(bytes_below(&machine.0, Room::Memory), Some(expected), "{name}");
        }
    }

    #[test]
    fn groups_of_other_controllers_do_not_count() {
        let files = [
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "50000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "20000\n"),
        ];
        for (name, groups, expected) in
            [("own", "4:memory:/a\n", 30_000), ("other", "3:cpuset:/a\n", 4000 << 10)]
        {
            let [limit, used] = files;
            let machine = Machine::new(name, &[MEMORY, ("proc/self/cgroup", groups), limit, used]);
            assert_eq!(bytes_below(&machine.0, Room::Memory), Some(expected), "{groups}");
        }
    }

    #[test]
    fn linux_reports_its_memory() {
        let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let reported = table.contains("MemAvailable:");
        assert_eq!(bytes(Room::Memory).is_some(), reported);
        assert_eq!(bytes(Room::MemoryAndSwap).is_some(), reported);
        // One reading for both, because other processes change the numbers.
        let machine = Machine::new("reading", &[("proc/meminfo", &table)]);
        let [memory, with_swap] =
            [Room::Memory, Room::MemoryAndSwap].map(|room| bytes_below(&machine.0, room));
        assert_eq!(memory.is_some(), reported);
        assert!(with_swap >= memory, "{with_swap:?} with swap, {memory:?} without");
    }

    /// The process sees the path on the host, but only its own groups.
    #[test]
    fn a_container_with_first_generation_groups_counts() {
        let machine = Machine::new(
            "first",
            &[
                MEMORY,
                ("proc/self/cgroup", "4:cpu,memory:/docker/1234\n3:cpuset:/\n0::/\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "50000\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "20000\n"),
                (
                    "sys/fs/cgroup/memory/memory.stat",
                    "cache 9\ntotal_inactive_file 1000\ntotal_active_file 0\n",
                ),
            ],
        );
        assert_eq!(bytes_below(&machine.0, Room::Memory), Some(31_000));
    }

    #[test]
    fn swap_counts_as_far_as_groups_allow() {
        let table = ("proc/meminfo", "MemAvailable: 1000 kB\nSwapTotal: 9 kB\nSwapFree: 500 kB\n");
        let second = ("proc/self/cgroup", "0::/a\n");
        let first = ("proc/self/cgroup", "4:memory:/a\n");
        let (memory, swap) = (1000 << 10, 500 << 10);
        let [v2, v1] = ["sys/fs/cgroup/a/memory.", "sys/fs/cgroup/memory/a/memory."];
        let files = |prefix: &str, named: &[(&str, &str)]| -> Vec<(String, String)> {
            named
                .iter()
                .map(|(name, text)| (format!("{prefix}{name}"), (*text).to_owned()))
                .collect()
        };
        for (name, group, files, expected) in [
            ("none", second, files(v2, &[]), memory + swap),
            (
                "unlimited",
                second,
                files(v2, &[("swap.max", "max"), ("swap.current", "9")]),
                memory + swap,
            ),
            ("forbidden", second, files(v2, &[("swap.max", "0"), ("swap.current", "0")]), memory),
            (
                "limited",
                second,
                files(
                    v2,
                    &[("max", "90"), ("current", "20"), ("swap.max", "5"), ("swap.current", "2")],
                ),
                70 + 3,
            ),
            (
                "both",
                first,
                files(
                    v1,
                    &[
                        ("limit_in_bytes", "90"),
                        ("usage_in_bytes", "20"),
                        ("memsw.limit_in_bytes", "100"),
                        ("memsw.usage_in_bytes", "26"),
                    ],
                ),
                70 + 4,
            ),
            (
                "endless",
                first,
                files(
                    v1,
                    &[
                        ("limit_in_bytes", "9223372036854771712"),
                        ("usage_in_bytes", "20"),
                        ("memsw.limit_in_bytes", "9223372036854771712"),
                        ("memsw.usage_in_bytes", "26"),
                    ],
                ),
                memory + swap,
            ),
        ] {
            let mut all = vec![table, group];
            all.extend(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
            let machine = Machine::new(&format!("swap-{name}"), &all);
            assert_eq!(bytes_below(&machine.0, Room::MemoryAndSwap), Some(expected), "{name}");
        }
    }
}
