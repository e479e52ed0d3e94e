//! The list of experiments, for a terminal.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};

use crate::{Description, EXPERIMENTS};

/// Characters in a line.
const WIDTH: u16 = 120;

/// Lists all experiments: name, source, method, and the values of the options.
pub fn list() -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    for experiment in EXPERIMENTS {
        let description = experiment.description();
        table.add_row([description.name.to_owned(), details(description)]);
    }
    format!("{table}\n")
}

fn details(Description { section, about, samples, parts, streams, .. }: &Description) -> String {
    let mut lines = vec![
        (*section).to_owned(),
        (*about).to_owned(),
        format!("--samples: {}, {} by default", samples.what, samples.usual),
    ];
    for (option, names) in [("--only", parts), ("--raw", streams)] {
        if !names.is_empty() {
            lines.push(format!("{option}: {}", names.join(", ")));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_listed() {
        let list = list();
        for experiment in EXPERIMENTS {
            assert!(list.contains(&format!(" {} ", experiment.description().name)), "{list}");
        }
    }
}
