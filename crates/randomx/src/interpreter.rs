//! The reference engine: safe, portable, and the oracle for the other engines.

mod step;
mod tracer;

pub use tracer::Tracer;

use step::{Kind, Step};

use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{Engine, EngineKind, ItemPrefetches, Lane, LaneContext, read_ahead};
use crate::f64x2::F64x2;
use crate::multiply::{multiply_high, signed_excess};
use crate::params::{JUMP_BITS, PROGRAM_ITERATIONS, Version};
use crate::program::{Address, Program, decode_dyn};
use crate::rounding::{self, RoundingMode};
use crate::scratchpad::{L3_MASK_64, Scratchpad};
use crate::superscalar::Item;

/// Runs programs step by step.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    aes: Aes,
}

/// A program as steps, with the parameters of its loop.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    steps: Vec<Step>,
    version: Version,
    read_registers: [u8; 4],
}

impl Steps {
    /// Returns the steps of a program.
    pub fn of(program: &Program) -> Steps {
        let mut steps = Steps::default();
        steps.decode(program);
        steps
    }

    /// Decodes a program, in the memory of the one before.
    pub(crate) fn decode(&mut self, program: &Program) {
        self.steps.clear();
        decode_dyn(&program.instructions, program.version, &mut self.steps);
        self.version = program.version;
        self.read_registers = program.configuration.read_registers;
    }
}

impl Interpreter {
    /// Creates an interpreter. `cpu` decides how the loop of v2 computes AES.
    pub fn new(cpu: Cpu) -> Interpreter {
        Interpreter { aes: Aes::new(cpu) }
    }

    /// Runs steps 1 to 6 and 8 in one lane, and reports them to `tracer`.
    pub(crate) fn begin_lane(
        &self,
        context: &mut LaneContext<'_, Steps>,
        tracer: &mut impl Tracer,
    ) {
        let LaneContext { code, lane, scratchpad } = context;
        lane.load_registers(scratchpad, code.read_registers);
        tracer.iteration(lane.addresses.map(|address| address & L3_MASK_64), &lane.registers);
        code.execute(lane, scratchpad, tracer);
        tracer.executed(&lane.registers);
        lane.choose_item(code.version, code.read_registers);
    }

    /// Runs steps 7 and 9 to 12 in one lane, and reports them to `tracer`.
    // Several callers; one copy keeps the download small.
    #[inline(never)]
    pub(crate) fn end_lane(
        &self,
        context: &mut LaneContext<'_, Steps>,
        item: &Item,
        tracer: &mut impl Tracer,
    ) {
        let LaneContext { code, lane, scratchpad } = context;
        tracer.item(lane.items()[0], item);
        lane.store_registers(scratchpad, item, code.version, self.aes);
        tracer.iterated(&lane.registers);
    }
}

impl Steps {
    /// Runs step 4.
    #[inline(always)]
    fn execute(&self, lane: &mut Lane, scratchpad: &mut Scratchpad, tracer: &mut impl Tracer) {
        let mut state = State::new(lane, scratchpad);
        state.run(&self.steps, tracer);
        state.leave(lane);
    }
}

impl Engine for Interpreter {
    const KIND: EngineKind = EngineKind::Interpreter;

    type Code = Steps;

    fn load(&self, program: &Program, _: RoundingMode, code: &mut Steps) {
        code.decode(program);
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Steps>]) {
        read_ahead(lanes, |code| code.read_registers);
        for context in lanes {
            self.begin_lane(context, &mut ());
        }
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Steps>], items: &[Item]) {
        assert!(lanes.len() == items.len(), "one item per lane");
        for (context, item) in lanes.iter_mut().zip(items) {
            self.end_lane(context, item, &mut ());
        }
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let code = Steps::of(program);
        code.execute(lane, scratchpad, &mut ());
    }

    fn run(&self, lanes: &mut [LaneContext<'_, Steps>], dataset: &[Item], _: ItemPrefetches) {
        for _ in 0..PROGRAM_ITERATIONS {
            for context in &mut *lanes {
                self.begin_lane(context, &mut ());
                let window = context.lane.window(dataset);
                self.end_lane(context, &window[context.lane.item_in_window()], &mut ());
            }
        }
    }
}

/// The bits that a branch tests, once the register is shifted right.
const CONDITION: u64 = (1 << JUMP_BITS) - 1;

/// The registers while a program runs.
struct State<'a> {
    /// `r[8]` is the zero register. The array is longer because a power of two needs no bounds
    /// checks.
    r: [u64; 16],
    /// Groups F and E.
    x: [F64x2; 8],
    a: [F64x2; 4],
    e_mask: F64x2,
    mode: RoundingMode,
    scratchpad: &'a mut Scratchpad,
}

