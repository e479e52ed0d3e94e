//! Dataset items (specification 7.3), computed from the cache in batches.

mod interpreted;

use std::fmt;
use std::sync::Arc;

use crate::cache::Cache;
use crate::cpu::Cpu;
use crate::engine::{EngineChoice, EngineKind};
use crate::jit::native::SuperscalarCode;
use crate::jit::{CodePages, JitError};
use crate::params::DATASET_BATCH;
use crate::superscalar::Item;

use interpreted::Interpreted;

/// Options for computing items. The items are the same with all options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemsOptions {
    /// The engine that runs SuperscalarHash.
    pub engine: EngineChoice,
    /// The processor extensions that may be used. By default, all that the processor has.
    pub cpu: Cpu,
    /// How pages of machine code are written.
    pub code_pages: CodePages,
}

/// Computes the dataset items of a key.
pub trait ItemSource: fmt::Debug + Send + Sync {
    /// Computes the items `numbers` into `items`, a slice of the same length. See
    /// [`Items::compute`].
    fn compute(&self, numbers: &[u32], items: &mut [Item]);
}

/// Computes the dataset items of a key from its cache.
pub struct Items {
    cache: Arc<Cache>,
    engine: Engine,
}

enum Engine {
    Interpreter(Box<Interpreted>),
    Jit(SuperscalarCode),
}

impl Items {
    /// Makes a source of the items of `cache`'s key. It uses the extensions of `cpu`, and machine code
    /// where the processor and the system allow it, else the interpreter.
    pub fn new(cache: Arc<Cache>, cpu: Cpu) -> Items {
        let engine = Engine::fastest(&cache, ItemsOptions { cpu, ..ItemsOptions::default() });
        Items { cache, engine }
    }

    /// Makes a source of the items of `cache`'s key without machine code.
    pub fn interpreted(cache: Arc<Cache>, cpu: Cpu) -> Items {
        let engine = Engine::interpreted(&cache, cpu);
        Items { cache, engine }
    }

    /// Makes a source of the items of `cache`'s key, with `options`.
    ///
    /// # Errors
    ///
    /// [`JitError`] if `options` select [`EngineChoice::Jit`], and there is no machine code for this
    /// processor or the system refuses executable memory.
    pub fn with_options(cache: Arc<Cache>, options: ItemsOptions) -> Result<Items, JitError> {
        let engine = match options.engine {
            EngineChoice::Interpreter => Engine::interpreted(&cache, options.cpu),
            EngineChoice::Jit => Engine::compiled(&cache, options)?,
            EngineChoice::Auto => Engine::fastest(&cache, options),
        };
        Ok(Items { cache, engine })
    }

    /// Returns the kind of engine that computes the items.
    pub fn engine(&self) -> EngineKind {
        match self.engine {
            Engine::Interpreter(_) => EngineKind::Interpreter,
            Engine::Jit(_) => EngineKind::Jit,
        }
    }

    /// Computes the items `numbers` into `items`, a slice of the same length.
    ///
    /// A dataset has the items 0 to 34,078,718; larger numbers are valid too. Computing several items
    /// together is much faster than one by one: their cache reads overlap and their arithmetic shares
    /// instructions.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        assert!(numbers.len() == items.len(), "one item per number");
        match &self.engine {
            Engine::Interpreter(functions) => {
                functions.compute(self.cache.lines(), numbers, items);
            }
            Engine::Jit(code) => code.compute(self.cache.lines(), numbers, items),
        }
    }

    /// Fills `items` with consecutive items from number `first` on. This is how datasets are computed. After 2^32 - 1,
    /// numbers go on with 0.
    pub fn fill(&self, first: u32, items: &mut [Item]) {
        fill(first, items, |numbers, items| self.compute(numbers, items));
    }
}

/// Computes consecutive items in batches that no machine code finds too small.
fn fill(first: u32, items: &mut [Item], compute: impl Fn(&[u32], &mut [Item])) {
    const BATCH: usize = DATASET_BATCH;
    let mut next = first;
    for items in items.chunks_mut(BATCH) {
        let numbers: [u32; BATCH] = std::array::from_fn(|at| next.wrapping_add(at as u32));
        compute(&numbers[..items.len()], items);
        next = next.wrapping_add(BATCH as u32);
    }
}

impl Engine {
    fn fastest(cache: &Cache, options: ItemsOptions) -> Engine {
        Engine::compiled(cache, options).unwrap_or_else(|_| Engine::interpreted(cache, options.cpu))
    }

    fn interpreted(cache: &Cache, cpu: Cpu) -> Engine {
        Engine::Interpreter(Box::new(Interpreted::new(cache.programs(), cpu)))
    }

    fn compiled(cache: &Cache, options: ItemsOptions) -> Result<Engine, JitError> {
        let ItemsOptions { cpu, code_pages, .. } = options;
        let mut code = SuperscalarCode::new(cache.programs(), cpu, code_pages)?;
        code.calibrate(cache.lines());
        Ok(Engine::Jit(code))
    }
}

impl ItemSource for Items {
    fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        Items::compute(self, numbers, items);
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("engine", &self.engine()).finish_non_exhaustive()
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
