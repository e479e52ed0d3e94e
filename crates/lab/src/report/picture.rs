//! The content of pictures.

use serde::Serialize;

/// A picture: series over two axes, or a map of cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// The last part of its file name.
    pub name: String,
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis.
    pub y: String,
    /// The series of a plot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// The cells of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The name in the legend; a picture's only series needs none.
    pub name: String,
    /// How the points are drawn.
    pub shape: Shape,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A line through the points.
    Line,
    /// A bar for each point, from zero.
    Bars,
    /// A dot for each point.
    Dots,
}

/// Rows of cells, each from 0 (white) to 1 (full colour).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cells {
    /// Cells in a row.
    pub width: usize,
    /// The cells, row by row from the top.
    pub values: Vec<f64>,
}

impl Picture {
    /// Returns a plot of series.
    pub fn plot(name: &str, title: &str, x: &str, y: &str, series: Vec<Series>) -> Picture {
        let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
        Picture { name, title, x, y, series, cells: None }
    }

    /// Returns a map of cells.
    pub fn map(name: &str, title: &str, x: &str, y: &str, cells: Cells) -> Picture {
        Picture { cells: Some(cells), ..Picture::plot(name, title, x, y, Vec::new()) }
    }
}

impl Series {
    /// Returns a series of points.
    pub fn new(name: &str, shape: Shape, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.to_owned(), shape, points: points.into_iter().collect() }
    }
}
