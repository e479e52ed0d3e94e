//! Function bodies of WebAssembly modules, written operation by operation.
//!
//! Each method appends the operation of its name in the specification of WebAssembly 3.0 and takes
//! its immediate operands. The caller keeps track of the operands on the stack. An invalid body is
//! harmless: the engine that compiles a module validates it.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Type {
    /// An integer of 32 bits, or an address.
    I32 = 0x7f,
    /// An integer of 64 bits.
    I64 = 0x7e,
    /// A vector of 128 bits.
    V128 = 0x7b,
}

/// A parameter or local variable of a [`Body`]'s function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local(u32);

/// A variable of a module, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global(pub(super) u32);

/// A function, by its index in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function(pub(super) u32);

/// The code of a function and its local variables.
#[derive(Clone, Debug, Default)]
pub struct Body {
    parameters: u32,
    /// Local variables after the parameters, as runs of one type.
    locals: Vec<(u32, Type)>,
    code: Vec<u8>,
}

impl Body {
    /// Makes an empty body for a function with `parameters` parameters.
    pub fn new(parameters: u32) -> Body {
        Body { parameters, ..Body::default() }
    }

    /// Returns a parameter, counted from 0.
    pub fn parameter(&self, index: u32) -> Local {
        debug_assert!(index < self.parameters, "parameter {index} of {}", self.parameters);
        Local(index)
    }

    /// Adds a local variable, which starts as zero.
    #[inline(never)]
    pub fn local(&mut self, of: Type) -> Local {
        let index = self.parameters + self.locals.iter().map(|(count, _)| count).sum::<u32>();
        match self.locals.last_mut() {
            Some((count, last)) if *last == of => *count += 1,
            _ => self.locals.push((1, of)),
        }
        Local(index)
    }

    /// Adds local variables of one type.
    pub fn locals<const N: usize>(&mut self, of: Type) -> [Local; N] {
        std::array::from_fn(|_| self.local(of))
    }

    /// Returns the length of the code in bytes.
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    /// Returns the code, without the function's final `end`.
    pub(super) fn code(&self) -> &[u8] {
        &self.code
    }

    /// Opens a loop at offset `place`, so that all code after it is in the loop.
    pub fn open_loop_at(&mut self, place: usize) {
        self.code.splice(place..place, [LOOP, EMPTY]);
    }

    /// Appends the entry of the code section, which starts with its length.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let mut locals = Vec::with_capacity(16);
        unsigned(&mut locals, self.locals.len() as u64);
        for &(count, of) in &self.locals {
            unsigned(&mut locals, count.into());
            locals.push(of as u8);
        }
        const END: u8 = 0x0b;
        unsigned(bytes, (locals.len() + self.code.len() + 1) as u64);
        bytes.extend_from_slice(&locals);
        bytes.extend_from_slice(&self.code);
        bytes.push(END);
    }
}

