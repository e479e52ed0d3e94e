//! The interface between a VM and the engines that run its programs.
//!
//! A VM takes its lanes through the loop of specification 4.6.2. An engine runs the parts of it that
//! depend on the program. An iteration has two halves, before and after its dataset item. In light
//! mode the VM computes the items of all lanes between the halves; with a dataset the engine runs
//! the whole loop. Lanes take turns in each iteration, so that the memory that one lane waits for
//! arrives while the others work.

use std::fmt;
use std::hint::black_box;

use crate::aes::Aes;
use crate::f64x2::F64x2;
use crate::params::{DATASET_BASE_SIZE, DATASET_ITEMS, ITEM_SIZE, Version};
use crate::program::{Configuration, Program};
use crate::registers::RegisterFile;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// Selects the engine that runs programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineChoice {
    /// Machine code where the processor and the system allow it, else the interpreter.
    #[default]
    Auto,
    /// The interpreter, which runs everywhere.
    Interpreter,
    /// Machine code, or an error where the processor or the system does not allow it.
    Jit,
}

/// The kind of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// The interpreter.
    Interpreter,
    /// An engine that compiles programs: to machine code or to WebAssembly.
    Jit,
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EngineKind::Interpreter => "interpreter",
            EngineKind::Jit => "jit",
        })
    }
}

/// When the code of programs prefetches dataset items.
///
/// Instructions after a prefetch can wait until the processor has translated its address, which takes long in virtual
/// machines and without huge pages. The addresses of two prefetches in a row are translated at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemPrefetches {
    /// Every turn prefetches the item that its lane reads in the next iteration (v1) or in the one after it (v2).
    Each,
    /// Of two consecutive turns, of the same lane or of two, the second prefetches the items of both. Only machine code
    /// for x86-64 does that; elsewhere this is the same as [`Each`](Self::Each).
    Pairs,
}

/// Runs the programs of all lanes of a VM.
pub trait Engine {
    /// The kind of this engine.
    const KIND: EngineKind;

    /// A program in the form that this engine runs.
    type Code;

    /// Prepares a program that begins in `mode`, in the memory of the one that `code` holds.
    fn load(&self, program: &Program, mode: RoundingMode, code: &mut Self::Code);

