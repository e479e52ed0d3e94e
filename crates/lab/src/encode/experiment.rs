//! `randomx-lab encode`: the report's improvements of the replication loop, one after the other.

use rand_core::{Rng, SeedableRng};
use randomx::cpu::Cpu;

use super::{BYTES_PER_NODE, EncodeError, Graph, HASHED, MAX_NODES, Node, Steps, decode, pass};
use crate::blake2::Blake2s;
use crate::cycles::{Clock, median};
use crate::randen::Randen;
use crate::{
    Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings, Shape, Table,
};

/// The replication loop with and without each improvement.
pub struct Replication;

const UNIT: &str = "cycles/byte";

/// How often each step's turn comes.
const ROUNDS: u64 = 3;

/// A layer in each direction.
const LAYERS: usize = 2;

impl Experiment for Replication {
    fn name(&self) -> &'static str {
        "encode"
    }

    fn section(&self) -> &'static str {
        "Filecoin Proof-of-Replication Encoding Optimization Report (Supranational, 2019), Replication \
         Study and Improvements"
    }

    fn about(&self) -> &'static str {
        "The encoding of nodes of 32 bytes, whose keys are the BLAKE2s of an identity and 13 nodes \
         encoded before (5 near, 8 of an expander), added in the scalar field of BLS12-381: cycles per \
         hashed byte with the report's improvements, one after the other, over a layer forwards and one \
         backwards. Each step encodes the same, and decoding restores the data."
    }

    fn samples(&self) -> Samples {
        Samples { what: "nodes of 32 bytes", usual: 1 << 21, most: MAX_NODES as u64 }
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let nodes = settings.samples(self.samples()).max(2) as usize;
        let graph = Graph::new(nodes, settings.seed)?;
        let original = data(nodes, settings.seed)?;
        let mut report = Report::new(self, settings);
        let (costs, restored) = measure(&graph, &original, settings.seed, progress)?;
        let mut table = Table::new("The replication loop").columns(&["forwards", "backwards"]);
        for (step, [forwards, backwards]) in improvements().iter().zip(&costs) {
            let mut row = Row::new(step.what, f64::midpoint(*forwards, *backwards), 2)
                .unit(UNIT)
                .also([Some(*forwards), Some(*backwards)])
                .why(step.difference);
            row.published = step.published;
            table.push(row);
        }
        report.tables.push(table);
        let mut table = Table::new("Memory, and the way back");
        table.push(
            Row::new("memory per node", BYTES_PER_NODE as f64, 0)
                .unit("bytes")
                .published(200.0)
                .why("parents are numbers of four bytes here, of eight there"),
        );
        let share = 100.0 * restored as f64 / nodes as f64;
        table.push(Row::new("nodes that decoding restored", share, 3).unit("%"));
        report.tables.push(table);
        report.pictures.push(picture(&costs));
        Ok(report)
    }
}

struct Improvement {
    what: &'static str,
    published: Option<f64>,
    difference: &'static str,
    steps: Steps,
}

/// The report's, in its order, and what came after it; those of the processor, if it has them.
fn improvements() -> Vec<Improvement> {
    let all = Blake2s::all(Cpu::detect());
    let kernel = |index: usize| all[index.min(all.len() - 1)];
    let steps =
        |blake2s, no_copy, prefetch, plain_add| Steps { blake2s, no_copy, prefetch, plain_add };
    let improvement =
        |what, published, difference, steps| Improvement { what, published, difference, steps };
    let processor = "a Core i9-9900K there: other caches, memory and latencies";
    vec![
        improvement(
            "copying update, diagonals through the last row",
            Some(9.10),
            processor,
            steps(kernel(1), false, false, false),
        ),
        improvement(
            "diagonals through the other rows",
            Some(8.84),
            processor,
            steps(kernel(2), false, false, false),
        ),
        improvement("no copies", Some(7.96), processor, steps(kernel(2), true, false, false)),
        improvement(
            "parents fetched ahead",
            Some(6.36),
            "the node's own parents are fetched there, the next node's here",
            steps(kernel(2), true, true, false),
        ),
        improvement(
            "numbers added as they are",
            Some(5.64),
            processor,
            steps(kernel(2), true, true, true),
        ),
        improvement("vector rotates (AVX-512)", None, "", steps(kernel(3), true, true, true)),
    ]
}

