//! The results of an audit.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use randomx_arrow::{KernelError, read};
use randomx_monero::LATEST_VERSION;
use serde::{Deserialize, Serialize};

use crate::links::Links;

/// The most invalid rows of an epoch that are listed. The epoch's file has all of them.
const EVIDENCE: usize = 100;

/// The bytes of an epoch's evidence, as JSON, after which no further row is listed.
const EVIDENCE_BYTES: usize = 128 << 10;

/// The JSON bytes of all evidence after which no further epoch's is listed. The epoch's file has it, too.
const ALL_EVIDENCE_BYTES: usize = 32 << 20;

/// The longest value in evidence, in characters. A hashing blob of Monero has 152.
const MAX_VALUE: usize = 4096;

/// The columns that make evidence: enough to hash again, and the number of the line that has the row.
const COLUMNS: [&str; 8] =
    ["line", "height", "version", "seed_hash", "hashing_blob", "difficulty", "target", "pow_hash"];

/// The rows of an epoch, counted. Rows are not compared: a repeated one counts each time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All rows.
    pub blocks: u64,
    /// Those that prove their work.
    pub valid: u64,
    /// Those that do not.
    pub invalid: u64,
    /// Blocks from before RandomX.
    pub without_work: u64,
    /// Blocks of versions that this release does not know. There is no verdict on them.
    pub need_update: u64,
    /// Blocks whose hashes miss their difficulties narrowly where a source stated the first ones. There is no verdict on
    /// them, either.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub near_misses: u64,
    /// The sum of the difficulties of valid rows.
    #[serde(with = "digits")]
    pub work: u128,
}

impl Counts {
    /// Whether these are the counts of this many rows.
    pub(crate) fn are_of(&self, rows: u64) -> bool {
        let others = [self.invalid, self.without_work, self.need_update, self.near_misses];
        let sum = others.into_iter().try_fold(self.valid, u64::checked_add);
        self.blocks == rows && sum == Some(rows)
    }
}

/// An invalid row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The row in its epoch's file, from 0.
    row: u64,
    /// The row's values that are not null, as text.
    #[serde(flatten)]
    values: serde_json::Map<String, serde_json::Value>,
    reason: String,
}

/// The results of an audit for one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochSummary {
    /// The name of the epoch's file.
    pub file: String,
    /// Its rows, counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// The ids that link its rows to those of its neighbours, if each is the block after the one before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub links: Option<Links>,
    /// The first invalid rows.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<Evidence>,
    /// The bytes of the evidence as JSON.
    #[serde(skip)]
    listed: usize,
}

/// The results of an audit for all epochs.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// All rows, counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// The epochs, in their order.
    pub epochs: Vec<EpochSummary>,
}

impl EpochSummary {
    pub(crate) fn new(file: String) -> EpochSummary {
        EpochSummary { file, ..EpochSummary::default() }
    }

    /// Adds verified rows.
    pub(crate) fn add(&mut self, result: &RecordBatch) -> Result<(), KernelError> {
        let valid = result["valid"].as_boolean();
        let difficulties = read::difficulties(result)?;
        let need_update = read::need_update(result)?;
        let hashes = result.column_by_name("pow_hash");
        let is_hashed = |row| hashes.is_some_and(|hashes| hashes.is_valid(row));
        for (row, (difficulty, needs_update)) in
            difficulties.into_iter().zip(need_update).enumerate()
        {
            let position = self.counts.blocks;
            self.counts.blocks += 1;
            if valid.is_null(row) && is_hashed(row) {
                self.counts.near_misses += 1;
            } else if needs_update {
                self.counts.need_update += 1;
            } else if valid.is_null(row) {
                self.counts.without_work += 1;
            } else if valid.value(row) {
                self.counts.valid += 1;
                let work = difficulty.and_then(|difficulty| difficulty.as_u128()).unwrap_or(0);
                self.counts.work = self.counts.work.saturating_add(work);
            } else {
                self.counts.invalid += 1;
                if self.evidence.len() < EVIDENCE && self.listed < EVIDENCE_BYTES {
                    let evidence = Evidence::of(result, row, position);
                    self.listed += evidence.size();
                    self.evidence.push(evidence);
                }
            }
        }
        Ok(())
    }
}

