//! `randomx-lab blake2`: hash functions and the limits of the processor.

use std::hint::black_box;
use std::time::Duration;

use randomx::cpu::Cpu;

use super::contestants::{Contestant, contestants};
use super::{Blake2s, CHAINED_BYTES};
use crate::cycles::{self, Turns, measure};
use crate::{
    Description, Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings,
    Shape, Table,
};

/// BLAKE2b, BLAKE2s and SHA-256 in cycles per byte.
pub struct HashFunctions;

const UNIT: &str = "cycles/byte";

/// Bytes per hash, as in the report.
const INPUT: usize = 8192;

/// The input lengths in the picture.
const LENGTHS: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

static DESCRIPTION: Description = Description {
    name: "blake2",
    section: "Filecoin Proof-of-Replication Encoding Optimization Report (Supranational, 2019), Hash \
     Algorithm Study",
    about: "The report derives how fast BLAKE2b, BLAKE2s and SHA-256 can be at best, and how close its \
     code comes. The figures are cycles per byte of an input of 8 KB, with each instruction set. \
     Beside them are the limit, which follows from the longest chain of dependent operations, the \
     report's fastest code, and three libraries in the same run. BLAKE2 rotates three of the four \
     rows of its state to line up the diagonals; `rotating the row computed last` is older code, \
     in which that row is one of the three and lengthens the chain. The implementations take \
     turns, and each figure is the median of an implementation's turns; `best turn` is the \
     fastest. A cycle is a third of the time of a dependent multiplication, because a clock does \
     not follow the core's frequency.",
    samples: Samples { what: "turns of each implementation", usual: 51, least: 1, most: 10_000 },
    parts: &["BLAKE2b", "BLAKE2s", "SHA-256", "chain", "lengths"],
    streams: &[],
};

impl Experiment for HashFunctions {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let turns =
            Turns { rounds: settings.samples(DESCRIPTION.samples), time: Duration::from_millis(2) };
        let all = contestants(Cpu::detect());
        let input: Vec<u8> =
            (0..INPUT as u64).map(|byte| (byte * 31).wrapping_add(settings.seed) as u8).collect();
        let functions = all.chunk_by(|one, other| one.function == other.function);
        for implementations in functions.clone() {
            let function = implementations[0].function;
            if settings.wants(function) {
                report.tables.push(table(function, implementations, &input, turns, progress));
            }
        }
        if settings.wants("chain") {
            report.tables.extend(chains(turns, progress));
        }
        if settings.wants("lengths") {
            // The fastest of each function: the last one that is no library.
            let fastest = functions.filter_map(|implementations| {
                implementations.iter().rfind(|implementation| !implementation.library)
            });
            report.pictures.push(picture(&fastest.collect::<Vec<_>>(), &input, turns, progress));
        }
        Ok(report)
    }
}

fn table(
    function: &str,
    implementations: &[Contestant],
    input: &[u8],
    turns: Turns,
    progress: &mut dyn Progress,
) -> Table {
    let mut contestants: Vec<_> =
        implementations.iter().map(|one| hashing(one, input, input.len())).collect();
    let results = measure(&mut contestants, turns, function, progress);
    let mut table = Table::new(function).columns(&["best turn", "limit", "above the limit, %"]);
    for (implementation, cycles) in implementations.iter().zip(results) {
        let name = match implementation.library {
            true => format!("crate {}", implementation.implementation),
            false => implementation.implementation.clone(),
        };
        let above = implementation.limit.map(|limit| 100.0 * (cycles.median / limit - 1.0));
        let mut row = Row::new(name, cycles.median, 2).unit(UNIT).also([
            Some(cycles.low),
            implementation.limit,
            above,
        ]);
        if let Some(published) = implementation.published {
            row = row.published(published).why(implementation.difference);
        }
        table.push(row);
    }
    table
}

/// Measures BLAKE2s's chain of dependent operations alone, and with the independent operations beside it,
/// against the report's limit.
fn chains(turns: Turns, progress: &mut dyn Progress) -> Option<Table> {
    let chained = |blake2s: Blake2s| Some((blake2s, blake2s.chains()?));
    let all: Vec<_> = Blake2s::all(Cpu::detect()).into_iter().filter_map(chained).collect();
    let works = all.iter().flat_map(|(_, chains)| chains);
    let mut contestants: Vec<_> =
        works.map(|&work| cycles::Contestant::new(CHAINED_BYTES as f64, work)).collect();
    let results = measure(&mut contestants, turns, "chain", progress);
    let mut table = Table::new("Lower bounds of BLAKE2s").columns(&["best turn"]);
    for ((blake2s, _), results) in all.iter().zip(results.as_chunks::<2>().0) {
        let limit = if blake2s.to_string() == "avx512vl" { 3.75 } else { 4.375 };
        let parts = ["the chain alone", "the chain, message additions and row rotations"];
        for (part, cycles) in parts.into_iter().zip(results) {
            let row = Row::new(format!("{blake2s}: {part}"), cycles.median, 2);
            let why = match part == "the chain alone" {
                true => {
                    "operations that are ready at once, such as the two shifts of a rotation, compete for ports"
                }
                false => "independent operations take ports that the chain could use",
            };
            table.push(row.unit(UNIT).published(limit).also([Some(cycles.low)]).why(why));
        }
    }
    (!all.is_empty()).then_some(table)
}

