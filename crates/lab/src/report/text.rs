//! Tables for a terminal.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, TableStyle};

use super::{Report, Row, Table};

/// Characters in a line.
const WIDTH: u16 = 120;

/// A line below the headings.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

pub(super) fn write(report: &Report) -> String {
    let mut text = format!("{}: {}\n{}\n", report.experiment, report.section, size(report));
    for (label, value) in &report.machine {
        text.push_str(&format!("{label:<10} {value}\n"));
    }
    for table in &report.tables {
        text.push_str(&format!("\n{}\n{}\n", table.title, laid_out(table)));
    }
    for note in &report.notes {
        text.push_str(&format!("\n{note}\n"));
    }
    text
}

/// Returns the size of the run.
pub(super) fn size(report: &Report) -> String {
    let only = match report.only.as_slice() {
        [] => String::new(),
        parts => format!(", only {}", parts.join(", ")),
    };
    format!("seed {}, {} {}{only}", report.seed, report.samples, report.samples_are)
}

/// A table as text, without its empty columns.
pub(super) struct Grid {
    pub(super) headings: Vec<String>,
    /// Whether each column holds numbers.
    pub(super) numbers: Vec<bool>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid {
    pub(super) fn new(table: &Table) -> Grid {
        let others = table.columns.iter().map(String::as_str);
        let headings: Vec<&str> = ["", "published", "here"]
            .into_iter()
            .chain(others)
            .chain(["unit", "why they differ"])
            .collect();
        let rows: Vec<Vec<String>> =
            table.rows.iter().map(|row| columns(row, table.columns.len())).collect();
        let used = |at: &usize| rows.iter().any(|row| row.get(*at).is_some_and(|s| !s.is_empty()));
        let kept: Vec<usize> = (0..headings.len()).filter(used).collect();
        let numbers = 1..3 + table.columns.len();
        Grid {
            headings: kept.iter().map(|&at| headings[at].to_owned()).collect(),
            numbers: kept.iter().map(|at| numbers.contains(at)).collect(),
            rows: rows.iter().map(|row| kept.iter().map(|&at| row[at].clone()).collect()).collect(),
        }
    }
}

/// Returns all columns of a row.
fn columns(row: &Row, others: usize) -> Vec<String> {
    let print = |number: Option<f64>| number.map_or(String::new(), |number| row.print(number));
    let mut columns = vec![row.what.clone(), print(row.published), row.print(row.here)];
    columns.extend((0..others).map(|at| print(row.others.get(at).copied().flatten())));
    columns.extend([row.unit.to_owned(), row.reason().to_owned()]);
    columns
}

fn laid_out(table: &Table) -> comfy_table::Table {
    let grid = Grid::new(table);
    let mut laid_out = comfy_table::Table::new();
    laid_out.load_style(STYLE);
    laid_out.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    laid_out.set_header(grid.headings);
    for row in grid.rows {
        let cells = row.into_iter().zip(&grid.numbers);
        laid_out.add_row(cells.map(|(text, number)| match number {
            true => Cell::new(text).set_alignment(CellAlignment::Right),
            false => Cell::new(text),
        }));
    }
    laid_out
}
