//! `randomx-lab encode`: the report's improvements of the replication loop.

use rand_core::{Rng, SeedableRng};
use randomx::cpu::Cpu;

use super::{BYTES_PER_NODE, EncodeError, Graph, HASHED, MAX_NODES, Method, Node, decode, pass};
use crate::blake2::Blake2s;
use crate::cycles::{Clock, median};
use crate::randen::Randen;
use crate::{
    Description, Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings,
    Shape, Table,
};

/// The replication loop with and without each improvement.
pub struct Replication;

const UNIT: &str = "cycles/byte";

/// Measurements of each method.
const ROUNDS: u64 = 3;

/// A layer in each direction.
const LAYERS: usize = 2;

static DESCRIPTION: Description = Description {
    name: "encode",
    section: "Filecoin Proof-of-Replication Encoding Optimization Report (Supranational, 2019), Replication \
     Study and Improvements",
    about: "The report speeds up the loop that encodes data for Filecoin. Data consists of nodes of 32 \
     bytes. A node's key is the BLAKE2s hash of an identity and of 13 nodes that were encoded \
     before it (5 near ones, and 8 from an expander graph). Encoding adds the key to the node in \
     the scalar field of BLS12-381. The figures are cycles per hashed byte over one forward and \
     one backward layer, with the report's improvements added one after another; the first row is \
     the code without any. Every variant gives the same encoding, and decoding restores the data.",
    samples: Samples {
        what: "nodes of 32 bytes",
        usual: 1 << 21,
        least: 2,
        most: MAX_NODES as u64,
    },
    parts: &[],
    streams: &[],
};

impl Experiment for Replication {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let nodes = settings.samples(DESCRIPTION.samples) as usize;
        let graph = Graph::new(nodes, settings.seed)?;
        let original = data(nodes, settings.seed)?;
        let mut report = Report::new(&DESCRIPTION, settings);
        let improvements = improvements(&Blake2s::all(Cpu::detect()));
        let (costs, restored) = measure(&graph, &original, &improvements, settings.seed, progress)?;
        let mut table = Table::new("The replication loop").columns(&["forward", "backward"]);
        for (improvement, [forward, backward]) in improvements.iter().zip(&costs) {
            let mut row =
                Row::new(improvement.what.as_str(), f64::midpoint(*forward, *backward), 2)
                    .unit(UNIT)
                    .also([Some(*forward), Some(*backward)])
                    .why(improvement.difference);
            row.published = improvement.published;
            table.push(row);
        }
        report.tables.push(table);
        let mut table = Table::new("Memory and decoding");
        table.push(
            Row::new("memory per node", BYTES_PER_NODE as f64, 0)
                .unit("bytes")
                .published(200.0)
                .why("a parent's number takes four bytes here, and eight in the report"),
        );
        let share = 100.0 * restored as f64 / nodes as f64;
        table.push(Row::new("nodes restored by decoding", share, 3).unit("%"));
        report.tables.push(table);
        report.pictures.push(picture(&improvements, &costs));
        Ok(report)
    }
}

/// An improvement, with those before it.
struct Improvement {
    what: String,
    published: Option<f64>,
    difference: &'static str,
    method: Method,
}

/// Returns the report's improvements in its order, and one more if the processor has AVX-512. `all` has the
/// implementations of BLAKE2s. Where the processor lacks instructions, its best ones stand in, and the name says so.
fn improvements(all: &[Blake2s]) -> Vec<Improvement> {
    let improvement = |what: &str, published, difference, index: usize, switches| {
        let blake2s = all[index.min(all.len() - 1)];
        let what = if index < all.len() { what.to_owned() } else { format!("{what} ({blake2s})") };
        let [no_copy, prefetch, plain_add] = switches;
        let method = Method { blake2s, no_copy, prefetch, plain_add };
        Improvement { what, published, difference, method }
    };
    let processor = "the report measured a Core i9-9900K, with other caches, memory and latencies";
    let prefetch = "the report prefetches the node's own parents, this code the next node's";
    let late = "copying update, rotating the row computed last";
    let mut improvements = vec![
        improvement(late, Some(9.10), processor, 1, [false, false, false]),
        improvement("rotating the other rows", Some(8.84), processor, 2, [false, false, false]),
        improvement("no copying", Some(7.96), processor, 2, [true, false, false]),
        improvement("prefetching parents", Some(6.36), prefetch, 2, [true, true, false]),
        improvement("adding without Montgomery form", Some(5.64), processor, 2, [true, true, true]),
    ];
    if all.len() > 3 {
        improvements.push(improvement("vector rotates (AVX-512)", None, "", 3, [true, true, true]));
    }
    improvements
}

