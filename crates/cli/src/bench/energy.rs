//! The processor's energy counters (RAPL), which Linux shows below `/sys/class/powercap`.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The folder with the counters.
const POWERCAP: &str = "/sys/class/powercap";

/// The energy counters of all processor packages.
pub(crate) struct Meter {
    /// By name.
    packages: RefCell<BTreeMap<String, Package>>,
}

struct Package {
    counter: PathBuf,
    /// The counter wraps to 0 after this many microjoules.
    range: u64,
    last: u64,
    /// Microjoules since the meter was created.
    total: u64,
}

impl Meter {
    /// The counters of this computer, if there are any and the user may read them.
    pub(crate) fn new() -> Option<Meter> {
        Meter::below(Path::new(POWERCAP))
    }

    fn below(folder: &Path) -> Option<Meter> {
        let mut zones: Vec<PathBuf> =
            fs::read_dir(folder).ok()?.flatten().map(|zone| zone.path()).collect();
        // Some Intel processors count a package twice: `intel-rapl:0` replaces `intel-rapl-mmio:0`, which is sorted
        // before it and has the same name.
        zones.sort();
        let packages: BTreeMap<_, _> =
            zones.iter().filter_map(|zone| Package::in_zone(zone)).collect();
        (!packages.is_empty()).then(|| Meter { packages: RefCell::new(packages) })
    }

    /// Joules since the meter was created.
    pub(crate) fn joules(&self) -> Option<f64> {
        let mut microjoules = 0;
        for package in self.packages.borrow_mut().values_mut() {
            microjoules += package.advance()?;
        }
        Some(microjoules as f64 * 1e-6)
    }
}

impl Package {
    /// The package of a zone and its name, unless the zone is a part of a package (cores, memory): those
    /// would count twice.
    fn in_zone(zone: &Path) -> Option<(String, Package)> {
        let name = fs::read_to_string(zone.join("name")).ok()?;
        if !name.starts_with("package-") {
            return None;
        }
        let counter = zone.join("energy_uj");
        let range = read(&zone.join("max_energy_range_uj"))?;
        Some((name, Package { last: read(&counter)?, counter, range, total: 0 }))
    }

    fn advance(&mut self) -> Option<u64> {
        let now = read(&self.counter)?;
        let wrapped = if now < self.last { self.range } else { 0 };
        self.total += now + wrapped - self.last;
        self.last = now;
        Some(self.total)
    }
}

fn read(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(folder: &Path, zone: &str, name: &str, microjoules: u64) {
        let zone = folder.join(zone);
        fs::create_dir_all(&zone).expect("a folder");
        for (file, content) in [
            ("name", name),
            ("max_energy_range_uj", "5000000\n"),
            ("energy_uj", &microjoules.to_string()),
        ] {
            fs::write(zone.join(file), content).expect("a file");
        }
    }

    #[test]
    fn packages_are_added_and_counters_may_wrap() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        zone(folder, "intel-rapl-mmio:0", "package-0\n", 3_000_000);
        zone(folder, "intel-rapl:0", "package-0\n", 4_000_000);
        zone(folder, "intel-rapl:0:0", "core\n", 1);
        zone(folder, "intel-rapl:1", "package-1\n", 0);
        let meter = Meter::below(folder).expect("two packages");
        assert_eq!(meter.joules(), Some(0.0));
        zone(folder, "intel-rapl-mmio:0", "package-0\n", 4_500_000);
        zone(folder, "intel-rapl:0", "package-0\n", 500_000);
        zone(folder, "intel-rapl:0:0", "core\n", 999_999);
        zone(folder, "intel-rapl:1", "package-1\n", 2_000_000);
        assert_eq!(meter.joules(), Some(3.5));
        fs::remove_dir_all(folder.join("intel-rapl:1")).expect("a folder");
        assert_eq!(meter.joules(), None);
    }

    #[test]
    fn a_computer_may_have_no_counters() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(Meter::below(folder.path()).is_none());
        assert!(Meter::below(&folder.path().join("absent")).is_none());
    }
}
