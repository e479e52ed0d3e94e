//! What an experiment found: tables of figures, and pictures.

mod csv;
mod markdown;
mod picture;
mod svg;
mod text;

pub use picture::{Cells, Picture, Series, Shape};

use serde::Serialize;

use crate::{Experiment, LabError, Settings};

/// What an experiment found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The experiment's name.
    pub experiment: String,
    /// The document and the section that made the claim.
    pub section: String,
    /// What was done.
    pub about: String,
    /// What all random choices followed from.
    pub seed: u64,
    /// The size of the run.
    pub samples: u64,
    /// What a sample is.
    pub samples_are: String,
    /// The parts that were run, when not all were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Where and when it was run, as names and values: whoever prints the report knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machine: Vec<(String, String)>,
    /// The figures.
    pub tables: Vec<Table>,
    /// What else there is to say, a sentence or two each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

/// Figures that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// What they are about.
    pub title: String,
    /// The names of [`Row::others`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A figure that was published, beside what was measured here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What the figure tells.
    pub what: String,
    /// Its unit, or nothing for a number.
    pub unit: &'static str,
    /// What was published, if anything was.
    pub published: Option<f64>,
    /// What was measured here.
    pub here: f64,
    /// What else was measured, in the order of [`Table::columns`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Option<f64>>,
    /// Digits after the point that count.
    pub decimals: usize,
    /// Why the two differ.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Report {
    /// The report of an experiment with these settings, with nothing in it.
    pub fn new(experiment: &dyn Experiment, settings: &Settings) -> Report {
        let samples = experiment.samples();
        Report {
            experiment: experiment.name().to_owned(),
            section: experiment.section().to_owned(),
            about: experiment.about().to_owned(),
            seed: settings.seed,
            samples: settings.samples(samples),
            samples_are: samples.what.to_owned(),
            only: settings.only.clone(),
            machine: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            pictures: Vec::new(),
        }
    }

    /// The figure of that name, in the table of that title.
    pub fn row(&self, title: &str, what: &str) -> Option<&Row> {
        let table = self.tables.iter().find(|table| table.title == title)?;
        table.rows.iter().find(|row| row.what == what)
    }

    /// The figures that differ from what was published, without a reason. There should be none.
    pub fn unexplained(&self) -> Vec<&Row> {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.filter(|row| row.agrees() == Some(false) && row.why.is_empty()).collect()
    }

    /// Tables for a terminal.
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// A page for people, whose pictures lie beside it as `<experiment>-<picture>.svg`.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Everything, for programs.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`], which no report is known to cause.
    pub fn to_json(&self) -> Result<String, LabError> {
        let json = serde_json::to_string_pretty(self);
        json.map_err(|problem| LabError::Io { what: "JSON", problem: problem.into() })
    }

    /// A line for every figure, and for every point of a picture.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`], which no report is known to cause.
    pub fn to_csv(&self) -> Result<String, LabError> {
        csv::write(self).map_err(|problem| LabError::Io { what: "CSV", problem })
    }

    /// The pictures, each with the name of its file.
    ///
    /// # Errors
    ///
    /// [`LabError::Picture`] when one cannot be drawn.
    pub fn to_svg(&self) -> Result<Vec<(String, String)>, LabError> {
        let draw = |picture: &Picture| Ok((self.file_name(picture), svg::draw(picture)?));
        self.pictures.iter().map(draw).collect()
    }

    fn file_name(&self, picture: &Picture) -> String {
        format!("{}-{}.svg", self.experiment, picture.name)
    }
}

impl Table {
    /// A table without figures.
    pub fn new(title: impl Into<String>) -> Table {
        Table { title: title.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Names for [`Row::also`].
    pub fn columns(mut self, names: &[&str]) -> Table {
        self.columns = names.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// One figure more.
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }
}

impl Row {
    /// A figure that was measured here, of which so many digits after the point count.
    pub fn new(what: impl Into<String>, here: f64, decimals: usize) -> Row {
        let (what, others, why) = (what.into(), Vec::new(), String::new());
        Row { what, unit: "", published: None, here, others, decimals, why }
    }

    /// What it is a number of.
    pub fn unit(mut self, unit: &'static str) -> Row {
        self.unit = unit;
        self
    }

    /// What was published.
    pub fn published(mut self, published: f64) -> Row {
        self.published = Some(published);
        self
    }

    /// What else was measured.
    pub fn also(mut self, others: impl IntoIterator<Item = Option<f64>>) -> Row {
        self.others = others.into_iter().collect();
        self
    }

    /// Why the two differ, if they do.
    pub fn why(mut self, why: impl Into<String>) -> Row {
        self.why = why.into();
        self
    }

    /// Whether the figure is what was published, to the digits that count.
    pub fn agrees(&self) -> Option<bool> {
        let unit = 10f64.powi(-(self.decimals as i32));
        // What is in the middle between two numbers may be rounded to either.
        self.published.map(|published| (self.here - published).abs() <= unit * 0.500_001)
    }

    /// A number as it is printed.
    pub fn print(&self, number: f64) -> String {
        format!("{number:.*}", self.decimals)
    }

    /// The reason for a difference; of what agrees there is none to tell.
    pub fn reason(&self) -> &str {
        if self.agrees() == Some(true) { "" } else { &self.why }
    }
}

#[cfg(test)]
mod tests;
