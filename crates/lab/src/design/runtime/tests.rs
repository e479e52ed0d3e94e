//! Times depend on the machine; their proportions hold on every machine.

use super::*;

fn report(only: &str, samples: u64) -> Report {
    let only = vec![only.to_owned()];
    let settings = Settings { samples: Some(samples), only, ..Settings::default() };
    let report = crate::run(&Runtime, &settings, &mut ()).expect("a report");
    assert!(report.unexplained().is_empty());
    report
}

/// The figures of a row for v1 and v2.
fn both(report: &Report, table: usize, what: &str) -> [f64; 2] {
    let row = report.tables[table].rows.iter().find(|row| row.what == what).expect("a row");
    [row.here, row.others[0].expect("v2")]
}

#[test]
fn light_mode_spends_its_time_on_items() {
    let report = report("light", 20);
    let [hash, items, programs] = ["one hash", "computing dataset items", "executing 8 programs"]
        .map(|what| both(&report, 0, what));
    for version in 0..2 {
        let parts = items[version] + programs[version];
        assert!(parts > 0.8 * hash[version] && parts < hash[version], "{parts} of {hash:?}");
        assert!(items[version] > 0.4 * hash[version], "{items:?} of {hash:?}");
    }
}

#[test]
fn fast_mode_spends_its_time_on_programs() {
    let report = report("fast", 200);
    assert_eq!(report.pictures.len(), 1);
    let [rate, hash, programs] = ["hashes per second", "one hash", "executing 8 programs"]
        .map(|what| both(&report, 0, what));
    for version in 0..2 {
        assert!((rate[version] * hash[version] / 1e6 - 1.0).abs() < 1e-9);
        assert!(programs[version] > 0.7 * hash[version], "{programs:?} of {hash:?}");
    }
    let [gain, _] = both(&report, 1, "gain from rejecting the slowest 25%");
    assert!(gain > 0.0 && gain < 200.0, "{gain}");
}

#[test]
fn quantiles_and_gains_of_a_few_values() {
    let times = [4.0, 1.0, 2.0, 3.0, 100.0];
    assert_eq!([0.0, 0.5, 0.75, 1.0].map(|part| quantile(&times, part)), [1.0, 3.0, 4.0, 100.0]);
    assert_eq!(gain_by_choosing(&times), 22.0 / 2.5);
    assert_eq!(quantile(&[], 0.5), 0.0);
    let picture = distribution("", "", "", [vec![1.0; 5], Vec::new()]);
    assert_eq!(picture.series.len(), 2);
}
