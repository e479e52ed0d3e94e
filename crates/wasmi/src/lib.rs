//! Runs the core's generated WebAssembly modules in wasmi, an engine that no browser has.

#![expect(unsafe_code, reason = "copies lanes as bytes")]

use std::cell::RefCell;
use std::ptr;

use randomx::engine::Lane;
use randomx::jit::wasm::Features;
use randomx::jit::wasm::host::{EXPORT, Host};
use randomx::scratchpad::Scratchpad;
use wasmi::{Config, Engine, Linker, Memory, MemoryType, Module, Store, TypedFunc};

/// Runs modules in wasmi, over copies of lanes and scratchpads.
pub struct Wasmi {
    engine: Engine,
    validator: wasmparser::WasmFeatures,
}

/// A program's module, instantiated with a memory of its own.
pub struct Instance {
    store: RefCell<Store<()>>,
    memory: Memory,
    run: TypedFunc<(i32, i32), ()>,
}

const LANE: usize = 1 << 12;
const SCRATCHPAD: usize = 1 << 16;
const PAGES: u32 = 33;

impl Wasmi {
    /// Creates an engine that supports these features and no others. It panics at modules that need more.
    pub fn new(features: Features) -> Wasmi {
        use wasmparser::WasmFeatures;
        let mut config = Config::default();
        config.wasm_relaxed_simd(features.fused_multiply_add);
        config.wasm_wide_arithmetic(features.wide_arithmetic);
        let mut validator = WasmFeatures::WASM2;
        validator.set(WasmFeatures::RELAXED_SIMD, features.fused_multiply_add);
        validator.set(WasmFeatures::WIDE_ARITHMETIC, features.wide_arithmetic);
        Wasmi { engine: Engine::new(&config), validator }
    }
}

impl Host for Wasmi {
    type Program = Instance;

    fn compile(&self, module: &[u8]) -> Option<Instance> {
        wasmparser::Validator::new_with_features(self.validator)
            .validate_all(module)
            .expect("a valid module");
        let module = Module::new(&self.engine, module).expect("a module that wasmi accepts");
        let mut store = Store::new(&self.engine, ());
        let memory =
            Memory::new(&mut store, MemoryType::new(PAGES, None)).expect("memory for a module");
        let mut linker = Linker::new(&self.engine);
        linker.define("randomx", "memory", memory).expect("one memory");
        let instance =
            linker.instantiate_and_start(&mut store, &module).expect("an instance of the module");
        let run = instance.get_typed_func(&store, EXPORT).expect("a function of that name");
        Some(Instance { store: RefCell::new(store), memory, run })
    }

    fn call(&self, program: &Instance, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let mut store = program.store.borrow_mut();
        let data = program.memory.data_mut(&mut *store);
        let size = size_of::<Lane>();
        // SAFETY: a lane is plain numbers without padding, and is borrowed for as long.
        let bytes = unsafe { std::slice::from_raw_parts(ptr::from_ref(lane).cast::<u8>(), size) };
        data[LANE..][..size].copy_from_slice(bytes);
        let blocks = scratchpad.blocks_mut().as_flattened_mut();
        data[SCRATCHPAD..][..blocks.len()].copy_from_slice(blocks);
        program
            .run
            .call(&mut *store, (LANE as i32, SCRATCHPAD as i32))
            .expect("a program does not trap");
        let data = program.memory.data(&*store);
        blocks.copy_from_slice(&data[SCRATCHPAD..][..blocks.len()]);
        // SAFETY: the module has written a lane: numbers, and a rounding mode from 0 to 3.
        *lane = unsafe { data[LANE..][..size].as_ptr().cast::<Lane>().read_unaligned() };
    }
}
