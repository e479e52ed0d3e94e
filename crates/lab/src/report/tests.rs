//! One report in every format.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::find;

fn report() -> Report {
    let chain = find("chain").expect("an experiment");
    let mut report = Report::new(chain.description(), &Settings::default());
    let mut table = Table::new("A table").columns(&["simulated"]);
    table.push(Row::new("a, quoted | name", 0.4449, 2).published(0.44).also([Some(0.5)]).why("no"));
    table.push(Row::new("another", 3.0, 0).unit("cycles").published(4.0).also([None]).why("so"));
    report.tables.push(table);
    report.notes.push("A note.".to_owned());
    let line = Series::new("one", Shape::Line, [(0.0, 1.0), (1.0, 2.0)]);
    let bars = Series::new("two", Shape::Bars, [(0.0, 1.0), (1.0, f64::NAN)]);
    report.pictures.push(Picture::plot("plot", "A plot", "x", "y", vec![line, bars]));
    let cells = Cells { width: 2, values: vec![0.0, 0.5, 1.0] };
    report.pictures.push(Picture::map("map", "A map", "left", "right", cells));
    report.machine.push(("processor".to_owned(), "an abacus".to_owned()));
    report
}

#[test]
fn rows_agree_up_to_rounding() {
    let row = |here: f64, decimals| Row::new("", here, decimals).published(0.44).agrees();
    assert_eq!(row(0.4449, 2), Some(true));
    assert_eq!(row(0.4451, 2), Some(false));
    assert_eq!(row(0.4351, 2), Some(true));
    assert_eq!(row(0.4449, 3), Some(false));
    let row = |here: f64| Row::new("", here, 3).published(0.390625).agrees();
    assert_eq!([0.3904, 0.3906, 0.3914, 0.3916].map(row), [false, true, true, false].map(Some));
    let row = |here: f64| Row::new("", here, 2).published(4.375).agrees();
    assert_eq!([4.364, 4.366, 4.384, 4.386].map(row), [false, true, true, false].map(Some));
    assert_eq!(Row::new("", 1.0, 2).agrees(), None);
    assert!(report().unexplained().is_empty());
    let mut unexplained = report();
    unexplained.tables[0].rows[1].why.clear();
    assert_eq!(unexplained.unexplained().len(), 1);
}

#[test]
fn text_and_markdown_contain_every_figure() {
    for text in [report().to_text(), report().to_markdown()] {
        for part in ["A table", "simulated", "0.44", "0.50", "cycles", "so", "A note.", "abacus"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        // Figures that agree need no reason.
        assert!(!text.contains(" no "), "{text}");
    }
    let page = report().to_markdown();
    assert!(page.contains("| a, quoted \\| name | 0.44 | 0.44 | 0.50 |"), "{page}");
    assert!(page.contains("![A plot](chain-plot.svg)"), "{page}");
}

#[test]
fn json_and_csv_can_be_parsed() {
    let json = report().to_json().expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["tables"][0]["rows"][1]["here"], 3.0);
    assert_eq!(value["pictures"][1]["cells"]["values"][1], 0.5);

    let text = report().to_csv().expect("CSV");
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let lines: Vec<_> = reader.records().map(|line| line.expect("a line")).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| &line[0]).collect();
    let expected = [&["row"; 4][..], &["point"; 4], &["cell"; 3]].concat();
    assert_eq!(kinds, expected);
    assert_eq!(&lines[0][2], "a, quoted | name");
    assert_eq!(&lines[1][4], "0.5");
}

#[test]
fn any_picture_can_be_drawn() {
    let mut report = report();
    report.pictures.push(Picture::plot("empty", "", "", "", Vec::new()));
    let point = Series::new("", Shape::Dots, [(3.0, 7.0)]);
    report.pictures.push(Picture::plot("point", "<&>", "", "", vec![point]));
    let nothing = Cells { width: 0, values: Vec::new() };
    report.pictures.push(Picture::map("nothing", "", "", "", nothing));
    let drawn = report.to_svg().expect("pictures");
    let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["plot", "map", "empty", "point", "nothing"].map(|n| format!("chain-{n}.svg"));
    assert_eq!(names, expected);
    for (name, svg) in &drawn {
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}: {svg}");
    }
    assert!(drawn[0].1.contains("A plot") && drawn[0].1.contains("two"), "{}", drawn[0].1);
    // The background and two cells: white cells are not drawn.
    assert_eq!(drawn[1].1.matches("<rect").count(), 3, "{}", drawn[1].1);
    assert!(drawn[3].1.contains("&lt;&amp;&gt;"), "{}", drawn[3].1);
}

/// The colour and the number of polylines of a width, by the height at which they begin.
fn polylines(svg: &str, width: u32) -> BTreeMap<String, (String, u32)> {
    let field = |line: &str, name: &str, end: char| -> String {
        let (_, after) = line.split_once(&format!(" {name}=\"")).expect("a field");
        after.split(end).next().expect("its value").to_owned()
    };
    let mut found = BTreeMap::new();
    let width = format!("stroke-width=\"{width}\"");
    for line in svg.lines().filter(|line| line.starts_with("<polyline") && line.contains(&width)) {
        let first = field(line, "points", ' ');
        let (_, height) = first.split_once(',').expect("a point");
        found.entry(height.to_owned()).or_insert((field(line, "stroke", '"'), 0)).1 += 1;
    }
    found
}

#[test]
fn lines_of_a_picture_differ_in_colour_or_dashes() {
    let level = |at: u32| [(0.0, f64::from(at)), (1.0, f64::from(at))];
    let lines = (0..9).map(|at| Series::new(&at.to_string(), Shape::Line, level(at))).collect();
    let mut report = report();
    report.pictures = vec![Picture::plot("lines", "", "", "", lines)];
    let svg = &report.to_svg().expect("a picture")[0].1;
    let lines = polylines(svg, 2);
    let looks = lines.values().map(|(colour, pieces)| (colour, *pieces > 1));
    assert_eq!((lines.len(), looks.collect::<BTreeSet<_>>().len()), (9, 9), "{lines:?}");
    // In the legend the dashed ones are not rectangles.
    let dashed = lines.values().filter(|(_, pieces)| *pieces > 1).map(|(colour, _)| colour);
    let legend = polylines(svg, 10);
    assert!(legend.values().all(|(_, pieces)| *pieces == 2), "{legend:?}");
    let legend = legend.values().map(|(colour, _)| colour);
    assert_eq!(legend.collect::<BTreeSet<_>>(), dashed.collect::<BTreeSet<_>>());
}
