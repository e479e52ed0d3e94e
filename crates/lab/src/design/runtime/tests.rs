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
        assert!(parts > 0.8 * hash[version], "{parts} of {hash:?}");
        assert!(items[version] > 0.4 * hash[version], "{items:?} of {hash:?}");
    }
}

#[test]
fn the_clock_is_not_read_while_a_whole_hash_is_timed() {
    let key = KeyMemory::Items(key::items(1, &mut ()).expect("memory"));
    let mut time = 0.0;
    // Each reading takes a millisecond, and nothing else does.
    let clock = || {
        time += 1.0;
        time
    };
    let times = measure(&key, Version::V1, 2, "light", clock, &mut ()).expect("times");
    assert_eq!(times.hashes, [1.0, 1.0]);
    assert!(times.all_phases() > 1000.0, "{:?}", times.phases);
}

#[test]
#[ignore = "full tests: computes a dataset"]
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
fn fast_mode_tables_follow_from_the_times() {
    let times = |hash: f64| Measured {
        phases: vec![(Phase::Execute, 0.75 * hash), (Phase::Compile, 0.25 * hash)],
        programs: vec![0.1 * hash, 0.1 * hash, 0.1 * hash, 0.3 * hash],
        hashes: vec![0.5 * hash, 1.5 * hash],
    };
    let mut report = Report::new(&DESCRIPTION, &Settings::default());
    fast(&mut report, &[times(2.0), times(1.0)]);
    for (table, what, expected) in [
        (0, "hashes per second", [500.0, 1000.0]),
        (0, "one hash", [2000.0, 1000.0]),
        (0, "executing 8 programs", [1500.0, 750.0]),
        (0, "generating and compiling 1 program", [62.5, 31.25]),
        (0, "time outside programs", [25.0, 25.0]),
        (1, "gain from rejecting the slowest 25%", [50.0, 50.0]),
    ] {
        for (figure, expected) in both(&report, table, what).into_iter().zip(expected) {
            assert!((figure - expected).abs() < 1e-6, "{what}: {figure}, not {expected}");
        }
    }
    assert_eq!(report.pictures.len(), 1);
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

#[test]
fn a_distribution_ends_before_its_outliers() {
    // Fewer and fewer times from 1 to 2, and 0.8 % of all far beyond.
    let mut times: Vec<f64> =
        (0..992).map(|index| 1.0 + (f64::from(index) / 992.0).powi(2)).collect();
    times.extend([50.0; 8]);
    let picture = distribution("", "", "", [times.clone(), times]);
    for series in &picture.series {
        assert_eq!(series.points.len(), 60);
        let [.., (_, before), (_, last)] = series.points[..] else { panic!("60 points") };
        assert!(last <= before, "{:?}", series.points);
    }
}