    /// Begins an iteration in each lane: steps 1 to 6 and 8. [`Lane::items`] then starts with the
    /// item that [`end`](Self::end) needs.
    fn begin(&self, lanes: &mut [LaneContext<'_, Self::Code>]);

    /// Ends an iteration in each lane: steps 7 and 9 to 12.
    ///
    /// # Panics
    ///
    /// If `items` and `lanes` differ in length.
    fn end(&self, lanes: &mut [LaneContext<'_, Self::Code>], items: &[Item]);

    /// Begins and ends an iteration in each lane, for items that are known beforehand.
    ///
    /// # Panics
    ///
    /// If `items` and `lanes` differ in length.
    fn iterate(&self, lanes: &mut [LaneContext<'_, Self::Code>], items: &[Item]) {
        self.begin(lanes);
        self.end(lanes, items);
    }

    /// Runs all iterations of each lane with the items of a dataset.
    ///
    /// # Panics
    ///
    /// If `dataset` lacks items that the program of a lane can read. A dataset of [`DATASET_ITEMS`] items has all.
    fn run(
        &self,
        lanes: &mut [LaneContext<'_, Self::Code>],
        dataset: &[Item],
        prefetches: ItemPrefetches,
    );

    /// Runs the program's instructions once (step 4), without the loop around them. Tests of single
    /// instructions use this.
    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad);
}

/// A lane with the program and the scratchpad that it runs with.
pub struct LaneContext<'a, C> {
    /// The lane's program.
    pub code: &'a C,
    /// The lane.
    pub lane: &'a mut Lane,
    /// The lane's scratchpad.
    pub scratchpad: &'a mut Scratchpad,
}

/// Reads the lines of scratchpads that the next iterations of all lanes begin with. They arrive together, where each
/// lane by itself would wait for its own. WebAssembly has no prefetch.
pub(crate) fn read_ahead<C>(lanes: &[LaneContext<'_, C>], read: impl Fn(&C) -> [u8; 4]) {
    for LaneContext { code, lane, scratchpad } in lanes {
        for address in lane.next_addresses(read(code)) {
            black_box(scratchpad.read_line(address)[0][0]);
        }
    }
}

/// The state of one hash between iterations.
///
/// Generated code reads and writes the fields at their offsets.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Lane {
    /// The register file (specification 4.3).
    pub registers: RegisterFile,
    /// The program's [`Configuration::e_mask`].
    pub e_mask: F64x2,
    /// `fprc`, which the next program of the hash starts with.
    pub rounding_mode: RoundingMode,
    /// `spAddr0` and `spAddr1` of the iteration in progress. Between iterations, the values that
    /// the next registers are XORed with to make them.
    pub(crate) addresses: [u32; 2],
    pub(crate) ma: u32,
    pub(crate) mx: u32,
    /// The value of `ma` that chose the item of the iteration in progress.
    pub(crate) item_address: u32,
    dataset_offset: u32,
    /// The processor's floating point control register, while machine code runs.
    pub(crate) control: u32,
}

impl Lane {
    /// Returns a lane before its first program.
    pub fn new() -> Lane {
        Lane {
            registers: RegisterFile::new(),
            e_mask: F64x2::ZERO,
            rounding_mode: RoundingMode::Nearest,
            addresses: [0; 2],
            ma: 0,
            mx: 0,
            item_address: 0,
            dataset_offset: 0,
            control: 0,
        }
    }

    /// Programs the lane (specification 4.5) and initialises the loop (4.6.1).
    pub fn start(&mut self, configuration: &Configuration) {
        self.registers.r = [0; 8];
        self.registers.a = configuration.a;
        self.e_mask = configuration.e_mask;
        self.ma = configuration.ma;
        self.mx = configuration.mx;
        self.dataset_offset = configuration.dataset_offset;
        self.addresses = [self.mx, self.ma];
    }

    /// Returns the numbers of the item that the iteration in progress needs and of the next two.
    /// The first [`Version::known_items`] of them are final.
    pub fn items(&self) -> [u32; 3] {
        [self.item_address, self.ma, self.mx].map(|address| self.item_number(address))
    }

    /// Returns the items that the program can read, [`DATASET_WINDOW`] of them.
    pub(crate) fn window<'a>(&self, dataset: &'a [Item]) -> &'a [Item] {
        let start = self.dataset_offset as usize;
        let Some(window) = dataset.get(start..start + DATASET_WINDOW) else {
            panic!("a dataset has {DATASET_ITEMS} items, not {}", dataset.len());
        };
        window
    }

    /// Returns the index in the window of the item that the iteration in progress needs.
    pub(crate) fn item_in_window(&self) -> usize {
        (self.item_address & ITEM_ADDRESS_MASK) as usize / ITEM_SIZE
    }

    fn item_number(&self, address: u32) -> u32 {
        self.dataset_offset + (address & ITEM_ADDRESS_MASK) / ITEM_SIZE as u32
    }

    /// Converts 8 bytes to a group E operand (specification 4.3.2).
    #[inline(always)]
    pub fn group_e(e_mask: F64x2, bytes: [u8; 8]) -> F64x2 {
        (F64x2::from_integers(bytes) & F64x2::splat_bits(GROUP_E_KEPT)) | e_mask
    }

    /// Performs step 1: returns `spAddr0` and `spAddr1` of the next iteration.
    #[inline]
    fn next_addresses(&self, read: [u8; 4]) -> [u32; 2] {
        let r = &self.registers.r;
        let mix = r[usize::from(read[0] & 7)] ^ r[usize::from(read[1] & 7)];
        [self.addresses[0] ^ mix as u32, self.addresses[1] ^ (mix >> 32) as u32]
    }

    /// Performs steps 1 to 3.
    #[inline]
    pub(crate) fn load_registers(&mut self, scratchpad: &Scratchpad, read: [u8; 4]) {
        self.addresses = self.next_addresses(read);
        let registers = &mut self.registers;
        let integers = scratchpad.read_line(self.addresses[0]);
        for (register, bytes) in registers.r.iter_mut().zip(integers) {
            *register ^= u64::from_le_bytes(bytes);
        }
        let floats = scratchpad.read_line(self.addresses[1]);
        for i in 0..4 {
            registers.f[i] = F64x2::from_integers(floats[i]);
            registers.e[i] = Lane::group_e(self.e_mask, floats[i + 4]);
        }
    }

    /// Performs steps 5, 6 and 8.
    #[inline]
    pub(crate) fn choose_item(&mut self, version: Version, read: [u8; 4]) {
        self.item_address = self.ma;
        let r = &self.registers.r;
        let mix = (r[usize::from(read[2] & 7)] ^ r[usize::from(read[3] & 7)]) as u32;
        match version {
            Version::V1 => self.mx ^= mix,
            Version::V2 => self.ma ^= mix,
        }
        std::mem::swap(&mut self.mx, &mut self.ma);
    }

    /// Performs steps 7 and 9 to 12.
    #[inline]
    pub(crate) fn store_registers(
        &mut self,
        scratchpad: &mut Scratchpad,
        item: &Item,
        version: Version,
        aes: Aes,
    ) {
        let RegisterFile { r, f, e, .. } = &mut self.registers;
        for (register, word) in r.iter_mut().zip(item) {
            *register ^= word;
        }
        scratchpad.write_line(self.addresses[1], r.map(u64::to_le_bytes));

        match version {
            Version::V1 => {
                for (f, e) in f.iter_mut().zip(e) {
                    *f = *f ^ *e;
                }
            }
            Version::V2 => self.mix_f_with_e(aes),
        }
        let mut line = [[0; 8]; 8];
        let words = self.registers.f.iter().flat_map(|pair| pair.to_bits());
        for (bytes, word) in line.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        scratchpad.write_line(self.addresses[0], line);
        self.addresses = [0; 2];
    }

    /// Performs step 10 of v2.
    pub(crate) fn mix_f_with_e(&mut self, aes: Aes) {
        let RegisterFile { f, e, .. } = &mut self.registers;
        let column = |pair: &F64x2| bytemuck::must_cast(pair.to_bits().map(u64::to_le_bytes));
        let mut columns = f.each_ref().map(column);
        aes.mix_f_with_e(&mut columns, &e.each_ref().map(column));
        *f = columns.map(|column| {
            let halves: [[u8; 8]; 2] = bytemuck::must_cast(column);
            F64x2::from_bits(halves.map(u64::from_le_bytes))
        });
    }
}

/// The number of items that a program can read, from its dataset offset on.
pub(crate) const DATASET_WINDOW: usize = DATASET_BASE_SIZE as usize / ITEM_SIZE;

/// The bits of `ma` and `mx` that select an item.
pub(crate) const ITEM_ADDRESS_MASK: u32 = (DATASET_BASE_SIZE - ITEM_SIZE as u64) as u32;

/// The bits of a pair that conversion to group E keeps. The mask replaces the others: the sign and
/// the upper bits of the exponent.
pub(crate) const GROUP_E_KEPT: u64 = (1 << 56) - 1;

impl Default for Lane {
    fn default() -> Lane {
        Lane::new()
    }
}