/// Cycles per hashed byte of each step forwards and backwards, and how many nodes of what the last
/// step encoded were restored.
fn measure(
    graph: &Graph,
    original: &[Node],
    seed: u64,
    progress: &mut dyn Progress,
) -> Result<(Vec<[f64; 2]>, usize), LabError> {
    let mut identity = [0; 32];
    Randen::seed_from_u64(seed).fill_bytes(&mut identity);
    let improvements = improvements();
    let mut turns = vec![[const { Vec::new() }; LAYERS]; improvements.len()];
    let mut data = nodes(original.len())?;
    let hashed = (original.len() * HASHED) as f64;
    let of = ROUNDS * improvements.len() as u64;
    for round in 0..ROUNDS {
        for (index, (improvement, turns)) in improvements.iter().zip(&mut turns).enumerate() {
            data.copy_from_slice(original);
            for (layer, turns) in turns.iter_mut().enumerate() {
                let clock = Clock::start();
                pass(graph, &identity, &mut data, layer % 2 == 1, improvement.steps);
                turns.push(clock.cycles() / hashed);
            }
            progress.at("encoding", round * improvements.len() as u64 + index as u64 + 1, of);
        }
    }
    let last = improvements[improvements.len() - 1].steps;
    decode(graph, &identity, &mut data, LAYERS, last)?;
    let restored = original.iter().zip(&data).filter(|(before, after)| before == after).count();
    let medians = turns.iter().map(|layers| layers.each_ref().map(|turns| median(turns)));
    Ok((medians.collect(), restored))
}

fn data(count: usize, seed: u64) -> Result<Vec<Node>, LabError> {
    let mut data = nodes(count)?;
    Randen::seed_from_u64(seed).fill_bytes(bytemuck::cast_slice_mut(&mut data));
    // Below 2^254, and so in the field.
    data.iter_mut().for_each(|node| node.0[31] &= 0x3f);
    Ok(data)
}

fn nodes(count: usize) -> Result<Vec<Node>, LabError> {
    let mut nodes = Vec::new();
    let bytes = count * size_of::<Node>();
    let reserved = nodes.try_reserve_exact(count);
    reserved.map_err(|_| LabError::OutOfMemory { what: "nodes", bytes })?;
    nodes.resize(count, Node::default());
    Ok(nodes)
}

fn picture(costs: &[[f64; 2]]) -> Picture {
    let improvements = improvements();
    let number = |index: usize| index as f64 + 1.0;
    let published = improvements.iter().enumerate();
    let published = published.filter_map(|(index, step)| Some((number(index), step.published?)));
    let here = costs.iter().enumerate();
    let here = here.map(|(index, [forwards, backwards])| {
        (number(index), f64::midpoint(*forwards, *backwards))
    });
    let series = vec![
        Series::new("published", Shape::Line, published),
        Series::new("here", Shape::Line, here),
    ];
    let title = "The replication loop, improvement after improvement";
    Picture::plot("steps", title, "step", UNIT, series)
}

impl From<EncodeError> for LabError {
    fn from(error: EncodeError) -> LabError {
        LabError::Program { program: "encode", problem: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_restores_all_and_explains_all() {
        let settings = Settings { samples: Some(1 << 13), ..Settings::default() };
        let report = crate::run(&Replication, &settings, &mut ()).expect("it needs little memory");
        assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
        let restored = report.row("Memory, and the way back", "nodes that decoding restored");
        assert_eq!(restored.expect("a row").here, 100.0);
        let steps = &report.tables[0].rows;
        assert_eq!(steps.len(), 6);
        // Plain Rust takes 6 to 9, and nothing is below the limit of vector rotates.
        assert!(steps.iter().all(|row| row.here > 3.0), "{steps:?}");
    }
}
