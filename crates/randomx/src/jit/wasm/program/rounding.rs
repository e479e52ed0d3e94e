//! Rounding modes as data, in functions for every mode.
//!
//! *Mirrored* registers hold numbers with the sign flipped, which turns one mode into another. Group F
//! is mirrored in mode Down, which makes it Up. Group E, whose numbers are positive, is mirrored in
//! mode Up: a result to be corrected is then above the exact one, as in Down and Zero.

use std::mem::offset_of;

use super::errors::Errors;
use super::{Function, PARAMETERS, call};
use crate::engine::Lane;
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{self, Body, Global, Local, Type};
use crate::jit::wasm::module::Module;
use crate::rounding::RoundingMode;

/// The local variables of code that rounds.
pub(super) struct Rounding {
    /// The distance from the exact result above which a result is corrected: infinity in Nearest, else zero.
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
    pub(super) errors: Errors,
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
            errors: Errors::new(body, features),
        }
    }

    /// Returns the variables that depend only on the mode and group A, each with the module's
    /// variable that keeps it from part to part and from iteration to iteration.
    fn kept(&self) -> impl Iterator<Item = (Local, Global)> {
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } = *self;
        let locals = [threshold, mirror_f, mirror_e, toward_zero, step_f, step_e]
            .into_iter()
            .chain(self.a_mirrored)
            .chain(self.errors.a());
        locals.zip((KEPT_MODE.0 + 1..).map(Global))
    }
}

/// The module's variable with the mode that the other variables are for. It begins with none of the modes.
const KEPT_MODE: Global = Global(0);

/// The module's first function. It sets the module's variables for the lane's mode.
const SET_MODE: assembler::Function = assembler::Function(0);

impl Function {
    /// Adds [`SET_MODE`] and the module's variables. Emits a call of [`SET_MODE`] at the start of an iteration whose mode
    /// is not [`KEPT_MODE`].
    pub(super) fn set_mode(features: Features, module: &mut Module, whole: &mut Body) {
        let mut function = Function::new(features, false, 0);
        let Some(rounding) = &function.rounding else { return };
        module.global_integer(-1);
        for _ in rounding.kept() {
            module.global_vector();
        }
        function.emit_mode();
        module.function(&PARAMETERS, &[], &function.body);

        Function::push_mode(whole);
        whole.global_get(KEPT_MODE);
        whole.i32_ne();
        whole.if_();
        call(whole, SET_MODE);
        whole.end();
    }

    /// Pushes the lane's mode in a function whose first parameter is the lane.
    pub(super) fn push_mode(body: &mut Body) {
        body.local_get(body.parameter(0));
        body.i32_load(MODE);
    }

    /// Emits [`SET_MODE`].
    fn emit_mode(&mut self) {
        self.load_group_a();
        let Function { body, locals, rounding: Some(rounding), .. } = self else { return };
        let Rounding { threshold, mirror_f, mirror_e, toward_zero, step_f, step_e, .. } = *rounding;
        Function::push_mode(body);
        body.global_set(KEPT_MODE);
        set_for_mode(body, RoundingMode::Nearest, INFINITY, 0, threshold);
        set_for_mode(body, RoundingMode::Down, SIGN, 0, mirror_f);
        set_for_mode(body, RoundingMode::Up, SIGN, 0, mirror_e);
        set_for_mode(body, RoundingMode::Zero, SIGN, 0, toward_zero);
        set_for_mode(body, RoundingMode::Zero, -2, 1, step_f);
        set_for_mode(body, RoundingMode::Up, 2, -1, step_e);
        for (mirrored, a) in rounding.a_mirrored.into_iter().zip(locals.a) {
            body.local_get(a);
            body.local_get(mirror_f);
            body.v128_xor();
            body.local_set(mirrored);
        }
        rounding.errors.set_constants(body);
        rounding.errors.split_a(body, &locals.a);
        for (local, global) in rounding.kept() {
            body.local_get(local);
            body.global_set(global);
        }
    }

    /// Emits loads of the mode's variables.
    pub(super) fn resume_rounding(&mut self) {
        let Function { body, rounding: Some(rounding), .. } = self else { return };
        for (local, global) in rounding.kept() {
            body.global_get(global);
            body.local_set(local);
        }
    }

    #[inline(never)]
    pub(super) fn set_rounding(&mut self, src: u8, count: u8, gate: u8) {
        let rotated = self.locals.word;
        self.body.block();
        self.push_rotated(self.r(src), count);
        self.body.local_set(rotated);
        if gate != 0 {
            self.body.local_get(rotated);
            self.body.i32_wrap_i64();
            self.body.i32_const(gate.into());
            self.body.i32_and();
            self.body.br_if(0);
        }
        self.body.local_get(self.locals.lane);
        self.body.local_get(rotated);
        self.body.i32_wrap_i64();
        self.body.i32_const(3);
        self.body.i32_and();
        self.body.i32_store(MODE);
        Function::push_mode(&mut self.body);
        self.body.global_get(KEPT_MODE);
        self.body.i32_eq();
        self.body.br_if(0);

        self.mirror();
        call(&mut self.body, SET_MODE);
        self.resume_rounding();
        self.mirror();
        self.body.end();
    }

    /// Mirrors groups F and E, or undoes that.
    pub(super) fn mirror(&mut self) {
        let Some(Rounding { mirror_f, mirror_e, .. }) = self.rounding else { return };
        self.flip(self.locals.f, mirror_f);
        self.flip(self.locals.e, mirror_e);
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
}

/// Sets both halves of `local` to `base`, plus `value` if the module's variables are for `mode`.
#[inline(never)]
fn set_for_mode(body: &mut Body, mode: RoundingMode, value: i64, base: i64, local: Local) {
    body.global_get(KEPT_MODE);
    body.i32_const(mode as i32);
    body.i32_eq();
    body.i64_extend_i32_u();
    body.i64_const(value);
    body.i64_mul();
    body.i64_const(base);
    body.i64_add();
    body.i64x2_splat();
    body.local_set(local);
}