impl<'a> State<'a> {
    #[inline(always)]
    fn new(lane: &Lane, scratchpad: &'a mut Scratchpad) -> State<'a> {
        let registers = &lane.registers;
        let mut r = [0; 16];
        r[..8].copy_from_slice(&registers.r);
        let mut x = [F64x2::ZERO; 8];
        x[..4].copy_from_slice(&registers.f);
        x[4..].copy_from_slice(&registers.e);
        let (a, e_mask, mode) = (registers.a, lane.e_mask, lane.rounding_mode);
        State { r, x, a, e_mask, mode, scratchpad }
    }

    #[inline(always)]
    fn leave(self, lane: &mut Lane) {
        lane.registers.r.copy_from_slice(&self.r[..8]);
        lane.registers.f.copy_from_slice(&self.x[..4]);
        lane.registers.e.copy_from_slice(&self.x[4..]);
        lane.rounding_mode = self.mode;
    }

    #[inline(always)]
    fn run(&mut self, steps: &[Step], tracer: &mut impl Tracer) {
        let mut next = 0;
        while let Some(step) = steps.get(next) {
            tracer.instruction(next);
            if step.from_memory != 0 {
                tracer.read(self.locate(step.address), step.address.mask);
            }
            next += 1;
            if step.is_float() {
                self.run_float(step);
                tracer.float(step.dst, self.x[usize::from(step.dst & 7)]);
            } else if step.is(Kind::Branch) {
                self.update(step, |d| d.wrapping_add(step.constant));
                let taken = self.integer(step.dst) >> (step.shift & 63) & CONDITION == 0;
                tracer.branch(taken);
                if taken {
                    next = usize::from(step.target);
                }
            } else {
                self.run_integer(step, tracer);
            }
        }
    }

    #[inline(always)]
    fn run_integer(&mut self, step: &Step, tracer: &mut impl Tracer) {
        let flip = step.flip_src as u64;
        if step.is(Kind::Add) {
            let s = (self.source(step) << (step.shift & 3)) ^ flip;
            let flip_dst = step.flip_dst as u64;
            self.update(step, |d| (d ^ flip_dst).wrapping_add(s).wrapping_add(step.constant));
        } else if step.is(Kind::Mul) {
            let s = self.source(step) | step.constant;
            self.update(step, |d| d.wrapping_mul(s));
        } else if step.is(Kind::Xor) {
            let s = self.source(step) ^ step.constant;
            self.update(step, |d| d ^ s);
        } else if step.is(Kind::Store) {
            let bytes = self.integer(step.src).to_le_bytes();
            let address = self.locate(step.address);
            tracer.write(address, step.address.mask);
            self.scratchpad.write(address, bytes);
        } else if step.is(Kind::Rotate) {
            let count = (self.source(step) ^ flip).wrapping_add(step.constant);
            self.update(step, |d| d.rotate_right(count as u32 & 63));
        } else if step.is(Kind::MulHigh) {
            let s = self.source(step);
            self.update(step, |d| multiply_high(d, s).wrapping_sub(signed_excess(d, s) & flip));
        } else if step.is(Kind::Swap) {
            self.r.swap(usize::from(step.dst & 7), usize::from(step.src & 7));
        } else {
            let rotated = self.integer(step.src).rotate_right(u32::from(step.shift));
            if rotated & step.constant == 0 {
                self.mode = RoundingMode::from_fprc(rotated);
                tracer.rounding(self.mode);
            }
        }
    }

    #[inline(always)]
    fn run_float(&mut self, step: &Step) {
        let mode = self.mode;
        if step.is(Kind::FloatAdd) {
            let s = self.float_source(step);
            self.update_float(step, |d| rounding::add(d, s, mode));
        } else if step.is(Kind::FloatMul) {
            let s = self.a[usize::from(step.src & 3)];
            self.update_float(step, |d| rounding::mul(d, s, mode));
        } else if step.is(Kind::FloatSqrt) {
            self.update_float(step, |d| rounding::sqrt(d, mode));
        } else if step.is(Kind::FloatDiv) {
            let s = Lane::group_e(self.e_mask, self.read(step.address));
            self.update_float(step, |d| rounding::div(d, s, mode));
        } else if step.is(Kind::FloatScale) {
            self.update_float(step, |d| d ^ F64x2::splat_bits(step.constant));
        } else {
            self.update_float(step, F64x2::swap);
        }
    }

    /// Returns the source of an integer step, register or memory, without a branch.
    #[inline(always)]
    fn source(&self, step: &Step) -> u64 {
        let memory = step.from_memory as u64;
        let loaded = u64::from_le_bytes(self.read(step.address));
        (loaded & memory) | self.integer(step.src)
    }

    /// Returns the source of FADD or FSUB, register or memory, without a branch.
    #[inline(always)]
    fn float_source(&self, step: &Step) -> F64x2 {
        let memory = F64x2::splat_bits(step.from_memory as u64);
        let sign = F64x2::splat_bits((step.flip_src as u64) << 63);
        let loaded = F64x2::from_integers(self.read(step.address));
        let register = self.a[usize::from(step.src & 3)];
        (((loaded ^ register) & memory) ^ register) ^ sign
    }

    #[inline(always)]
    fn integer(&self, register: u8) -> u64 {
        self.r[usize::from(register & 15)]
    }

    #[inline(always)]
    fn update(&mut self, step: &Step, f: impl FnOnce(u64) -> u64) {
        let register = &mut self.r[usize::from(step.dst & 7)];
        *register = f(*register);
    }

    #[inline(always)]
    fn update_float(&mut self, step: &Step, f: impl FnOnce(F64x2) -> F64x2) {
        let register = &mut self.x[usize::from(step.dst & 7)];
        *register = f(*register);
    }

    #[inline(always)]
    fn locate(&self, address: Address) -> u32 {
        (self.integer(address.register) as u32).wrapping_add(address.offset) & address.mask
    }

    #[inline(always)]
    fn read(&self, address: Address) -> [u8; 8] {
        self.scratchpad.read(self.locate(address))
    }
}
