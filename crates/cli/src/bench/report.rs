//! The results of a run: printed as JSON, recorded and compared.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    measure::Outcome,
    subject::{Subject, Unit, improvement},
};
use crate::{error::Error, host::Host, whole_file};

/// The largest record that is read; one has some 4 KB.
const MAX_FILE: u64 = 1 << 20;

/// The results of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) machine: Host,
    pub(crate) results: Vec<Row>,
}

/// One measurement.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// `None` if it could not be measured.
    pub(crate) value: Option<f64>,
    pub(crate) unit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<f64>,
    /// The speed relative to the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
    /// The value of an earlier run.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<f64>,
    /// The improvement since then, as a factor.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<f64>,
    /// The least and the greatest of the rounds.
    #[serde(skip)]
    pub(crate) spread: Option<(f64, f64)>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, unit: Unit, value: Option<f64>) -> Row {
        Row {
            name: name.into(),
            value: value.map(rounded),
            unit: unit.name().to_owned(),
            reference: None,
            ratio: None,
            earlier: None,
            change: None,
            spread: None,
        }
    }

    /// The row of a subject. Without an outcome it has no value.
    pub(crate) fn of(subject: &Subject, outcome: Option<&Outcome>) -> Row {
        let unit = subject.unit();
        let value = |rate: f64| rounded(unit.of_rate(rate));
        let row = Row::new(subject.to_string(), unit, outcome.map(|o| value(o.rate())));
        let Some(outcome) = outcome else { return row };
        let (slowest, fastest) = outcome.spread();
        Row {
            reference: outcome.reference_rate().map(value),
            ratio: outcome.ratio().map(rounded),
            spread: Some((value(slowest), value(fastest))),
            ..row
        }
    }
}

impl Report {
    /// Adds the values of an earlier run.
    pub(crate) fn compare_with(&mut self, earlier: &Report) {
        for row in &mut self.results {
            let same = |then: &&Row| then.name == row.name && then.unit == row.unit;
            row.earlier = earlier.results.iter().find(same).and_then(|then| then.value);
            row.change = row
                .value
                .zip(row.earlier)
                .map(|(value, earlier)| rounded(improvement(&row.unit, value, earlier)));
        }
    }

    pub(crate) fn read(file: &Path) -> Result<Report, Error> {
        serde_json::from_slice(&whole_file::read(file, MAX_FILE)?)
            .map_err(|problem| Error::Record { file: file.to_owned(), problem })
    }

    /// Checks that `write` can write the file.
    pub(crate) fn can_be_written(file: &Path) -> Result<(), Error> {
        randomx_files::can_replace_file(file)
            .map_err(|problem| Error::WriteRecord { file: file.to_owned(), problem })
    }

    /// Replaces the file as a whole: after a failure, it is as before.
    pub(crate) fn write(&self, file: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.into());
        text.and_then(|text| randomx_files::replace_file(file, (text + "\n").as_bytes()))
            .map_err(|problem| Error::WriteRecord { file: file.to_owned(), problem })
    }
}

/// Rounds to 5 significant digits; the rest is noise.
fn rounded(value: f64) -> f64 {
    // The result is the same on every system. The powers of `f64::powi` are not.
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn report(rows: Vec<Row>) -> Report {
        Report { machine: Host::default(), results: rows }
    }

    #[test]
    fn a_record_can_be_read_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("record.json");
        let mut row = Row::new("Hash", Unit::Hashes, Some(1.0));
        (row.reference, row.ratio) = (Some(0.5), Some(2.0));
        let written = report(vec![row, Row::new("Efficiency", Unit::HashesPerJoule, None)]);
        written.write(&file).expect("the folder is writable");
        let read = Report::read(&file).expect("what was written");
        assert_eq!(format!("{read:?}"), format!("{written:?}"));
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(&file).expect("the file")).expect("JSON");
        let results = serde_json::json!([
            {"name": "Hash", "value": 1.0, "unit": "H/s", "reference": 0.5, "ratio": 2.0},
            {"name": "Efficiency", "value": null, "unit": "H/J"},
        ]);
        assert_eq!(json["results"], results);
    }

    #[test]
    fn committed_records_can_be_compared_with() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
        let mut count = 0;
        for entry in fs::read_dir(folder).expect("the folder of records") {
            let file = entry.expect("a folder entry").path();
            let record = Report::read(&file).expect("a record");
            let name = file.file_name().and_then(|name| name.to_str()).expect("a UTF-8 name");
            assert!(name.starts_with(&record.machine.machine.date), "{name}: the date of the run");
            assert!(record.results.iter().any(|row| row.ratio.is_some()), "{name}");
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn a_change_above_1_is_an_improvement() {
        let mut now = report(vec![
            Row::new("Hash", Unit::Hashes, Some(30.0)),
            Row::new("Cache", Unit::Milliseconds, Some(30.0)),
            Row::new("new", Unit::Hashes, Some(30.0)),
            Row::new("Efficiency", Unit::HashesPerJoule, None),
        ]);
        let then = report(vec![
            Row::new("Cache", Unit::Milliseconds, Some(60.0)),
            Row::new("Hash", Unit::Hashes, Some(20.0)),
            Row::new("new", Unit::Megabytes, Some(20.0)),
            Row::new("Efficiency", Unit::HashesPerJoule, Some(1.0)),
        ]);
        now.compare_with(&then);
        let changes: Vec<_> = now.results.iter().map(|row| row.change).collect();
        assert_eq!(changes, [Some(1.5), Some(2.0), None, None]);
    }

    #[test]
    fn values_have_five_digits() {
        assert_eq!(rounded(1_234_567.0), 1_234_600.0);
        assert_eq!(rounded(0.001_234_567), 0.001_234_6);
        assert_eq!(rounded(99.999_96), 100.0);
        assert_eq!(rounded(0.0), 0.0);
        assert_eq!(rounded(f64::INFINITY), f64::INFINITY);
    }
}