impl Evidence {
    fn of(result: &RecordBatch, row: usize, position: u64) -> Evidence {
        let value =
            |name| Some((str::to_owned(name), shorten(read::text(result, name, row)?).into()));
        Evidence {
            row: position,
            values: COLUMNS.into_iter().filter_map(value).collect(),
            reason: read::text(result, "reason", row).unwrap_or_default(),
        }
    }

    /// Returns the evidence's length as JSON, where a character may take six bytes.
    fn size(&self) -> usize {
        serde_json::to_string(self).map_or(0, |json| json.len())
    }
}

impl Summary {
    /// Adds up the summaries of epochs. The evidence of all may be more than memory has room for.
    pub(crate) fn of<E>(
        found: impl Iterator<Item = Result<EpochSummary, E>>,
    ) -> Result<Summary, E> {
        let (mut counts, mut epochs, mut listed) = (Counts::default(), Vec::new(), 0);
        for epoch in found {
            let mut epoch = epoch?;
            counts.blocks += epoch.counts.blocks;
            counts.valid += epoch.counts.valid;
            counts.invalid += epoch.counts.invalid;
            counts.without_work += epoch.counts.without_work;
            counts.need_update += epoch.counts.need_update;
            counts.near_misses += epoch.counts.near_misses;
            counts.work = counts.work.saturating_add(epoch.counts.work);
            if listed >= ALL_EVIDENCE_BYTES {
                epoch.evidence = Vec::new();
            }
            listed += epoch.evidence.iter().map(Evidence::size).sum::<usize>();
            epochs.push(epoch);
        }
        Ok(Summary { counts, epochs })
    }

    /// Says why some rows have no verdict, unless they are blocks from before RandomX.
    pub fn unjudged(&self) -> Option<String> {
        let need_update = match self.counts.need_update {
            0 => None,
            1 => Some("1 block, whose version needs".to_owned()),
            rows => Some(format!("{rows} blocks, whose versions need")),
        };
        let known = format!("this release knows versions up to {LATEST_VERSION}");
        let need_update = need_update.map(|rows| format!("{rows} an update: {known}"));
        let near_misses = match self.counts.near_misses {
            0 => None,
            1 => Some("1 block, whose hash misses its difficulty".to_owned()),
            rows => Some(format!("{rows} blocks, whose hashes miss their difficulties")),
        };
        let stated = "a source stated the first difficulties, perhaps too high";
        let near_misses = near_misses.map(|rows| format!("{rows} by less than 3.1 %: {stated}"));
        let reasons: Vec<String> = need_update.into_iter().chain(near_misses).collect();
        (!reasons.is_empty()).then(|| format!("no verdict on {}", reasons.join("; and on ")))
    }

    /// Prints the counts, and the epochs with invalid rows.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Counts { blocks, valid, invalid, without_work, need_update, near_misses, work } =
            &self.counts;
        writeln!(out, "epochs        {}", self.epochs.len())?;
        writeln!(out, "blocks        {blocks}")?;
        writeln!(out, "valid         {valid}")?;
        writeln!(out, "invalid       {invalid}")?;
        writeln!(out, "without work  {without_work}")?;
        if *need_update > 0 {
            writeln!(out, "need update   {need_update}")?;
        }
        if *near_misses > 0 {
            writeln!(out, "near misses   {near_misses}")?;
        }
        writeln!(out, "work          {work}")?;
        for epoch in self.epochs.iter().filter(|epoch| epoch.counts.invalid > 0) {
            writeln!(out, "{}: {} invalid", epoch.file, epoch.counts.invalid)?;
        }
        Ok(())
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A number of 128 bits, which JSON's readers may not have, as a string of digits.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(number: &u128, json: S) -> Result<S::Ok, S::Error> {
        json.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(json: D) -> Result<u128, D::Error> {
        String::deserialize(json)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, StringArray, UInt64Array};

