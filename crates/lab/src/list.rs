//! The experiments that there are, for a terminal.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};

use crate::{EXPERIMENTS, Experiment};

/// Characters in a line.
const WIDTH: u16 = 120;

/// All experiments: name, section, what is done, and what there is to choose.
pub fn list() -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    for experiment in EXPERIMENTS {
        table.add_row([experiment.name().to_owned(), description(*experiment)]);
    }
    format!("{table}\n")
}

fn description(experiment: &dyn Experiment) -> String {
    let samples = experiment.samples();
    let mut lines = vec![
        experiment.section().to_owned(),
        experiment.about().to_owned(),
        format!("--samples: {}, usually {}", samples.what, samples.usual),
    ];
    for (option, names) in [("--only", experiment.parts()), ("--raw", experiment.streams())] {
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
            assert!(list.contains(&format!(" {} ", experiment.name())), "{list}");
        }
    }
}
