//! The pictures of the chapter.

use randomx_figures::{Histogram, WriteMap};

use super::Traced;
use crate::report::{Cells, Picture, Series, Shape};

pub(super) fn all(v1: &Traced, v2: &Traced, map: &WriteMap) -> Vec<Picture> {
    vec![writes(map), group_f(v1, v2), group_e(v1, v2), spans(v1, v2)]
}

/// The scratchpad, a row of cells for each 32 KiB.
fn writes(map: &WriteMap) -> Picture {
    /// Cells in a row.
    const WIDTH: usize = 64;
    /// Points of 8 bytes in a cell.
    const POINTS: usize = WriteMap::LEN / (WIDTH * WIDTH);
    let cell = |cell: usize| {
        let points = cell * POINTS..(cell + 1) * POINTS;
        points.filter(|&point| map.is_written(point)).count() as f64 / POINTS as f64
    };
    let values = (0..WIDTH * WIDTH).map(cell).collect();
    let title = "Parts of the scratchpad that a hash overwrites";
    let (x, y) = ("a row is 32 KiB, a cell 512 bytes", "the first byte is at the top");
    Picture::map("writes", title, x, y, Cells { width: WIDTH, values })
}

/// Values by sign and power of ten: `-3` means -1000 to -100, `0` means -1 to 1, `3` means 100 to 1000.
fn group_f(v1: &Traced, v2: &Traced) -> Picture {
    let place = |edge: f64| match edge {
        edge if edge >= 1.0 => edge.log10().round() + 1.0,
        // The interval from -1000 to -100 begins at -1000.
        edge if edge < -1.0 => -(-edge).log10().round(),
        _ => 0.0,
    };
    Picture::plot(
        "group-f",
        "Group F at the end of iterations",
        "sign, and digits before the decimal point",
        "% of values",
        both(v1, v2, |traced| shares(traced, |floats| &floats.f, place)),
    )
}

fn group_e(v1: &Traced, v2: &Traced) -> Picture {
    let place = |edge: f64| if edge.is_finite() { edge.log10().round() } else { 320.0 };
    Picture::plot(
        "group-e",
        "Group E at the end of iterations",
        "power of ten at the start of each interval (of 20 powers); the last is infinity",
        "% of values",
        both(v1, v2, |traced| shares(traced, |floats| &floats.e, place)),
    )
}

fn spans(v1: &Traced, v2: &Traced) -> Picture {
    const LONGEST: u64 = 40;
    let points = |traced: &Traced| {
        let all = traced.lengths.len() as f64;
        let count = |span| traced.lengths.iter().filter(|length| **length == span + 1).count();
        (0..=LONGEST).map(|span| (span as f64, 100.0 * count(span) as f64 / all)).collect()
    };
    Picture::plot(
        "spans",
        "Instructions that a branch jumps back over",
        "instructions",
        "% of branches",
        both(v1, v2, points),
    )
}

fn both(v1: &Traced, v2: &Traced, points: impl Fn(&Traced) -> Vec<(f64, f64)>) -> Vec<Series> {
    vec![Series::new("v1", Shape::Bars, points(v1)), Series::new("v2", Shape::Dots, points(v2))]
}

/// The intervals of a histogram, each with its place and its share in percent.
fn shares(
    traced: &Traced,
    of: impl Fn(&randomx_figures::FloatSummary) -> &Histogram,
    place: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let Some(first) = traced.floats.first() else {
        return Vec::new();
    };
    // Every hash has the same number of values.
    let mean = |bin: usize| super::mean(&traced.floats, |floats| of(floats).shares()[bin + 1]);
    let edges = of(first).edges().iter().enumerate();
    edges.map(|(bin, edge)| (place(*edge), 100.0 * mean(bin))).collect()
}
