//! The modules that compute items, against the interpreter of SuperscalarHash.

use randomx::Item;
use randomx::cpu::Cpu;
use randomx::jit::wasm::cache_memory::{PAGES, SLOTS, slot};
use randomx::jit::wasm::superscalar::{MAX_BATCH, module};
use randomx::jit::wasm::{Features, bridge};
use randomx::params::CACHE_SIZE;
use randomx::superscalar::{
    Function, Instruction, Kind, Program, Width, initial_registers, programs,
};
use wasmi::{Config, Engine, Linker, Memory, MemoryType, Store, TypedFunc};

use crate::samples::{numbers, operations_on_edges};

type Programs = [Program; 8];

const BASELINE: Features =
    Features { fused_multiply_add: false, wide_arithmetic: false, shared_memory: false };
const TIERS: [Features; 2] = [BASELINE, Features { wide_arithmetic: true, ..BASELINE }];

/// Returns a word of a stand-in for a cache, in which no two lines are the same.
fn word_of_cache(index: u64) -> u64 {
    let word = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ word >> 29
}

/// Computes an item as the specification describes.
fn interpreted(functions: &[Function; 8], number: u32) -> Item {
    let mut r = initial_registers(number).map(|register| [register]);
    let mut address = u64::from(number);
    for function in functions {
        let line = address % (CACHE_SIZE as u64 / 64);
        function.execute(&mut r, Width::new(Cpu::baseline()));
        for (index, register) in (8 * line..).zip(&mut r) {
            register[0] ^= word_of_cache(index);
        }
        address = r[function.address_register()][0];
    }
    r.map(|[register]| register)
}

/// A WebAssembly runtime with both memories.
struct Runtime {
    store: Store<()>,
    memory: Memory,
    linker: Linker<()>,
}

type Items = TypedFunc<(u32, u32, u32, u32), ()>;

impl Runtime {
    fn new() -> Runtime {
        let engine = Engine::new(Config::default().wasm_wide_arithmetic(true));
        let mut store = Store::new(&engine, ());
        let cache = MemoryType::new(PAGES, Some(PAGES));
        let cache = Memory::new(&mut store, cache).expect("memory for a cache");
        let (words, _) = cache.data_mut(&mut store)[..CACHE_SIZE].as_chunks_mut();
        for (index, word) in (0..).zip(words) {
            *word = word_of_cache(index).to_le_bytes();
        }
        let memory = Memory::new(&mut store, MemoryType::new(1, None)).expect("a page");
        let mut linker = Linker::new(&engine);
        linker.define("randomx", "cache", cache).expect("a new name");
        linker.define("randomx", "memory", memory).expect("a new name");
        linker.allow_shadowing(true);
        Runtime { store, memory, linker }
    }

    /// Instantiates the modules for `programs`, and returns the bridge's function.
    fn load(&mut self, programs: &Programs, features: Features) -> Items {
        let mut instantiate = |bytes: Vec<u8>| {
            let module = wasmi::Module::new(self.store.engine(), bytes).expect("a valid module");
            self.linker.instantiate_and_start(&mut self.store, &module).expect("all imports")
        };
        let items = instantiate(module(programs, features));
        self.linker.instance(&mut self.store, "items", items).expect("exports");
        let module = wasmi::Module::new(self.store.engine(), bridge::module());
        let module = module.expect("a valid module");
        let bridge = self.linker.instantiate_and_start(&mut self.store, &module);
        let bridge = bridge.expect("all imports");
        bridge.get_typed_func(&self.store, "items").expect("the export")
    }

    /// Computes items, and checks that no other byte of the memory was written.
    fn compute(&mut self, items: &Items, slot: u32, numbers: &[u32]) -> Vec<Item> {
        const NUMBERS: usize = 4;
        const ITEMS: usize = 4096 + 8;
        let memory = self.memory.data_mut(&mut self.store);
        memory.fill(0xa5);
        for (bytes, number) in memory[NUMBERS..].chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        let arguments = (slot, NUMBERS as u32, ITEMS as u32, numbers.len() as u32);
        items.call(&mut self.store, arguments).expect("no trap");
        let (before, rest) = self.memory.data(&self.store).split_at(ITEMS);
        let (written, after) = rest.split_at(64 * numbers.len());
        let untouched = &before[NUMBERS + 4 * numbers.len()..];
        assert!(untouched.iter().chain(after).all(|&byte| byte == 0xa5), "a stray write");
        let (words, _) = written.as_chunks();
        let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
        words.as_chunks().0.to_vec()
    }

    /// Checks batches of some lengths with each set of features.
    fn check(&mut self, programs: &Programs, numbers: &[u32], lengths: &[usize]) {
        let functions = programs.each_ref().map(Function::from);
        let expected: Vec<Item> =
            numbers.iter().map(|&number| interpreted(&functions, number)).collect();
        for features in TIERS {
            let items = self.load(programs, features);
            for (&length, index) in lengths.iter().zip((0..SLOTS).cycle()) {
                let actual = self.compute(&items, slot(index), &numbers[..length]);
                assert_eq!(actual, expected[..length], "{features:?}, {length} items");
            }
        }
    }
}

fn generated(key: &[u8]) -> Programs {
    programs(key, Cpu::baseline())
}

#[test]
fn batches_of_every_length_are_as_interpreted() {
    let lengths: Vec<usize> = (0..=MAX_BATCH as usize + 1).chain([47, 48, 49]).collect();
    Runtime::new().check(&generated(b"batches of every length"), &numbers(49), &lengths);
}

#[test]
fn functions_of_many_keys_are_as_interpreted() {
    let mut runtime = Runtime::new();
    for key in 0..6u32 {
        runtime.check(&generated(&key.to_le_bytes()), &numbers(24), &[1, 2, 3, 16, 24]);
    }
}

#[test]
fn operations_on_edges_are_as_interpreted() {
    let mut runtime = Runtime::new();
    for programs in operations_on_edges() {
        runtime.check(&programs, &numbers(4), &[1, 2, 3, 4, 7]);
    }
}

/// Checks products of edge values, which programs build from a register that is zero.
#[test]
fn high_products_of_edges_are_as_interpreted() {
    const EDGES: [u32; 6] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
    let instruction = |kind, dst, src, imm32| Instruction { kind, dst, src, modifier: 0, imm32 };
    let mut runtime = Runtime::new();
    let constants = EDGES.iter().flat_map(|&low| EDGES.map(|high| (low, high)));
    let constants: Vec<(u32, u32)> = constants.collect();
    // A register is cleared, and gets its two halves one after the other between rotations.
    let make = |register, (low, high)| {
        [
            instruction(Kind::IsubR, register, register, 0),
            instruction(Kind::IaddC7, register, register, high),
            instruction(Kind::IrorC, register, register, 32),
            instruction(Kind::IxorC7, register, register, low),
        ]
    };
    for (index, &a) in constants.iter().enumerate() {
        // Both kinds of product, of register 0 and one of eight others in turn.
        let programs = std::array::from_fn(|function| {
            let b = constants[(index + 5 * function) % constants.len()];
            let mut instructions = Vec::new();
            for (at, kind) in [Kind::ImulhR, Kind::IsmulhR].into_iter().enumerate() {
                let dst = 2 * at as u8;
                instructions.extend(make(dst, a));
                instructions.extend(make(dst + 1, b));
                instructions.push(instruction(kind, dst, dst + 1, 0));
                instructions.push(instruction(Kind::IxorR, dst + 4, dst, 0));
            }
            Program { instructions, address_register: 4 }
        });
        runtime.check(&programs, &numbers(2), &[2, 3]);
    }
}
