//! Pictures as SVG. The viewer chooses the fonts.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::{Cells, Picture, Series, Shape};
use crate::LabError;

const SIZE: (u32, u32) = (900, 540);
const SQUARE: (u32, u32) = (720, 760);

/// Colours that remain distinct with any colour vision (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// A dash and a gap of the dashed lines, in pixels.
const DASH: (i32, i32) = (8, 4);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Returns the text of an SVG file.
pub(super) fn draw(picture: &Picture) -> Result<String, LabError> {
    let failed = |problem: &dyn Display| LabError::Picture {
        picture: picture.name.clone(),
        problem: problem.to_string(),
    };
    let mut text = String::new();
    let size = if picture.cells.is_some() { SQUARE } else { SIZE };
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let drawn = match &picture.cells {
        Some(cells) => draw_cells(&area, picture, cells),
        None => draw_series(&area, picture),
    };
    drawn.and_then(|()| area.present()).map_err(|problem| failed(&problem))?;
    drop(area);
    Ok(text)
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_series(area: &Area<'_>, picture: &Picture) -> Drawn {
    area.fill(&WHITE)?;
    let [x, y] = extent(&picture.series);
    let mut chart = ChartBuilder::on(area)
        .caption(&picture.title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(&picture.x)
        .y_desc(&picture.y)
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 16))
        .draw()?;
    for (at, series) in picture.series.iter().enumerate() {
        let (colour, dashed) = style(at);
        draw_one(&mut chart, series, colour, dashed)?;
    }
    if picture.series.len() > 1 {
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()?;
    }
    Ok(())
}

/// Returns the colour of a series, and whether its line is dashed: after the last colour, the first is used again.
fn style(at: usize) -> (RGBColor, bool) {
    (COLOURS[at % COLOURS.len()], at / COLOURS.len() % 2 == 1)
}

fn draw_one(chart: &mut Chart<'_, '_>, series: &Series, colour: RGBColor, dashed: bool) -> Drawn {
    let points = series.points.iter().copied();
    let drawn = match series.shape {
        Shape::Line if dashed => {
            let style = colour.stroke_width(2);
            chart.draw_series(DashedLineSeries::new(points, DASH.0, DASH.1, style))?
        }
        Shape::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
        Shape::Dots => {
            chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?
        }
        Shape::Bars => {
            let half = 0.45 * spacing(series);
            let corners = points.map(|(x, y)| [(x - half, 0.0), (x + half, y)]);
            chart.draw_series(
                corners.map(|corners| Rectangle::new(corners, colour.mix(0.8).filled())),
            )?
        }
    };
    let drawn = drawn.label(&series.name);
    if dashed {
        let ends = |(x, y)| [(x, y), (x + 14, y)];
        let style = colour.stroke_width(10);
        drawn.legend(move |at| DashedPathElement::new(ends(at), 5, 4, style));
    } else {
        drawn.legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()));
    }
    Ok(())
}

/// The smallest horizontal distance between neighbouring points.
fn spacing(series: &Series) -> f64 {
    let pairs = series.points.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs());
    let smallest = pairs.fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 1.0 }
}

/// The ranges of both axes: all points, a margin around bars, and the zero that bars stand on.
fn extent(series: &[Series]) -> [(f64, f64); 2] {
    let mut reach = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    let mut include = |point: [f64; 2]| {
        for (reach, value) in reach.iter_mut().zip(point).filter(|(_, value)| value.is_finite()) {
            *reach = (reach.0.min(value), reach.1.max(value));
        }
    };
    for series in series {
        let bars = series.shape == Shape::Bars;
        let margin = if bars { 0.5 * spacing(series) } else { 0.0 };
        for &(x, y) in &series.points {
            include([x - margin, y]);
            include([x + margin, if bars { 0.0 } else { y }]);
        }
    }
    let [x, y] = reach.map(|(low, high)| if low < high { (low, high) } else { (low, low + 1.0) });
    [x, y].map(|(low, high)| if low.is_finite() { (low, high) } else { (0.0, 1.0) })
}

fn draw_cells(area: &Area<'_>, picture: &Picture, cells: &Cells) -> Drawn {
    area.fill(&WHITE)?;
    let width = cells.width.max(1);
    let height = cells.values.len().div_ceil(width).max(1);
    let mut chart = ChartBuilder::on(area)
        .caption(&picture.title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(32)
        .y_label_area_size(32)
        .build_cartesian_2d(0.0..width as f64, 0.0..height as f64)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(0)
        .y_labels(0)
        .x_desc(&picture.x)
        .y_desc(&picture.y)
        .axis_desc_style(("sans-serif", 16))
        .draw()?;
    let filled = cells.values.iter().enumerate().filter(|(_, value)| **value > 0.0);
    chart.draw_series(filled.map(|(at, value)| {
        let (x, top) = ((at % width) as f64, (height - at / width) as f64);
        let colour = COLOURS[1].mix(value.clamp(0.0, 1.0));
        Rectangle::new([(x, top - 1.0), (x + 1.0, top)], colour.filled())
    }))?;
    Ok(())
}
