//! Rounding modes as data.
//!
//! *Mirrored* registers hold numbers with the sign flipped, which turns one mode into another. Group F
//! is mirrored in mode Down, which makes it Up. Group E, whose numbers are positive, is mirrored in
//! mode Up: a result to be corrected is then above the exact one, as in Down and Zero.

use std::mem::offset_of;

use super::Function;
use super::errors::Halves;
use crate::engine::Lane;
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Global, Local, Type};
use crate::rounding::RoundingMode;

/// The local variables of code that rounds.
pub(super) struct Rounding {
    /// `fprc`.
    pub(super) mode: Local,
    /// The number that an error must exceed to count: infinity in Nearest, else zero.
    pub(super) threshold: Local,
    /// The sign bit while group F is mirrored, else zero.
    pub(super) mirror_f: Local,
    /// The sign bit while group E is mirrored, else zero.
    pub(super) mirror_e: Local,
    /// The sign bit in mode Zero, else zero.
    pub(super) toward_zero: Local,
    /// The integer that corrects a positive number of group F, added to its encoding. A negative
    /// number takes -1.
    pub(super) step_f: Local,
    /// The integer that corrects a number of group E.
    pub(super) step_e: Local,
    /// Group A, mirrored while group F is.
    pub(super) a_mirrored: [Local; 4],
    /// `None` if a fused operation computes errors.
    pub(super) halves: Option<Halves>,
}

/// The offset of the mode in a lane.
const MODE: u32 = offset_of!(Lane, rounding_mode) as u32;

const SIGN: i64 = i64::MIN;
const INFINITY: i64 = 0x7ff << 52;

impl Rounding {
    pub(super) fn new(body: &mut Body, features: Features) -> Rounding {
        let [threshold, mirror_f, mirror_e, toward_zero, step_f, step_e] = body.locals(Type::V128);
        Rounding {
            threshold,
            mirror_f,
            mirror_e,
            toward_zero,
            step_f,
            step_e,
            a_mirrored: body.locals(Type::V128),
            halves: (!features.fused_multiply_add).then(|| Halves::new(body)),
            mode: body.local(Type::I32),
        }
    }

    /// Returns the variables that depend only on the mode and group A, each with the module's
    /// variable that passes it to later parts.
    pub(super) fn mode_locals(&self) -> impl Iterator<Item = (Local, Global)> {
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } = *self;
        let locals = [threshold, mirror_f, mirror_e, toward_zero, step_f, step_e]
            .into_iter()
            .chain(self.a_mirrored)
            .chain(self.halves.iter().flat_map(Halves::a));
        locals.zip((0..).map(Global))
    }
}

impl Function {
    /// Emits the start of a program: sets constants and the variables of the lane's mode, and mirrors
    /// groups F and E if the mode asks for it.
    pub(super) fn enter_rounding(&mut self) {
        self.body.local_get(self.locals.lane);
        self.body.i32_load(MODE);
        self.body.local_set(self.rounding.mode);
        self.set_mode_locals();
        self.mirror_a();
        if let Some(halves) = &self.rounding.halves {
            halves.set_constants(&mut self.body);
            halves.split_a(&mut self.body, &self.locals.a);
        }
        self.save_mode_locals();
        self.mirror();
    }

    /// Emits the start of a later part: sets constants and loads the variables that the part before
    /// has saved.
    pub(super) fn resume_rounding(&mut self) {
        if let Some(halves) = &self.rounding.halves {
            halves.set_constants(&mut self.body);
        }
        for (local, global) in self.rounding.mode_locals() {
            self.body.global_get(global);
            self.body.local_set(local);
        }
    }

    #[inline(never)]
    pub(super) fn set_rounding(&mut self, src: u8, count: u8, gate: u8) {
        let rotated = self.locals.word;
        self.body.block();
        self.body.local_get(self.r(src));
        self.body.i64_const(count.into());
        self.body.i64_rotr();
        self.body.local_set(rotated);
        if gate != 0 {
            self.body.local_get(rotated);
            self.body.i32_wrap_i64();
            self.body.i32_const(gate.into());
            self.body.i32_and();
            self.body.br_if(0);
        }
        self.body.local_get(rotated);
        self.body.i32_wrap_i64();
        self.body.i32_const(3);
        self.body.i32_and();
        self.body.local_set(self.rounding.mode);
        self.body.local_get(self.locals.lane);
        self.body.local_get(self.rounding.mode);
        self.body.i32_store(MODE);

        let change = self.locals.operand;
        self.body.local_get(self.rounding.mirror_f);
        self.body.local_get(self.rounding.mirror_e);
        self.set_mode_locals();
        self.body.local_get(self.rounding.mirror_e);
        self.body.v128_xor();
        self.body.local_set(change);
        self.flip(self.locals.e, change);
        self.body.local_get(self.rounding.mirror_f);
        self.body.v128_xor();
        self.body.local_set(change);
        self.flip(self.locals.f, change);
        self.mirror_a();
        self.save_mode_locals();
        self.body.end();
    }

    /// Saves the variables of the mode for later parts.
    fn save_mode_locals(&mut self) {
        for (local, global) in self.rounding.mode_locals() {
            self.body.local_get(local);
            self.body.global_set(global);
        }
    }

    /// Mirrors groups F and E, or undoes that.
    pub(super) fn mirror(&mut self) {
        self.flip(self.locals.f, self.rounding.mirror_f);
        self.flip(self.locals.e, self.rounding.mirror_e);
    }

    #[inline(never)]
    fn flip(&mut self, registers: [Local; 4], sign: Local) {
        for register in registers {
            self.body.local_get(register);
            self.body.local_get(sign);
            self.body.v128_xor();
            self.body.local_set(register);
        }
    }

    fn mirror_a(&mut self) {
        for (mirrored, a) in self.rounding.a_mirrored.into_iter().zip(self.locals.a) {
            self.body.local_get(a);
            self.body.local_get(self.rounding.mirror_f);
            self.body.v128_xor();
            self.body.local_set(mirrored);
        }
    }

    /// Sets the variables that depend on the mode.
    fn set_mode_locals(&mut self) {
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } =
            self.rounding;
        self.set_for_mode(RoundingMode::Nearest, INFINITY, 0, threshold);
        self.set_for_mode(RoundingMode::Down, SIGN, 0, mirror_f);
        self.set_for_mode(RoundingMode::Up, SIGN, 0, mirror_e);
        self.set_for_mode(RoundingMode::Zero, SIGN, 0, toward_zero);
        self.set_for_mode(RoundingMode::Zero, -2, 1, step_f);
        self.set_for_mode(RoundingMode::Up, 2, -1, step_e);
    }

    /// Sets both halves of `local` to `base`, plus `value` if the mode is `mode`.
    #[inline(never)]
    fn set_for_mode(&mut self, mode: RoundingMode, value: i64, base: i64, local: Local) {
        self.body.local_get(self.rounding.mode);
        self.body.i32_const(mode as i32);
        self.body.i32_eq();
        self.body.i64_extend_i32_u();
        self.body.i64_const(value);
        self.body.i64_mul();
        if base != 0 {
            self.body.i64_const(base);
            self.body.i64_add();
        }
        self.body.i64x2_splat();
        self.body.local_set(local);
    }
}
