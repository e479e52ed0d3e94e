//! Functions inside the library: primitives, the generator of SuperscalarHash programs, and the
//! compiler.

use std::ptr;

use randomx::{Version, params::ARGON_ITERATIONS};

use super::declarations as c;

/// Memory for a C++ object, larger and better aligned than any of those here.
#[repr(C, align(64))]
struct Object<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Object<WORDS> {
    fn zeroed() -> Box<Object<WORDS>> {
        Box::new(Object([0; WORDS]))
    }
}

/// State of the AES functions, which need 16-byte alignment.
#[repr(C, align(64))]
struct Aligned([u8; 64]);

pub(crate) fn blake2b(input: &[u8; 64]) -> [u8; 64] {
    let mut hash = [0; 64];
    // SAFETY: sizes are those of the arrays, and there is no key.
    unsafe {
        let output = hash.as_mut_ptr().cast();
        c::randomx_blake2b(output, 64, input.as_ptr().cast(), 64, ptr::null(), 0);
    }
    hash
}

pub(crate) fn blake2b_long(input: &[u8; 72]) -> [u8; 1024] {
    let mut hash = [0; 1024];
    // SAFETY: sizes are those of the arrays.
    unsafe {
        c::randomx_blake2b_long(hash.as_mut_ptr().cast(), 1024, input.as_ptr().cast(), 72);
    }
    hash
}

/// Fills the output, whose blocks are aligned to 16 bytes.
pub(crate) fn fill_1r(seed: &[u8; 64], output: &mut [[u8; 64]]) {
    let mut state = Aligned(*seed);
    assert!(output.as_ptr().cast::<u128>().is_aligned());
    // SAFETY: both are aligned as the function requires, and the size is that of the output.
    unsafe {
        let output_size = size_of_val(output);
        c::fill_aes_1r(state.0.as_mut_ptr().cast(), output_size, output.as_mut_ptr().cast());
    }
}

/// Fills the output, whose blocks are aligned to 16 bytes.
pub(crate) fn fill_4r(seed: &[u8; 64], output: &mut [[u8; 64]]) {
    let mut state = Aligned(*seed);
    assert!(output.as_ptr().cast::<u128>().is_aligned());
    // SAFETY: as for `fill_1r`.
    unsafe {
        let output_size = size_of_val(output);
        c::fill_aes_4r(state.0.as_mut_ptr().cast(), output_size, output.as_mut_ptr().cast());
    }
}

/// Hashes the input, whose blocks are aligned to 16 bytes.
pub(crate) fn hash_1r(input: &[[u8; 64]]) -> [u8; 64] {
    let mut hash = Aligned([0; 64]);
    assert!(input.as_ptr().cast::<u128>().is_aligned());
    // SAFETY: both are aligned as the function requires, and the size is that of the input.
    unsafe {
        c::hash_aes_1r(input.as_ptr().cast(), size_of_val(input), hash.0.as_mut_ptr().cast());
    }
    hash.0
}

/// Generates SuperscalarHash programs.
pub(crate) struct Superscalar {
    /// A `Blake2Generator`: 64 bytes and a counter.
    generator: Box<Object<16>>,
    /// A `SuperscalarProgram`: 512 instructions of 8 bytes, and some numbers.
    program: Box<Object<1024>>,
}

impl Superscalar {
    pub(crate) fn new(key: &[u8]) -> Superscalar {
        let mut generator = Object::zeroed();
        // SAFETY: the memory is large enough for the object, which owns no other.
        unsafe {
            let this = generator.0.as_mut_ptr().cast();
            c::generator_new(this, key.as_ptr().cast(), key.len(), 0);
        }
        Superscalar { generator, program: Object::zeroed() }
    }

