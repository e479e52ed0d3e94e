//! The module that fills a cache, against the native fill.

use randomx::argon2d::{Block, FILL_BLOCKS, Fill};
use randomx::cpu::Cpu;
use randomx::jit::wasm::{Features, argon2d, cache_memory};
use randomx::params::{ARGON_MEMORY, CACHE_SIZE};
use wasmi::{Engine, Instance, Linker, Store};

/// The blocks of a slice, a quarter of a pass.
const SLICE: usize = ARGON_MEMORY / 4;

/// The module, instantiated with a memory.
struct Runtime {
    store: Store<()>,
    memory: wasmi::Memory,
    instance: Instance,
}

impl Runtime {
    fn new() -> Runtime {
        let engine = Engine::default();
        let module =
            wasmi::Module::new(&engine, argon2d::module(Features::default())).expect("a module");
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
    for (first, counts) in [
        (2, [1, 2, 97]),
        (SLICE - 20, [20, 1, 19]),
        (ARGON_MEMORY - 20, [10, 20, 30]),
        (ARGON_MEMORY + 3 * SLICE - 20, [21, 1, 10]),
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
