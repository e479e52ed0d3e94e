//! The results of a run as a table.

use std::io::{self, Write};

use indicatif::HumanCount;

use super::report::{Report, Row};

/// Writes the table; from `verbose` 1 also the computer, from 2 also the spread.
pub(crate) fn write(out: &mut dyn Write, report: &Report, verbose: u8) -> io::Result<()> {
    if verbose > 0 {
        report.machine.write(out)?;
        writeln!(out)?;
    }
    let any = |has: fn(&Row) -> bool| report.results.iter().any(has);
    let columns: Vec<Column> = COLUMNS
        .iter()
        .filter(|column| match column.shown {
            Shown::Always => true,
            Shown::WhereAny => any(column.has),
            Shown::Verbosely => verbose > 1,
        })
        .copied()
        .collect();
    let names = report.results.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut line = |name: &str, cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|column| format!(" {:>1$}", cell(column), column.width));
        let line = format!("{name:names$}{}", cells.collect::<String>());
        writeln!(out, "{}", line.trim_end())
    };
    line("", &|column| title(column, report).to_owned())?;
    report.results.iter().try_for_each(|row| line(&row.name, &|column| (column.text)(row)))
}

/// The title of a column. Records name every other implementation the reference.
fn title(column: &Column, report: &Report) -> &'static str {
    let other = report.machine.reference.as_deref().unwrap_or_default();
    if column.title == REFERENCE && other.starts_with("XMRig ") { "XMRig" } else { column.title }
}

const REFERENCE: &str = "reference";

#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    width: usize,
    shown: Shown,
    has: fn(&Row) -> bool,
    text: fn(&Row) -> String,
}

#[derive(Clone, Copy)]
enum Shown {
    Always,
    /// If any row has a value.
    WhereAny,
    Verbosely,
}

const COLUMNS: [Column; 7] = [
    Column {
        title: "randomx",
        width: 22,
        shown: Shown::Always,
        has: |_| true,
        text: |row| with_unit(row, row.value),
    },
    Column {
        title: "slowest",
        width: 11,
        shown: Shown::Verbosely,
        has: |_| true,
        text: |row| row.spread.map_or_else(dash, |(slowest, _)| number(slowest)),
    },
    Column {
        title: "fastest",
        width: 11,
        shown: Shown::Verbosely,
        has: |_| true,
        text: |row| row.spread.map_or_else(dash, |(_, fastest)| number(fastest)),
    },
    Column {
        title: REFERENCE,
        width: 22,
        shown: Shown::WhereAny,
        has: |row| row.reference.is_some(),
        text: |row| with_unit(row, row.reference),
    },
    Column {
        title: "ratio",
        width: 8,
        shown: Shown::WhereAny,
        has: |row| row.ratio.is_some(),
        text: |row| row.ratio.map_or_else(dash, times),
    },
    Column {
        title: "earlier",
        width: 22,
        shown: Shown::WhereAny,
        has: |row| row.earlier.is_some(),
        text: |row| with_unit(row, row.earlier),
    },
    Column {
        title: "change",
        width: 8,
        shown: Shown::WhereAny,
        has: |row| row.change.is_some(),
        text: |row| row.change.map_or_else(dash, times),
    },
];

fn with_unit(row: &Row, value: Option<f64>) -> String {
    value.map_or_else(dash, |value| format!("{} {:<10}", number(value), row.unit))
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// Formats a number with four digits, or with all digits of a larger integer.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => HumanCount(value.round() as u64).to_string(),
        hundreds if hundreds >= 100.0 => format!("{value:.1}"),
        tens if tens >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn dash() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bench::subject::Unit, host::Host};

    fn lines(rows: Vec<Row>, verbose: u8) -> Vec<String> {
        let report = Report { machine: Host::default(), results: rows };
        let mut text = Vec::new();
        write(&mut text, &report, verbose).expect("memory does not fail");
        String::from_utf8(text).expect("UTF-8").lines().map(str::to_owned).collect()
    }

    #[test]
    fn empty_columns_are_left_out() {
        let mut hash = Row::new("Hash v1", Unit::Hashes, Some(1234.5));
        let efficiency = Row::new("Efficiency", Unit::HashesPerJoule, None);
        let plain = lines(vec![hash, efficiency], 0);
        assert_eq!(plain.len(), 3);
        assert_eq!(plain[0].split_whitespace().collect::<Vec<_>>(), ["randomx"]);
        assert_eq!(plain[1].split_whitespace().collect::<Vec<_>>(), ["Hash", "v1", "1,235", "H/s"]);
        assert_eq!(plain[2].split_whitespace().collect::<Vec<_>>(), ["Efficiency", "-"]);

        hash = Row::new("Hash v1", Unit::Hashes, Some(12.345));
        (hash.reference, hash.ratio) = (Some(10.0), Some(1.2345));
        (hash.earlier, hash.change, hash.spread) = (Some(0.5), Some(24.69), Some((12.0, 130.0)));
        let full = lines(vec![hash], 2);
        let title = &full[full.len() - 2];
        let titles: Vec<_> = title.split_whitespace().collect();
        let expected = ["randomx", "slowest", "fastest", "reference", "ratio", "earlier", "change"];
        assert_eq!(titles, expected);
        let cells = "Hash v1 12.35 H/s 12.00 130.0 10.00 H/s 1.23x 0.500 H/s 24.69x";
        assert_eq!(full[full.len() - 1].split_whitespace().collect::<Vec<_>>().join(" "), cells);
    }

    #[test]
    fn the_computer_is_described_unless_verbose_is_0() {
        let row = || vec![Row::new("Hash", Unit::Hashes, Some(1.0))];
        assert!(lines(row(), 1).iter().any(|line| line.starts_with("machine")));
        assert!(!lines(row(), 0).iter().any(|line| line.starts_with("machine")));
    }
}
