//! CSV, for spreadsheets and plotting programs.

use std::io;

use csv::Writer;

use super::Report;

/// The columns. A line is a figure of a table, or a point or a cell of a picture.
const HEADINGS: [&str; 8] = ["kind", "of", "name", "published", "here", "unit", "x", "why"];

pub(super) fn write(report: &Report) -> io::Result<String> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for table in &report.tables {
        for row in &table.rows {
            let published = row.published.map_or(String::new(), |number| number.to_string());
            let here = row.here.to_string();
            let reason = row.reason();
            let title = &table.title;
            writer
                .write_record(["row", title, &row.what, &published, &here, row.unit, "", reason])?;
            for (column, value) in table.columns.iter().zip(&row.others) {
                let value = value.map_or(String::new(), |number| number.to_string());
                let name = format!("{}, {column}", row.what);
                writer.write_record(["row", title, &name, "", &value, row.unit, "", ""])?;
            }
        }
    }
    for picture in &report.pictures {
        for series in &picture.series {
            for (x, y) in &series.points {
                let [x, y] = [x, y].map(f64::to_string);
                let (of, name) = (&picture.name, &series.name);
                writer.write_record(["point", of, name, "", &y, &picture.y, &x, ""])?;
            }
        }
        for (at, value) in picture.cells.iter().flat_map(|cells| &cells.values).enumerate() {
            let [at, value] = [at.to_string(), value.to_string()];
            writer.write_record(["cell", &picture.name, "", "", &value, "", &at, ""])?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