    use super::*;

    #[test]
    fn near_misses_are_counted_apart_from_other_rows_without_a_verdict() {
        let verdicts = [Some(true), None, None, Some(false), None];
        let hashes = [Some("00"), Some("11"), None, Some("22"), Some("33")];
        let columns: [(&str, ArrayRef); 5] = [
            ("hashing_blob", Arc::new(StringArray::from(vec!["0b0b"; 5]))),
            ("difficulty", Arc::new(UInt64Array::from(vec![64; 5]))),
            ("pow_hash", Arc::new(StringArray::from_iter(hashes))),
            ("valid", Arc::new(BooleanArray::from_iter(verdicts))),
            ("reason", Arc::new(StringArray::from(vec!["because"; 5]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let mut epoch = EpochSummary::new("x".to_owned());
        epoch.add(&batch).expect("columns");
        let expected = Counts {
            blocks: 5,
            valid: 1,
            invalid: 1,
            without_work: 1,
            near_misses: 2,
            work: 64,
            ..Counts::default()
        };
        assert_eq!(epoch.counts, expected);
        assert!(epoch.counts.are_of(5));
        let json = serde_json::to_string(&epoch).expect("JSON");
        let read: EpochSummary = serde_json::from_str(&json).expect("a summary");
        assert_eq!(read.counts, expected);
        let mut summary = Summary::of([Ok::<_, ()>(epoch)].into_iter()).expect("an epoch");
        let near = "2 blocks, whose hashes miss their difficulties by less than 3.1 %: a source stated the first \
                    difficulties, perhaps too high";
        assert_eq!(summary.unjudged(), Some(format!("no verdict on {near}")));
        let mut text = Vec::new();
        summary.print(&mut text).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("without work  1\nnear misses   2\nwork          64\n"), "{text}");
        summary.counts.need_update = 1;
        let both = format!(
            "no verdict on 1 block, whose version needs an update: this release knows versions up to 16; and on {near}"
        );
        assert_eq!(summary.unjudged(), Some(both));
        summary.counts = Counts { near_misses: 0, need_update: 0, ..summary.counts };
        assert_eq!(summary.unjudged(), None);
        assert!(!serde_json::to_string(&summary.counts).expect("JSON").contains("near_misses"));
    }

    #[test]
    fn evidence_of_long_values_is_bounded() {
        let text = |text: String| Arc::new(StringArray::from(vec![text; 500])) as _;
        let batch = |blob: &str| {
            let valid = Arc::new(BooleanArray::from(vec![false; 500])) as _;
            RecordBatch::try_from_iter([
                ("hashing_blob", text(blob.repeat(5000))),
                ("valid", valid),
                ("reason", text("because".to_owned())),
            ])
            .expect("a batch")
        };
        // A control character takes six bytes in JSON.
        for (blob, count, longest) in [("é", 16, 10_000), ("\u{1}", 6, 26_000)] {
            let mut epoch = EpochSummary::new("x".to_owned());
            epoch.add(&batch(blob)).expect("columns");
            let json = serde_json::to_string(&epoch).expect("JSON");
            assert_eq!((epoch.counts.invalid, epoch.evidence.len()), (500, count));
            assert!(json.len() < EVIDENCE_BYTES + longest, "{}", json.len());
            let all = Summary::of((0..400).map(|_| Ok::<_, ()>(epoch.clone()))).expect("epochs");
            assert_eq!((all.counts.invalid, all.epochs.len()), (200_000, 400));
            let listed = all.epochs.iter().filter(|epoch| !epoch.evidence.is_empty());
            assert!((200..300).contains(&listed.count()));
        }
    }
}
