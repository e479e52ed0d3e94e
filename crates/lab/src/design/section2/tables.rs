//! The figures of the chapter, section by section.

use super::{Traced, mean, ratio};
use crate::report::{Row, Table};

const ROUNDED: &str = "the document gives round numbers";
const IN_2019: &str = "the document says `about 2%`, for the instruction frequencies of May 2019: 20 multiplications in 256 then, 32 today";
const OVERWRITTEN: &str = "the document says `about 66%`, for one hash; each iteration writes two lines and two words to \
                           random addresses, which overwrites 1 - exp(-1.125) = 67.5%";
const PULL_REQUEST: &str = "published, rounded, in tevador/RandomX pull request 118, which raised the branches from 16 to 25";

/// Returns the tables of v1, with v2 beside it.
pub(super) fn all(v1: &Traced, v2: &Traced) -> [Table; 4] {
    [accesses(v1, v2), scratchpad(v1, v2), branches(v1, v2), floats(v1, v2)]
}

/// A table of v1 with a column for v2.
struct Both<'a> {
    table: Table,
    versions: [&'a Traced; 2],
}

impl<'a> Both<'a> {
    fn new(title: &str, v1: &'a Traced, v2: &'a Traced) -> Both<'a> {
        Both { table: Table::new(title).columns(&["v2"]), versions: [v1, v2] }
    }

    fn push(
        &mut self,
        what: &str,
        decimals: usize,
        figure: impl Fn(&Traced) -> f64,
        finish: impl FnOnce(Row) -> Row,
    ) {
        let [v1, v2] = self.versions.map(figure);
        self.table.push(finish(Row::new(what, v1, decimals).also([Some(v2)])));
    }
}

fn accesses(v1: &Traced, v2: &Traced) -> Table {
    let mut both = Both::new("2.8.3 Reads and writes per iteration", v1, v2);
    both.push(
        "reading instructions per program",
        1,
        |t| mean(&t.accesses, |a| a.listed_reads),
        |row| row.published(39.0).why(ROUNDED),
    );
    both.push(
        "writing instructions per program",
        1,
        |t| mean(&t.accesses, |a| a.listed_writes),
        |row| row.published(16.0).why(ROUNDED),
    );
    let bytes = "follows from the two rows above, one of which the document rounds";
    both.push(
        "bytes read",
        0,
        |t| mean(&t.accesses, |a| a.bytes_read),
        |row| row.unit("bytes").published(504.0).why(bytes),
    );
    both.push(
        "bytes written",
        0,
        |t| mean(&t.accesses, |a| a.bytes_written),
        |row| row.unit("bytes").published(256.0).why(bytes),
    );
    both.push(
        "executed reads, including repetitions by branches",
        1,
        |t| mean(&t.accesses, |a| a.reads),
        |row| row,
    );
    both.push(
        "executed writes, including repetitions by branches",
        1,
        |t| mean(&t.accesses, |a| a.writes),
        |row| row,
    );
    let l1_to_l2 = |t: &Traced| {
        mean(&t.accesses, |a| a.reads_by_level[0]) / mean(&t.accesses, |a| a.reads_by_level[1])
    };
    both.push("2.8.1 reads from L1 per read from L2", 2, l1_to_l2, |row| {
        row.published(3.0).why(ROUNDED)
    });
    both.push(
        "2.8.2 stores into L3",
        2,
        |t| mean(&t.accesses, |a| a.writes_by_level[2]),
        |row| {
            row.published(2.0)
                .why("branches repeat a few stores, and the document gives a round number")
        },
    );
    both.table
}

fn scratchpad(v1: &Traced, v2: &Traced) -> Table {
    let mut both = Both::new("2.8.2 Parts of the scratchpad that a hash overwrites", v1, v2);
    both.push(
        "the last 1792 KiB",
        1,
        |t| 100.0 * mean(&t.maps, |map| map.rest),
        |row| row.unit("%").published(66.0).why(OVERWRITTEN),
    );
    both.push(
        "the first 16 KiB (L1)",
        2,
        |t| 100.0 * mean(&t.maps, |map| map.l1),
        |row| row.unit("%"),
    );
    both.push(
        "the first 256 KiB (L2)",
        2,
        |t| 100.0 * mean(&t.maps, |map| map.l2),
        |row| row.unit("%"),
    );
    both.push("all", 1, |t| 100.0 * mean(&t.maps, |map| map.whole), |row| row.unit("%"));
    both.table
}

fn branches(v1: &Traced, v2: &Traced) -> Table {
    let mut both = Both::new("2.6.2 Branches", v1, v2);
    both.push(
        "branches taken",
        3,
        |t| 100.0 * ratio(&t.branches, |b| b.taken, |b| b.executed),
        |row| {
            row.unit("%")
                .published(100.0 / 256.0)
                .why("after a branch is taken, the bits that it tests are less random")
        },
    );
    both.push(
        "most taken in a row",
        0,
        |t| t.branches.iter().map(|b| b.longest_run as f64).fold(0.0, f64::max),
        |row| row.published(2.0).why("a third needs a carry into the tested bits"),
    );
    both.push(
        "branches per program",
        1,
        |t| mean(&t.branches, |b| b.listed),
        |row| row.published(25.0).why(PULL_REQUEST),
    );
    // A span does not include the branch itself.
    let spans = |t: &Traced| t.lengths.iter().map(|length| *length as f64 - 1.0).sum::<f64>();
    both.push(
        "instructions that a branch jumps back over",
        1,
        |t| spans(t) / t.lengths.len() as f64,
        |row| row.published(5.2).why(PULL_REQUEST),
    );
    let trivial = |t: &Traced| t.lengths.iter().filter(|length| **length == 1).count() as f64;
    let programs = |t: &Traced| 8.0 * t.branches.len() as f64;
    both.push(
        "branches per program that target themselves",
        1,
        |t| trivial(t) / programs(t),
        |row| row.published(4.0).why(PULL_REQUEST),
    );
    both.push(
        "repeated instructions",
        2,
        |t| 100.0 * mean(&t.branches, |b| b.repeated_share),
        |row| row.unit("%"),
    );
    both.table
}

fn floats(v1: &Traced, v2: &Traced) -> Table {
    let mut both = Both::new("2.5.1 Floating point registers at the end of an iteration", v1, v2);
    let infinite = |t: &Traced| 100.0 * ratio(&t.floats, |f| f.infinite_programs, |f| f.programs);
    both.push("programs that reach infinity", 1, infinite, |row| {
        row.unit("%").published(2.0).why(IN_2019)
    });
    let greatest = |t: &Traced| t.floats.iter().map(|f| f.f_range).fold(0.0, f64::max).log10();
    both.push("largest value of group F, as a power of ten", 1, greatest, |row| {
        row.published(3.0e14f64.log10())
            .why("the document says `around`, and FSCAL makes a few values larger")
    });
    let least =
        |t: &Traced| t.floats.iter().map(|f| f.e_least).fold(f64::INFINITY, f64::min).log10();
    both.push("smallest value of group E, as a power of ten", 1, least, |row| {
        row.published(1.7e-77f64.log10())
            .why("the document gives the smallest possible value, which no program reached")
    });
    both.table
}
