//! The module in a WebAssembly runtime, against the native fill.

use wasmi::{Engine, Instance, Linker, Store};
use wasmparser::{Validator, WasmFeatures};

use super::*;
use crate::argon2d::{Block, FILL_BLOCKS, Fill};
use crate::cpu::Cpu;
use crate::jit::wasm::listings::assert_listing;
use crate::params::CACHE_SIZE;

/// The module, instantiated with a memory.
struct Runtime {
    store: Store<()>,
    memory: wasmi::Memory,
    instance: Instance,
}

impl Runtime {
    fn new() -> Runtime {
        let engine = Engine::default();
        let module = wasmi::Module::new(&engine, module(Features::default())).expect("a module");
        let mut store = Store::new(&engine, ());
        let pages = cache_memory::PAGES;
        let size = wasmi::MemoryType::new(pages, Some(pages));
        let memory = wasmi::Memory::new(&mut store, size).expect("a memory");
        let mut linker = Linker::new(&engine);
        let (from, name) = cache_memory::NAME;
        linker.define(from, name, memory).expect("an import");
        let instance = linker.instantiate_and_start(&mut store, &module).expect("an instance");
        Runtime { store, memory, instance }
    }

    fn cache(&mut self) -> &mut [u8] {
        &mut self.memory.data_mut(&mut self.store)[..CACHE_SIZE]
    }

    fn fill(&mut self, first: usize, count: usize) {
        let fill = self.instance.get_typed_func::<(i32, i32), ()>(&self.store, "fill");
        let arguments = (first as i32, count as i32);
        fill.expect("its export").call(&mut self.store, arguments).expect("a run");
    }
}

/// Fills in pieces across the ends of slices and passes, where the reference area changes.
#[test]
fn the_module_fills_like_the_native_code() {
    let mut runtime = Runtime::new();
    let mut memory: Vec<Block> = vec![bytemuck::Zeroable::zeroed(); ARGON_MEMORY];
    let mut native = Fill::new(b"fills like the native one", Cpu::detect());
    let slice = 1 << SLICE;
    for (first, counts) in [
        (2, [1, 2, 97]),
        (slice - 20, [20, 1, 19]),
        (ARGON_MEMORY - 20, [10, 20, 30]),
        (ARGON_MEMORY + 3 * slice - 20, [21, 1, 10]),
        (2 * ARGON_MEMORY - 30, [30, 1, 100]),
        (FILL_BLOCKS - 60, [1, 20, 39]),
    ] {
        native.advance(&mut memory, first - native.done());
        runtime.cache().copy_from_slice(bytemuck::cast_slice(&memory));
        for count in counts {
            runtime.fill(native.done(), count);
            native.advance(&mut memory, count);
        }
        assert!(runtime.cache() == bytemuck::cast_slice::<_, u8>(&memory), "from {first} on");
    }
    assert_eq!(native.done(), FILL_BLOCKS);
}

#[test]
fn the_module_needs_no_optional_feature() {
    let baseline = WasmFeatures::WASM2;
    let validate = |features, shared_memory| {
        let bytes = module(Features { shared_memory, ..Features::default() });
        Validator::new_with_features(features).validate_all(&bytes).map(|_| bytes.len())
    };
    assert!(validate(baseline, false).expect("a valid module") < 6000);
    validate(baseline | WasmFeatures::THREADS, true).expect("a valid module");
    assert!(validate(baseline, true).is_err(), "its memory is shared");
}

#[test]
fn quarter_rounds_are_as_listed() {
    let mut body = Body::new(0);
    let permutation = Permutation::new(&mut body);
    let [a0, a1, b0, b1, c0, c1, d0, d1] = permutation.pairs;
    permutation.mix(&mut body, [[a0, a1], [b0, b1], [c0, c1], [d0, d1]]);
    let mut module = Module::new();
    module.function(&[], &[], &body);
    assert_listing("argon2d/tests/quarter_rounds", &module.finish());
}
