//! Rounding modes as data.
//!
//! Registers of a group are *mirrored*, with the sign flipped, while that makes one mode into another:
//! group F where the mode is Down, so that it is Up; group E, which is positive otherwise, where it is
//! Up, so that its results are too large where they are more than exact, as in Down and Zero.

use std::mem::offset_of;

use super::Function;
use super::errors::Halves;
use crate::engine::Lane;
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Global, Local, Type};
use crate::rounding::RoundingMode;

/// What code that rounds refers to.
pub(super) struct Rounding {
    /// `fprc`.
    pub(super) mode: Local,
    /// What an error must exceed to count: zero, or infinity in Nearest.
    pub(super) threshold: Local,
    /// The sign where group F is mirrored, else zero.
    pub(super) mirror_f: Local,
    /// The sign where group E is mirrored, else zero.
    pub(super) mirror_e: Local,
    /// The sign in mode Zero, else zero.
    pub(super) toward_zero: Local,
    /// What corrects a positive number of group F: an integer to add to its encoding. A negative
    /// one takes -1.
    pub(super) step_f: Local,
    /// What corrects any number of group E.
    pub(super) step_e: Local,
    /// Group A, mirrored as group F is.
    pub(super) a_mirrored: [Local; 4],
    /// None where a fused operation gives errors.
    pub(super) halves: Option<Halves>,
}

/// Where the lane has its mode.
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

    /// What stays the same until the mode changes, in the order of the module's variables.
    pub(super) fn lasting(&self) -> impl Iterator<Item = (Local, Global)> {
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } = *self;
        let locals = [threshold, mirror_f, mirror_e, toward_zero, step_f, step_e]
            .into_iter()
            .chain(self.a_mirrored)
            .chain(self.halves.iter().flat_map(Halves::a));
        locals.zip((0..).map(Global))
    }
}

impl Function {
    /// Sets up what is constant, and the mode that the lane is in, while groups F and E are not yet
    /// mirrored.
    pub(super) fn enter_rounding(&mut self) {
        self.body.local_get(self.locals.lane);
        self.body.i32_load(MODE);
        self.body.local_set(self.rounding.mode);
        self.follow_mode();
        self.mirror_a();
        if let Some(halves) = &self.rounding.halves {
            halves.set_constants(&mut self.body);
            halves.split_a(&mut self.body, &self.locals.a);
        }
        self.keep();
        self.mirror();
    }

    /// Sets up the same as an earlier part of the program has left it, which needs no arithmetic.
    pub(super) fn enter_rounding_again(&mut self) {
        if let Some(halves) = &self.rounding.halves {
            halves.set_constants(&mut self.body);
        }
        for (local, global) in self.rounding.lasting() {
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
        self.follow_mode();
        self.body.local_get(self.rounding.mirror_e);
        self.body.v128_xor();
        self.body.local_set(change);
        self.flip(self.locals.e, change);
        self.body.local_get(self.rounding.mirror_f);
        self.body.v128_xor();
        self.body.local_set(change);
        self.flip(self.locals.f, change);
        self.mirror_a();
        self.keep();
        self.body.end();
    }

    /// Leaves to later parts of the program what lasts.
    fn keep(&mut self) {
        for (local, global) in self.rounding.lasting() {
            self.body.local_get(local);
            self.body.global_set(global);
        }
    }

    /// Mirrors groups F and E, or takes that back.
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

    /// Sets what depends on the mode.
    fn follow_mode(&mut self) {
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } =
            self.rounding;
        self.spread(RoundingMode::Nearest, INFINITY, 0, threshold);
        self.spread(RoundingMode::Down, SIGN, 0, mirror_f);
        self.spread(RoundingMode::Up, SIGN, 0, mirror_e);
        self.spread(RoundingMode::Zero, SIGN, 0, toward_zero);
        self.spread(RoundingMode::Zero, -2, 1, step_f);
        self.spread(RoundingMode::Up, 2, -1, step_e);
    }

    /// In both halves of `local`: `value` in one mode and zero in others, plus `base`.
    #[inline(never)]
    fn spread(&mut self, mode: RoundingMode, value: i64, base: i64, local: Local) {
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
