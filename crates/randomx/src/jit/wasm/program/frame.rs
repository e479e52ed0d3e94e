//! The code around a program's instructions: registers, and steps 1 to 3, 5, 6 and 8.

use std::mem::offset_of;

use super::{Function, Scope};
use crate::engine::{GROUP_E_KEPT, Lane};
use crate::jit::wasm::assembler::{Body, Local, Type};
use crate::params::Version;
use crate::program::Configuration;
use crate::registers::RegisterFile;
use crate::scratchpad::L3_MASK_64;

/// Parameters, registers and temporaries.
pub(super) struct Locals {
    /// The address of the [`Lane`].
    pub(super) lane: Local,
    /// The address of the scratchpad.
    pub(super) scratchpad: Local,
    pub(super) r: [Local; 8],
    pub(super) f: [Local; 4],
    pub(super) e: [Local; 4],
    pub(super) a: [Local; 4],
    /// The program's [`Configuration::e_mask`].
    pub(super) e_mask: Local,
    /// [`GROUP_E_KEPT`], twice.
    pub(super) kept: Local,
    pub(super) operand: Local,
    pub(super) result: Local,
    pub(super) part: Local,
    pub(super) word: Local,
    pub(super) source: Local,
    pub(super) halves: [Local; 4],
    lines: [Local; 2],
}

const R: usize = offset_of!(Lane, registers) + offset_of!(RegisterFile, r);
const F: usize = offset_of!(Lane, registers) + offset_of!(RegisterFile, f);
const E: usize = offset_of!(Lane, registers) + offset_of!(RegisterFile, e);
const A: usize = offset_of!(Lane, registers) + offset_of!(RegisterFile, a);
const E_MASK: u32 = offset_of!(Lane, e_mask) as u32;
const ADDRESSES: usize = offset_of!(Lane, addresses);
const MA: u32 = offset_of!(Lane, ma) as u32;
const MX: u32 = offset_of!(Lane, mx) as u32;
const ITEM_ADDRESS: u32 = offset_of!(Lane, item_address) as u32;

impl Locals {
    pub(super) fn new(body: &mut Body) -> Locals {
        Locals {
            lane: body.parameter(0),
            scratchpad: body.parameter(1),
            r: body.locals(Type::I64),
            word: body.local(Type::I64),
            source: body.local(Type::I64),
            halves: body.locals(Type::I64),
            lines: body.locals(Type::I32),
            f: body.locals(Type::V128),
            e: body.locals(Type::V128),
            a: body.locals(Type::V128),
            e_mask: body.local(Type::V128),
            kept: body.local(Type::V128),
            operand: body.local(Type::V128),
            result: body.local(Type::V128),
            part: body.local(Type::V128),
        }
    }
}

impl Function {
    /// Emits the start of a program.
    pub(super) fn enter(&mut self, scope: Scope, configuration: &Configuration) {
        self.load_constants();
        match scope {
            Scope::Iteration => self.load_lines(configuration),
            Scope::Instructions => self.load_registers(),
        }
        self.resume_rounding();
        self.mirror();
    }

    /// Emits the end of a part before the last. Registers stay mirrored.
    pub(super) fn pause(&mut self) {
        self.store_registers();
    }

    /// Emits the start of a part after the first.
    pub(super) fn resume(&mut self) {
        self.load_constants();
        self.load_registers();
        self.resume_rounding();
    }

    /// Emits the end of a program.
    pub(super) fn leave(&mut self, scope: Scope, version: Version, configuration: &Configuration) {
        self.mirror();
        self.store_registers();
        if scope == Scope::Iteration {
            self.choose_item(version, configuration);
        }
    }

    /// Emits the start of a part, before its registers are loaded.
    fn load_constants(&mut self) {
        self.load_group_a();
        if let Some(rounding) = &self.rounding {
            rounding.errors.set_constants(&mut self.body);
        }
        self.body.local_get(self.locals.lane);
        self.body.v128_load(E_MASK);
        self.body.local_set(self.locals.e_mask);
        self.body.v128_const(u128::from(GROUP_E_KEPT) << 64 | u128::from(GROUP_E_KEPT));
        self.body.local_set(self.locals.kept);
    }

    pub(super) fn load_group_a(&mut self) {
        self.load_vectors(self.locals.a, self.locals.lane, A);
    }

