//! SuperscalarHash matches the document.

use super::*;

fn report(samples: u64, only: &str) -> Report {
    let only = vec![only.to_owned()];
    let settings = Settings { samples: Some(samples), only, ..Settings::default() };
    let report = crate::run(&Superscalar, &settings, &mut ()).expect("a report");
    assert!(report.unexplained().is_empty());
    report
}

#[test]
fn programs_have_the_published_length() {
    let report = report(3000, "means");
    assert_eq!(report.tables.len(), 1);
    let published = report.tables[0].rows.iter().filter(|row| row.published.is_some());
    let mut compared = 0;
    for row in published {
        let published = row.published.expect("a figure");
        assert!((row.here / published - 1.0).abs() < 0.03, "{row:?}");
        compared += 1;
    }
    assert_eq!(compared, 4);
}

#[test]
fn the_middle_bits_are_the_most_sensitive() {
    let report = report(2000, "sensitivity");
    let figure = |table: &str, bits: &str| report.row(table, bits).expect("a row").here;
    let [low, middle, high] = RANGES.map(|(name, _)| figure(CHANGED, name));
    // A sensitive bit changes half of the result.
    assert!((middle - 256.0).abs() < 5.0, "{middle}");
    assert!(low < middle && high < low, "{low} {middle} {high}");
    let [low, middle, high] = RANGES.map(|(name, _)| figure(INSENSITIVE, name));
    assert!(middle < low && low < high, "{low} {middle} {high}");
}

#[test]
#[ignore = "full tests: sorts 272 million values"]
fn initial_registers_are_unique_in_their_sensitive_bits() {
    let unique = Uniqueness { bits: SENSITIVE, items: DATASET_ITEMS };
    assert_eq!(unique.collisions(2, &mut ()).expect("memory"), 0);
}

#[test]
fn every_collision_is_found() {
    let unique = Uniqueness { bits: SENSITIVE, items: 1 << 18 };
    assert_eq!(unique.collisions(2, &mut ()).expect("memory"), 0);
    // Fewer bits do collide.
    let few = Uniqueness { bits: 0xff << 3, items: 1000 };
    let mut values: Vec<u64> = (0..1000)
        .flat_map(randomx::superscalar::initial_registers)
        .map(|register| register & few.bits)
        .collect();
    values.sort_unstable();
    values.dedup();
    assert_eq!(few.collisions(2, &mut ()).expect("memory"), 8000 - values.len() as u64);
}