/// Hashes the input in pieces of `length` bytes, all of it between two readings of the clock.
fn hashing<'a>(
    implementation: &'a Contestant,
    input: &'a [u8],
    length: usize,
) -> cycles::Contestant<'a> {
    cycles::Contestant::new(input.len() as f64, move || {
        for piece in input.chunks_exact(length) {
            black_box((implementation.hash)(black_box(piece)));
        }
    })
}

/// Plots the cost by input length: short inputs pay for a whole block, initialization and finalization.
fn picture(
    fastest: &[&Contestant],
    input: &[u8],
    turns: Turns,
    progress: &mut dyn Progress,
) -> Picture {
    let mut points = vec![Vec::new(); fastest.len()];
    for length in LENGTHS {
        let mut contestants: Vec<_> =
            fastest.iter().map(|one| hashing(one, input, length)).collect();
        let results = measure(&mut contestants, turns, "lengths", progress);
        for (points, cycles) in points.iter_mut().zip(results) {
            points.push(((length as f64).log2(), cycles.median));
        }
    }
    let series = fastest.iter().zip(points).map(|(one, points)| {
        let name = format!("{}, {}", one.function, one.implementation);
        Series::new(&name, Shape::Line, points)
    });
    let series = series.collect();
    let title = "Cycles per byte by input length";
    Picture::plot("lengths", title, "binary logarithm of the length in bytes", UNIT, series)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn functions_take_turns_at_each_length_and_hash_all_of_the_input_in_a_turn() {
        let hashed = Rc::new(RefCell::new(Vec::new()));
        let contestant = |function| {
            let hashed = Rc::clone(&hashed);
            let hash = move |input: &[u8]| {
                hashed.borrow_mut().push((function, input.len()));
                [0; 32]
            };
            Contestant {
                function,
                implementation: String::new(),
                library: false,
                limit: None,
                published: None,
                difference: "",
                hash: Box::new(hash),
            }
        };
        let (one, other) = (contestant("one"), contestant("other"));
        // Each turn is one call.
        let turns = Turns { rounds: 2, time: Duration::ZERO };
        picture(&[&one, &other], &[0; INPUT], turns, &mut ());
        let expected = LENGTHS.into_iter().flat_map(|length| {
            let turn = move |function| std::iter::repeat_n((function, length), INPUT / length);
            // The first ones warm up.
            (0..3).flat_map(move |_| turn("one").chain(turn("other")))
        });
        assert!(hashed.borrow().iter().copied().eq(expected));
    }

    #[test]
    fn newer_instructions_are_faster_and_none_beats_the_limit() {
        let settings = Settings { samples: Some(5), ..Settings::default() };
        let report = crate::run(&HashFunctions, &settings, &mut ()).expect("a report");
        assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
        assert_eq!(report.pictures[0].series.len(), 3);
        for table in &report.tables[..3] {
            for row in &table.rows {
                // No code is faster than its longest chain, and a busy machine only slows it down.
                let [best, limit] = [row.others[0], row.others[1]];
                let (Some(best), Some(limit)) = (best, limit) else { continue };
                assert!(best > 0.8 * limit, "{}: {row:?}", table.title);
            }
            let ours: Vec<_> =
                table.rows.iter().filter(|row| !row.what.contains("crate")).collect();
            let best = |row: &Row| row.others[0].expect("the best turn");
            let (oldest, newest) = (best(ours[0]), best(ours[ours.len() - 1]));
            // On an AMD EPYC of family 26 a byte of BLAKE2b takes 4.0 cycles in portable code and 4.8 with
            // AVX-512, and BLAKE2s 7.0 and 7.7; on Intel's processors AVX-512 is faster.
            let most = if table.title.starts_with("BLAKE2") { 1.25 * oldest } else { oldest };
            assert!(newest <= most, "{}: {newest} and {oldest}", table.title);
        }
    }
}