    fn load_registers(&mut self) {
        for i in 0..8 {
            self.body.local_get(self.locals.lane);
            self.body.i64_load((R + 8 * i) as u32);
            self.body.local_set(self.locals.r[i]);
        }
        self.load_vectors(self.locals.f, self.locals.lane, F);
        self.load_vectors(self.locals.e, self.locals.lane, E);
    }

    fn store_registers(&mut self) {
        let lane = self.locals.lane;
        for i in 0..8 {
            self.body.local_get(lane);
            self.body.local_get(self.locals.r[i]);
            self.body.i64_store((R + 8 * i) as u32);
        }
        for i in 0..4 {
            self.body.local_get(lane);
            self.body.local_get(self.locals.f[i]);
            self.body.v128_store((F + 16 * i) as u32);
            self.body.local_get(lane);
            self.body.local_get(self.locals.e[i]);
            self.body.v128_store((E + 16 * i) as u32);
        }
    }

    /// Emits steps 1 to 3.
    fn load_lines(&mut self, configuration: &Configuration) {
        let lane = self.locals.lane;
        let [first, second, ..] = configuration.read_registers;
        self.push_mix(first, second, |function, register| {
            function.body.local_get(lane);
            function.body.i64_load((R + 8 * usize::from(register)) as u32);
        });
        self.body.local_set(self.locals.word);
        for (i, line) in self.locals.lines.into_iter().enumerate() {
            let address = (ADDRESSES + 4 * i) as u32;
            self.body.local_get(lane);
            self.body.local_get(lane);
            self.body.i32_load(address);
            self.body.local_get(self.locals.word);
            if i == 1 {
                self.body.i64_const(32);
                self.body.i64_shr_u();
            }
            self.body.i32_wrap_i64();
            self.body.i32_xor();
            self.body.local_tee(line);
            self.body.i32_store(address);
            self.body.local_get(line);
            self.body.i32_const(L3_MASK_64 as i32);
            self.body.i32_and();
            self.body.local_get(self.locals.scratchpad);
            self.body.i32_add();
            self.body.local_set(line);
        }
        let [integers, floats] = self.locals.lines;
        for i in 0..8 {
            self.body.local_get(lane);
            self.body.i64_load((R + 8 * i) as u32);
            self.body.local_get(integers);
            self.body.i64_load(8 * i as u32);
            self.body.i64_xor();
            self.body.local_set(self.locals.r[i]);
        }
        for i in 0..4 {
            self.body.local_get(floats);
            self.load_group_f(8 * i as u32);
            self.body.local_set(self.locals.f[i]);
            self.body.local_get(floats);
            self.load_group_e(8 * i as u32 + 32);
            self.body.local_set(self.locals.e[i]);
        }
    }

    /// Emits steps 5, 6 and 8.
    fn choose_item(&mut self, version: Version, configuration: &Configuration) {
        let lane = self.locals.lane;
        let [.., first, second] = configuration.read_registers;
        let [ma, mx] = self.locals.lines;
        for (local, offset) in [(ma, MA), (mx, MX)] {
            self.body.local_get(lane);
            self.body.i32_load(offset);
            self.body.local_set(local);
        }
        self.body.local_get(lane);
        self.body.local_get(ma);
        self.body.i32_store(ITEM_ADDRESS);
        let changed = match version {
            Version::V1 => mx,
            Version::V2 => ma,
        };
        self.body.local_get(changed);
        self.push_mix(first, second, |function, register| {
            function.body.local_get(function.r(register));
        });
        self.body.i32_wrap_i64();
        self.body.i32_xor();
        self.body.local_set(changed);
        for (local, offset) in [(ma, MX), (mx, MA)] {
            self.body.local_get(lane);
            self.body.local_get(local);
            self.body.i32_store(offset);
        }
    }

    fn push_mix(&mut self, first: u8, second: u8, push: impl Fn(&mut Self, u8)) {
        push(self, first & 7);
        push(self, second & 7);
        self.body.i64_xor();
    }

    fn load_vectors(&mut self, registers: [Local; 4], address: Local, offset: usize) {
        for (i, register) in registers.into_iter().enumerate() {
            self.body.local_get(address);
            self.body.v128_load((offset + 16 * i) as u32);
            self.body.local_set(register);
        }
    }
}