/// Appends an unsigned number in LEB128.
#[inline(never)]
pub(super) fn unsigned(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a signed number in LEB128.
#[inline(never)]
pub(super) fn signed(bytes: &mut Vec<u8>, mut value: i64) {
    while !(-0x40..0x40).contains(&value) {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8 & 0x7f);
}

/// The prefix of vector operations.
const VECTOR: u8 = 0xfd;

/// Defines operations without immediate operands, by the bytes of their opcodes.
macro_rules! plain {
    ($($name:ident = $opcode:expr;)*) => {
        /// Operations without immediate operands.
        #[allow(missing_docs)]
        impl Body {
            $(
                #[inline]
                pub fn $name(&mut self) {
                    self.write(&$opcode);
                }
            )*
        }

        #[cfg(test)]
        const PLAIN: &[(&str, fn(&mut Body))] = &[$((stringify!($name), Body::$name)),*];
    };
}

plain! {
    unreachable = [0x00];
    else_ = [0x05];
    end = [0x0b];
    drop_ = [0x1a];
    select = [0x1b];
    i32_eqz = [0x45];
    i32_eq = [0x46];
    i32_ne = [0x47];
    i32_lt_u = [0x49];
    i64_eqz = [0x50];
    i32_add = [0x6a];
    i32_sub = [0x6b];
    i32_and = [0x71];
    i32_xor = [0x73];
    i32_shl = [0x74];
    i64_add = [0x7c];
    i64_sub = [0x7d];
    i64_mul = [0x7e];
    i64_or = [0x84];
    i64_xor = [0x85];
    i64_shl = [0x86];
    i64_shr_s = [0x87];
    i64_shr_u = [0x88];
    i64_rotr = [0x8a];
    i32_wrap_i64 = [0xa7];
    i64_extend_i32_u = [0xad];
    // Wide arithmetic: pushes the low half, then the high half.
    i64_mul_wide_s = [0xfc, 0x15];
    i64_mul_wide_u = [0xfc, 0x16];
    i8x16_swizzle = [VECTOR, 0x0e];
    i64x2_splat = [VECTOR, 0x12];
    f64x2_eq = [VECTOR, 0x47];
    f64x2_gt = [VECTOR, 0x4a];
    v128_and = [VECTOR, 0x4e];
    // The first operand AND the complement of the second.
    v128_andnot = [VECTOR, 0x4f];
    v128_or = [VECTOR, 0x50];
    v128_xor = [VECTOR, 0x51];
    v128_bitselect = [VECTOR, 0x52];
    i64x2_shr_u = [VECTOR, 0xcd, 0x01];
    i64x2_add = [VECTOR, 0xce, 0x01];
    i64x2_lt_s = [VECTOR, 0xd8, 0x01];
    i64x2_extmul_low_i32x4_u = [VECTOR, 0xde, 0x01];
    i64x2_extmul_high_i32x4_u = [VECTOR, 0xdf, 0x01];
    f64x2_neg = [VECTOR, 0xed, 0x01];
    f64x2_sqrt = [VECTOR, 0xef, 0x01];
    f64x2_add = [VECTOR, 0xf0, 0x01];
    f64x2_sub = [VECTOR, 0xf1, 0x01];
    f64x2_mul = [VECTOR, 0xf2, 0x01];
    f64x2_div = [VECTOR, 0xf3, 0x01];
    f64x2_convert_low_i32x4_s = [VECTOR, 0xfe, 0x01];
    // Relaxed SIMD: a * b + c and c - a * b. The engine chooses whether to round once or twice.
    f64x2_relaxed_madd = [VECTOR, 0x87, 0x02];
    f64x2_relaxed_nmadd = [VECTOR, 0x88, 0x02];
}

/// Defines loads and stores, by their opcode and the binary logarithm of their natural alignment.
macro_rules! memory {
    ($($name:ident = $opcode:expr, $alignment:expr;)*) => {
        /// Loads and stores at an address plus a constant offset.
        #[allow(missing_docs)]
        impl Body {
            $(
                #[inline]
                pub fn $name(&mut self, offset: u32) {
                    self.memory(&$opcode, $alignment, offset);
                }
            )*
        }

        #[cfg(test)]
        const MEMORY: &[(&str, fn(&mut Body, u32))] = &[$((stringify!($name), Body::$name)),*];
    };
}

memory! {
    i32_load = [0x28], 2;
    i64_load = [0x29], 3;
    i64_load32_u = [0x35], 2;
    i32_store = [0x36], 2;
    i64_store = [0x37], 3;
    v128_load = [VECTOR, 0x00], 4;
    v128_load64_zero = [VECTOR, 0x5d], 3;
    v128_store = [VECTOR, 0x0b], 4;
}

/// Operations with other immediate operands.
#[allow(missing_docs)]
impl Body {
    /// Opens a block without parameters and results.
    #[inline]
    pub fn block(&mut self) {
        self.write(&[0x02, EMPTY]);
    }

    /// Opens a block whose label is at its start.
    #[inline]
    pub fn loop_(&mut self) {
        self.write(&[LOOP, EMPTY]);
    }

    #[inline]
    pub fn if_(&mut self) {
        self.write(&[0x04, EMPTY]);
    }

    /// `depth` is 0 for the innermost block.
    #[inline]
    pub fn br(&mut self, depth: u32) {
        self.indexed(0x0c, depth);
    }

    #[inline]
    pub fn br_if(&mut self, depth: u32) {
        self.indexed(0x0d, depth);
    }

    #[inline]
    pub fn call(&mut self, function: Function) {
        self.indexed(0x10, function.0);
    }

    #[inline]
    pub fn local_get(&mut self, local: Local) {
        self.indexed(0x20, local.0);
    }

    #[inline]
    pub fn local_set(&mut self, local: Local) {
        self.indexed(0x21, local.0);
    }

    #[inline]
    pub fn local_tee(&mut self, local: Local) {
        self.indexed(0x22, local.0);
    }

    #[inline]
    pub fn global_get(&mut self, global: Global) {
        self.indexed(0x23, global.0);
    }

    #[inline]
    pub fn global_set(&mut self, global: Global) {
        self.indexed(0x24, global.0);
    }

    #[inline(never)]
    pub fn i32_const(&mut self, value: i32) {
        self.code.push(0x41);
        signed(&mut self.code, value.into());
    }

    #[inline(never)]
    pub fn i64_const(&mut self, value: i64) {
        self.code.push(0x42);
        signed(&mut self.code, value);
    }

    #[inline(never)]
    pub fn v128_const(&mut self, value: u128) {
        self.write(&[VECTOR, 0x0c]);
        self.write(&value.to_le_bytes());
    }

    /// `lanes` selects bytes of two vectors: 0 to 15 of the first, 16 to 31 of the second.
    #[inline(never)]
    pub fn i8x16_shuffle(&mut self, lanes: [u8; 16]) {
        self.write(&[VECTOR, 0x0d]);
        self.write(&lanes);
    }

    #[inline]
    pub fn i64x2_extract_lane(&mut self, lane: u8) {
        self.write(&[VECTOR, 0x1d, lane]);
    }

    /// Not inlined: the callers are many, and browsers download them.
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    #[inline(never)]
    fn memory(&mut self, opcode: &[u8], alignment: u8, offset: u32) {
        self.code.extend_from_slice(opcode);
        self.code.push(alignment);
        unsigned(&mut self.code, offset.into());
    }

    #[inline(never)]
    fn indexed(&mut self, opcode: u8, index: u32) {
        self.code.push(opcode);
        unsigned(&mut self.code, index.into());
    }
}

const LOOP: u8 = 0x03;
/// The type of a block without parameters and results.
const EMPTY: u8 = 0x40;

#[cfg(test)]
mod tests;
