//! Reproduces the figures of RandomX's design document from the core's trace: the contents of
//! programs and their behaviour.
//!
//! Most figures are a [`Tracer`] or a [`GenerationTracer`](randomx::superscalar::GenerationTracer)
//! that counts, with a `summary` of plain numbers. The documentation of each number states the
//! published value. The crate does no input and output, so that the laboratory and the page can
//! share it. Chapters are those of the design document, `doc/design.md` of tevador/RandomX.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use randomx::{Cache, Version, trace};
//! use randomx_figures::{Branches, Floats};
//!
//! let cache = Arc::new(Cache::new(b"a key")?);
//! let (mut branches, mut floats) = (Branches::default(), Floats::default());
//! trace::hash(cache, Version::V1, b"an input", &mut (&mut branches, &mut floats))?;
//! println!("one in {} branches is taken", 1.0 / branches.summary().taken_share);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod accesses;
mod branches;
mod floats;
mod hash;
mod histogram;
mod instructions;
mod listing;
mod names;
mod program_log;
mod runtime;
mod statistics;
mod superscalar;
mod superscalar_text;
mod write_map;

pub use accesses::{AccessSummary, Accesses};
pub use branches::{BranchSummary, Branches};
pub use floats::{FloatSummary, Floats};
pub use hash::HashFigures;
pub use histogram::Histogram;
pub use instructions::{InstructionCount, Instructions};
pub use listing::{Line, listing};
pub use names::{kind_name, macro_op_name, opcode_name};
pub use program_log::{ProgramLog, Registers};
pub use runtime::{Runtime, RuntimeSummary};
pub use statistics::Statistics;
pub use superscalar::{MacroOp, Schedule, SuperscalarStatistics, SuperscalarSummary};
pub use superscalar_text::superscalar_text;
pub use write_map::{WriteMap, WriteMapSummary};

#[doc(no_inline)]
pub use randomx::trace::Tracer;

/// Returns `part / whole`, or 0 if `whole` is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
