//! The result of an experiment: tables of figures, and pictures.

mod csv;
mod markdown;
mod picture;
mod svg;
mod text;

pub use picture::{Cells, Picture, Series, Shape};

use serde::Serialize;

use crate::{Description, LabError, Settings};

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The experiment's name.
    pub experiment: String,
    /// The document and the section that published the measurement.
    pub section: String,
    /// A paragraph about the published measurement and this one.
    pub about: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of samples.
    pub samples: u64,
    /// The noun for the samples, in the plural.
    pub samples_are: String,
    /// The parts that were run; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The machine and the date, as labels and values, filled in by the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machine: Vec<(String, String)>,
    /// Tables of figures.
    pub tables: Vec<Table>,
    /// Remarks, each a few sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

/// Figures that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The table's title.
    pub title: String,
    /// The headings of [`Row::others`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A published figure, and the same figure measured here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The name of the figure.
    pub what: String,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// The published figure, if there is one.
    pub published: Option<f64>,
    /// The figure measured here.
    pub here: f64,
    /// Further figures, in the order of [`Table::columns`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Option<f64>>,
    /// Digits after the decimal point.
    pub decimals: usize,
    /// Why the two figures differ.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Report {
    /// Returns a report without results.
    pub fn new(description: &Description, settings: &Settings) -> Report {
        Report {
            experiment: description.name.to_owned(),
            section: description.section.to_owned(),
            about: description.about.to_owned(),
            seed: settings.seed,
            samples: settings.samples(description.samples),
            samples_are: description.samples.what.to_owned(),
            only: settings.only.clone(),
            machine: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            pictures: Vec::new(),
        }
    }

    /// Returns the row `what` of the table `title`.
    pub fn row(&self, title: &str, what: &str) -> Option<&Row> {
        let table = self.tables.iter().find(|table| table.title == title)?;
        table.rows.iter().find(|row| row.what == what)
    }

    /// Returns the rows that differ from the published figure without a reason; there should be none.
    pub fn unexplained(&self) -> Vec<&Row> {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.filter(|row| row.agrees() == Some(false) && row.why.is_empty()).collect()
    }

    /// Returns tables for a terminal.
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// Returns a Markdown page that refers to the pictures of [`to_svg`](Self::to_svg).
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Returns everything as JSON.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`]; no report is known to cause it.
    pub fn to_json(&self) -> Result<String, LabError> {
        let json = serde_json::to_string_pretty(self);
        json.map_err(|problem| LabError::Io { what: "JSON", problem: problem.into() })
    }

    /// Returns CSV with a line for every figure, and for every point of a picture.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`]; no report is known to cause it.
    pub fn to_csv(&self) -> Result<String, LabError> {
        csv::write(self).map_err(|problem| LabError::Io { what: "CSV", problem })
    }

    /// Returns the pictures as SVG, each with its file name, `<experiment>-<picture>.svg`.
    ///
    /// # Errors
    ///
    /// [`LabError::Picture`] if a picture cannot be drawn.
    pub fn to_svg(&self) -> Result<Vec<(String, String)>, LabError> {
        let draw = |picture: &Picture| Ok((self.file_name(picture), svg::draw(picture)?));
        self.pictures.iter().map(draw).collect()
    }

    fn file_name(&self, picture: &Picture) -> String {
        format!("{}-{}.svg", self.experiment, picture.name)
    }
}

impl Table {
    /// Returns an empty table.
    pub fn new(title: impl Into<String>) -> Table {
        Table { title: title.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Sets the headings of further figures.
    pub fn columns(mut self, names: &[&str]) -> Table {
        self.columns = names.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }
}

impl Row {
    /// Returns a row with a figure measured here, precise to `decimals` digits after the point.
    pub fn new(what: impl Into<String>, here: f64, decimals: usize) -> Row {
        let (what, others, why) = (what.into(), Vec::new(), String::new());
        Row { what, unit: "", published: None, here, others, decimals, why }
    }

    /// Sets the unit.
    pub fn unit(mut self, unit: &'static str) -> Row {
        self.unit = unit;
        self
    }

    /// Sets the published figure.
    pub fn published(mut self, published: f64) -> Row {
        self.published = Some(published);
        self
    }

    /// Sets further figures.
    pub fn also(mut self, others: impl IntoIterator<Item = Option<f64>>) -> Row {
        self.others = others.into_iter().collect();
        self
    }

    /// Sets the reason for a difference, which is shown only if there is one.
    pub fn why(mut self, why: impl Into<String>) -> Row {
        self.why = why.into();
        self
    }

    /// Whether the figure equals the published one when rounded; `None` if nothing was published.
    pub fn agrees(&self) -> Option<bool> {
        let units = 10f64.powi(self.decimals as i32);
        // A number halfway between two others may be rounded to either.
        let rounded =
            |number: f64| [0.499_999, 0.500_001].map(|half| (number * units + half).floor());
        let here = rounded(self.here);
        self.published.map(|published| rounded(published).iter().any(|one| here.contains(one)))
    }

    /// Formats a number of this row.
    pub fn print(&self, number: f64) -> String {
        format!("{number:.*}", self.decimals)
    }

    /// Returns the reason for the difference; empty if the figures agree.
    pub fn reason(&self) -> &str {
        if self.agrees() == Some(true) { "" } else { &self.why }
    }
}

#[cfg(test)]
mod tests;
