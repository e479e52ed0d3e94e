//! The boundary between algorithm and machine.
//!
//! A VM steps its lanes through the loop of specification 4.6.2. An engine runs a lane's part of
//! an iteration; the dataset item in the middle is not its business, because the VM computes the
//! items of all lanes together.

use crate::aes::Aes;
use crate::f64x2::F64x2;
use crate::params::{DATASET_BASE_SIZE, ITEM_SIZE, Version};
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// Runs programs.
pub trait Engine {
    /// A program in the form that this engine runs.
    type Code: Default;

    /// Prepares a program; `code` may hold an earlier one, whose memory is reused.
    fn load(&self, program: &Program, code: &mut Self::Code);

    /// Step 4: the instructions of one iteration.
    fn execute(&self, code: &Self::Code, lane: &mut Lane, scratchpad: &mut Scratchpad);

    /// Steps 1 to 6 and 8: all up to the dataset item. Returns the numbers of this iteration's
    /// item and of the next two; [`Version::known_items`] tells how many of them are final.
    fn begin(&self, code: &Self::Code, lane: &mut Lane, scratchpad: &mut Scratchpad) -> [u32; 3] {
        lane.load_registers(scratchpad);
        self.execute(code, lane, scratchpad);
        lane.next_items()
    }

    /// Steps 7 and 9 to 12: all from the dataset item on.
    fn end(&self, lane: &mut Lane, scratchpad: &mut Scratchpad, item: &Item, aes: Aes) {
        lane.store_registers(scratchpad, item, aes);
    }
}

/// The state of one hash between iterations.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The Register File.
    pub registers: RegisterFile,
    /// `fprc`, which lasts from program to program of a hash.
    pub rounding_mode: RoundingMode,
    /// See [`Configuration::e_mask`](crate::program::Configuration::e_mask).
    pub e_mask: F64x2,
    version: Version,
    ma: u32,
    mx: u32,
    read_registers: [usize; 4],
    dataset_offset: u32,
    addresses: [u32; 2],
}

impl Lane {
    /// A lane before its first program.
    pub fn new() -> Lane {
        Lane {
            registers: RegisterFile::new(),
            rounding_mode: RoundingMode::Nearest,
            e_mask: F64x2::ZERO,
            version: Version::V1,
            ma: 0,
            mx: 0,
            read_registers: [0; 4],
            dataset_offset: 0,
            addresses: [0; 2],
        }
    }

    /// Programs the lane (specification 4.5) and initialises the loop (4.6.1).
    pub fn start(&mut self, program: &Program) {
        let configuration = &program.configuration;
        self.registers.r = [0; 8];
        self.registers.a = configuration.a;
        self.e_mask = configuration.e_mask;
        self.version = program.version;
        self.ma = configuration.ma;
        self.mx = configuration.mx;
        self.read_registers = configuration.read_registers.map(usize::from);
        self.dataset_offset = configuration.dataset_offset;
        self.addresses = [self.mx, self.ma];
    }

    /// Converts 8 bytes to a group E operand (specification 4.3.2).
    #[inline(always)]
    pub fn group_e(e_mask: F64x2, bytes: [u8; 8]) -> F64x2 {
        // The sign and the upper exponent bits make room for the mask.
        const KEPT: u64 = (1 << 56) - 1;
        (F64x2::from_integers(bytes) & F64x2::splat_bits(KEPT)) | e_mask
    }

    /// Steps 1 to 3.
    #[inline]
    fn load_registers(&mut self, scratchpad: &Scratchpad) {
        let registers = &mut self.registers;
        let mix = registers.r[self.read_registers[0]] ^ registers.r[self.read_registers[1]];
        self.addresses[0] ^= mix as u32;
        self.addresses[1] ^= (mix >> 32) as u32;

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

    /// Steps 5, 6 and 8.
    #[inline]
    fn next_items(&mut self) -> [u32; 3] {
        let current = self.item_number(self.ma);
        let r = &self.registers.r;
        let mix = (r[self.read_registers[2]] ^ r[self.read_registers[3]]) as u32;
        match self.version {
            Version::V1 => self.mx ^= mix,
            Version::V2 => self.ma ^= mix,
        }
        std::mem::swap(&mut self.mx, &mut self.ma);
        [current, self.item_number(self.ma), self.item_number(self.mx)]
    }

    #[inline]
    fn item_number(&self, address: u32) -> u32 {
        const ITEM_MASK: u32 = (DATASET_BASE_SIZE / ITEM_SIZE as u64) as u32 - 1;
        self.dataset_offset + ((address / ITEM_SIZE as u32) & ITEM_MASK)
    }

    /// Steps 7 and 9 to 12.
    #[inline]
    fn store_registers(&mut self, scratchpad: &mut Scratchpad, item: &Item, aes: Aes) {
        let RegisterFile { r, f, e, .. } = &mut self.registers;
        for (register, word) in r.iter_mut().zip(item) {
            *register ^= word;
        }
        scratchpad.write_line(self.addresses[1], r.map(u64::to_le_bytes));

        match self.version {
            Version::V1 => {
                for (f, e) in f.iter_mut().zip(e) {
                    *f = *f ^ *e;
                }
            }
            Version::V2 => mix_by_aes(f, e, aes),
        }
        let mut line = [[0; 8]; 8];
        for (bytes, word) in line.iter_mut().zip(f.iter().flat_map(|pair| pair.to_bits())) {
            *bytes = word.to_le_bytes();
        }
        scratchpad.write_line(self.addresses[0], line);
        self.addresses = [0; 2];
    }
}

fn mix_by_aes(f: &mut [F64x2; 4], e: &[F64x2; 4], aes: Aes) {
    let column = |pair: &F64x2| bytemuck::must_cast(pair.to_bits().map(u64::to_le_bytes));
    let mut columns = f.each_ref().map(column);
    aes.mix_f_with_e(&mut columns, &e.each_ref().map(column));
    *f = columns.map(|column| {
        let halves: [[u8; 8]; 2] = bytemuck::must_cast(column);
        F64x2::from_bits(halves.map(u64::from_le_bytes))
    });
}

impl Default for Lane {
    fn default() -> Lane {
        Lane::new()
    }
}