/// Measures the cycles per hashed byte of each method, forward and backward, and counts the nodes that
/// decoding restores.
fn measure(
    graph: &Graph,
    original: &[Node],
    improvements: &[Improvement],
    seed: u64,
    progress: &mut dyn Progress,
) -> Result<(Vec<[f64; 2]>, usize), LabError> {
    let mut identity = [0; 32];
    Randen::seed_from_u64(seed).fill_bytes(&mut identity);
    let mut turns = vec![[const { Vec::new() }; LAYERS]; improvements.len()];
    let mut data = nodes(original.len())?;
    let hashed = (original.len() * HASHED) as f64;
    let of = ROUNDS * improvements.len() as u64;
    for round in 0..ROUNDS {
        for (index, (improvement, turns)) in improvements.iter().zip(&mut turns).enumerate() {
            data.copy_from_slice(original);
            for (layer, turns) in turns.iter_mut().enumerate() {
                let clock = Clock::start();
                pass(graph, &identity, &mut data, layer % 2 == 1, improvement.method);
                turns.push(clock.cycles() / hashed);
            }
            progress.at("encoding", round * improvements.len() as u64 + index as u64 + 1, of);
        }
    }
    let last = improvements[improvements.len() - 1].method;
    decode(graph, &identity, &mut data, LAYERS, last)?;
    let restored = original.iter().zip(&data).filter(|(before, after)| before == after).count();
    let medians = turns.iter().map(|layers| layers.each_ref().map(|turns| median(turns)));
    Ok((medians.collect(), restored))
}

fn data(count: usize, seed: u64) -> Result<Vec<Node>, LabError> {
    let mut data = nodes(count)?;
    Randen::seed_from_u64(seed).fill_bytes(bytemuck::cast_slice_mut(&mut data));
    // Below 2^254 and so in the field.
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

fn picture(improvements: &[Improvement], costs: &[[f64; 2]]) -> Picture {
    let number = |index: usize| index as f64 + 1.0;
    let published = improvements.iter().enumerate();
    let published = published.filter_map(|(index, one)| Some((number(index), one.published?)));
    let here = costs.iter().enumerate();
    let here = here
        .map(|(index, [forward, backward])| (number(index), f64::midpoint(*forward, *backward)));
    let series = vec![
        Series::new("published", Shape::Line, published),
        Series::new("here", Shape::Line, here),
    ];
    let title = "The replication loop with one improvement after another";
    Picture::plot("steps", title, "improvement", UNIT, series)
}

impl From<EncodeError> for LabError {
    fn from(error: EncodeError) -> LabError {
        match error {
            EncodeError::OutOfMemory { bytes } => {
                LabError::OutOfMemory { what: "the graph", bytes }
            }
            other => LabError::Program { program: "encode", problem: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_the_code_that_ran() {
        let all = Blake2s::all(Cpu::detect());
        let portable = improvements(&all[..1]);
        assert_eq!(portable.len(), 5);
        for improvement in portable {
            assert!(improvement.what.ends_with(" (portable)"), "{}", improvement.what);
        }
        for count in 3..=all.len() {
            let improvements = improvements(&all[..count]);
            assert_eq!(improvements.len(), count + 2);
            for Improvement { what, method, .. } in improvements {
                let vectors = if what.contains("AVX-512") { "avx512vl" } else { "avx2" };
                assert!(method.blake2s.to_string().starts_with(vectors), "{what}");
                assert!(!what.contains("(avx") && !what.contains("(portable)"), "{what}");
            }
        }
    }

    #[test]
    fn a_small_run_restores_the_data_and_explains_differences() {
        let settings = Settings { samples: Some(1 << 13), ..Settings::default() };
        let report = crate::run(&Replication, &settings, &mut ()).expect("a report");
        assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
        let restored = report.row("Memory and decoding", "nodes restored by decoding");
        assert_eq!(restored.expect("a row").here, 100.0);
        let rows = &report.tables[0].rows;
        assert_eq!(rows.len(), if Blake2s::all(Cpu::detect()).len() == 4 { 6 } else { 5 });
        // Plain Rust takes 6 to 9, and nothing is below the limit of vector rotates.
        assert!(rows.iter().all(|row| row.here > 3.0), "{rows:?}");
    }
}
