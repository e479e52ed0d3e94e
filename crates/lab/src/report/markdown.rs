//! Markdown pages.

use super::text::{self, Grid};
use super::{Report, Table};

pub(super) fn write(report: &Report) -> String {
    let mut page = format!("# {}: {}\n\n", report.experiment, report.section);
    page.push_str(&format!("{}\n\n", report.about));
    page.push_str(&format!("`randomx-lab {}`: {}.\n", report.experiment, text::size(report)));
    if !report.machine.is_empty() {
        page.push('\n');
        push_row(&mut page, ["machine", ""]);
        push_row(&mut page, ["---", "---"]);
        for (label, value) in &report.machine {
            push_row(&mut page, [label, value]);
        }
    }
    for table in &report.tables {
        push_table(&mut page, table);
    }
    for note in &report.notes {
        page.push_str(&format!("\n{note}\n"));
    }
    for picture in &report.pictures {
        page.push_str(&format!("\n![{}]({})\n", picture.title, report.file_name(picture)));
    }
    page
}

fn push_table(page: &mut String, table: &Table) {
    page.push_str(&format!("\n## {}\n\n", table.title));
    let grid = Grid::new(table);
    push_row(page, &grid.headings);
    push_row(page, grid.numbers.iter().map(|number| if *number { "---:" } else { "---" }));
    for row in &grid.rows {
        push_row(page, row);
    }
}

fn push_row(page: &mut String, columns: impl IntoIterator<Item = impl AsRef<str>>) {
    for column in columns {
        page.push_str(&format!("| {} ", column.as_ref().replace('|', "\\|")));
    }
    page.push_str("|\n");
}
