//! One traced hash: the interpreter with a [`Tracer`] that receives its events.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use randomx::trace::{self, Tracer};
//! use randomx::{Cache, Version};
//!
//! /// Counts branches, and those that are taken.
//! #[derive(Default)]
//! struct Branches(u64, u64);
//!
//! impl Tracer for Branches {
//!     fn branch(&mut self, taken: bool) {
//!         self.0 += 1;
//!         self.1 += u64::from(taken);
//!     }
//! }
//!
//! let cache = Arc::new(Cache::new(b"a key")?);
//! let mut branches = Branches::default();
//! let hash = trace::hash(cache, Version::V1, b"an input", &mut branches)?;
//! # Ok(())
//! # }
//! ```

use std::cell::RefCell;

pub use crate::interpreter::Tracer;

use crate::cpu::Cpu;
use crate::engine::{Engine, EngineKind, ItemPrefetches, Lane, LaneContext};
use crate::error::VmError;
use crate::interpreter::{Interpreter, Steps};
use crate::params::{HASH_SIZE, PROGRAM_ITERATIONS, Version};
use crate::program::Program;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;
use crate::vm::{self, KeyMemory};

/// Returns the hash of `input`, and reports the events of its programs to `tracer`.
///
/// The interpreter runs the programs. With [`KeyMemory::Cache`] each call compiles the cache's
/// functions; to trace many hashes, create [`Items`](crate::items::Items) once and pass them as
/// [`KeyMemory::Items`].
///
/// # Errors
///
/// [`VmError::OutOfMemory`] if the scratchpad of 2 MiB cannot be allocated.
pub fn hash(
    key: impl Into<KeyMemory>,
    version: Version,
    input: &[u8],
    tracer: &mut impl Tracer,
) -> Result<[u8; HASH_SIZE], VmError> {
    let engine =
        Traced { interpreter: Interpreter::new(Cpu::detect()), tracer: RefCell::new(&mut *tracer) };
    let (hash, mut scratchpads) =
        vm::hash_once(engine, |_| Ok(Steps::default()), key.into(), version, input)?;
    for scratchpad in scratchpads.as_mut_slice() {
        tracer.scratchpad(scratchpad);
    }
    Ok(hash)
}

/// The interpreter as an engine that reports its events.
struct Traced<'a, T> {
    interpreter: Interpreter,
    /// In a cell because engines are shared. There is one thread and one lane.
    tracer: RefCell<&'a mut T>,
}

impl<T: Tracer> Engine for Traced<'_, T> {
    const KIND: EngineKind = EngineKind::Interpreter;

    type Code = Steps;

    fn load(&self, program: &Program, _: RoundingMode, code: &mut Steps) {
        self.tracer.borrow_mut().program(program);
        code.decode(program);
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Steps>]) {
        let tracer = &mut *self.tracer.borrow_mut();
        for context in lanes {
            self.interpreter.begin_lane(context, tracer);
        }
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Steps>], items: &[Item]) {
        assert!(lanes.len() == items.len(), "one item per lane");
        let tracer = &mut *self.tracer.borrow_mut();
        for (context, item) in lanes.iter_mut().zip(items) {
            self.interpreter.end_lane(context, item, tracer);
        }
    }

    fn run(&self, lanes: &mut [LaneContext<'_, Steps>], dataset: &[Item], _: ItemPrefetches) {
        let tracer = &mut *self.tracer.borrow_mut();
        for _ in 0..PROGRAM_ITERATIONS {
            for context in &mut *lanes {
                self.interpreter.begin_lane(context, tracer);
                let item = context.lane.window(dataset)[context.lane.item_in_window()];
                self.interpreter.end_lane(context, &item, tracer);
            }
        }
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        self.interpreter.execute(program, lane, scratchpad);
    }
}