    /// Generates the next program, and returns the encoding of its first instructions.
    pub(crate) fn generate(&mut self) -> &[u64] {
        // SAFETY: the generator was constructed; the program is plain numbers, for which there is
        // room, and which the function sets.
        unsafe {
            let generator = self.generator.0.as_mut_ptr().cast();
            c::generate_superscalar(self.program.0.as_mut_ptr().cast(), generator);
        }
        &self.program.0[..64]
    }
}

/// Fills memory by Argon2d, after the first two blocks.
pub(crate) struct Fill(c::Argon2Instance);

impl Fill {
    /// A fill with AVX2 or SSSE3, if the library and the processor have it.
    pub(crate) fn new(avx2: bool) -> Option<Fill> {
        // SAFETY: the functions only check the processor and how they were compiled.
        let implementation = unsafe {
            if avx2 { c::randomx_argon2_impl_avx2() } else { c::randomx_argon2_impl_ssse3() }
        };
        (!implementation.is_null()).then_some(Fill(c::Argon2Instance {
            memory: ptr::null_mut(),
            version: 0x13,
            passes: ARGON_ITERATIONS as u32,
            memory_blocks: 0,
            segment_length: 0,
            lane_length: 0,
            lanes: 1,
            threads: 1,
            kind: 0,
            print_internals: 0,
            context: ptr::null_mut(),
            implementation,
        }))
    }

    /// Fills all passes; the blocks are of 1 KiB, and a multiple of 4.
    pub(crate) fn fill(&mut self, blocks: &mut [randomx::argon2d::Block]) {
        assert!(blocks.len() >= 8 && blocks.len().is_multiple_of(4));
        self.0.memory = blocks.as_mut_ptr().cast();
        self.0.memory_blocks = blocks.len() as u32;
        self.0.lane_length = self.0.memory_blocks;
        self.0.segment_length = self.0.memory_blocks / 4;
        // SAFETY: the instance describes the memory of `blocks` as one lane of four segments; the
        // function does not use the context.
        unsafe { c::randomx_argon2_fill_memory_blocks(&mut self.0) };
    }
}

/// The output of AesGenerator4R for a program of v2; one of v1 is shorter.
pub(crate) type RawProgram = [[u8; 64]; (128 + 8 * Version::V2.program_size()) / 64];

/// The compiler of programs.
pub(crate) struct Compiler {
    /// A `JitCompilerX86`: some 80 bytes.
    compiler: Box<Object<32>>,
    /// A `ProgramConfiguration`: a mask, and the registers that are read.
    configuration: Box<Object<8>>,
}

impl Compiler {
    pub(crate) fn new(version: Version) -> Compiler {
        /// The offset of the flags since 2.0. Before, the object ended here.
        const FLAGS: usize = 68;
        let mut compiler = Object::zeroed();
        // SAFETY: the memory is large enough for the object.
        unsafe { c::compiler_new(compiler.0.as_mut_ptr().cast()) };
        if version == Version::V2 {
            compiler.0[FLAGS / 8] |= u64::from(super::V2) << (8 * (FLAGS % 8));
        }
        let mut configuration = Object::zeroed();
        configuration.0[2..4].copy_from_slice(&[2 << 32, 6 << 32 | 4]);
        Compiler { compiler, configuration }
    }

    /// Compiles the bytes that AesGenerator4R generates for a program. Returns the end of the code.
    pub(crate) fn compile(&mut self, program: &mut RawProgram) -> usize {
        /// The offset of the code's size so far.
        const POSITION: usize = 64;
        // SAFETY: the compiler was constructed, its code buffer is writable until its protection
        // is changed, and the program has the largest size.
        unsafe {
            let this = self.compiler.0.as_mut_ptr().cast();
            let configuration = self.configuration.0.as_mut_ptr().cast();
            c::compiler_generate(this, program.as_mut_ptr().cast(), configuration);
        }
        self.compiler.0[POSITION / 8] as u32 as usize
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: it was constructed, and is destroyed once.
        unsafe { c::compiler_delete(self.compiler.0.as_mut_ptr().cast()) };
    }
}
