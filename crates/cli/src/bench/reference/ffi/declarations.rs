//! Declarations of the library's exports.

use std::ffi::{c_int, c_uint, c_ulong, c_void};

// Links the library.
use randomx_rs as _;

/// Declares types that only the library accesses.
macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub(super) struct $name {
            _inside: [u8; 0],
        }
    )* };
}
opaque!(Cache, Dataset, Vm);

/// Large enough for the `fenv_t` of any system.
#[repr(C, align(16))]
pub(super) struct FloatEnvironment(pub(super) [u64; 32]);

/// `argon2_instance_t`.
#[repr(C)]
pub(super) struct Argon2Instance {
    pub(super) memory: *mut c_void,
    pub(super) version: u32,
    pub(super) passes: u32,
    pub(super) memory_blocks: u32,
    pub(super) segment_length: u32,
    pub(super) lane_length: u32,
    pub(super) lanes: u32,
    pub(super) threads: u32,
    pub(super) kind: c_int,
    pub(super) print_internals: c_int,
    pub(super) context: *mut c_void,
    /// Fills a segment.
    pub(super) implementation: *mut c_void,
}

unsafe extern "C" {
    pub(super) fn fegetenv(environment: *mut FloatEnvironment) -> c_int;
    pub(super) fn fesetenv(environment: *const FloatEnvironment) -> c_int;

    pub(super) fn randomx_get_flags() -> c_uint;
    pub(super) fn randomx_alloc_cache(flags: c_uint) -> *mut Cache;
    pub(super) fn randomx_init_cache(cache: *mut Cache, key: *const c_void, size: usize);
    pub(super) fn randomx_release_cache(cache: *mut Cache);
    pub(super) fn randomx_alloc_dataset(flags: c_uint) -> *mut Dataset;
    pub(super) fn randomx_dataset_item_count() -> c_ulong;
    pub(super) fn randomx_init_dataset(
        dataset: *mut Dataset,
        cache: *mut Cache,
        first: c_ulong,
        count: c_ulong,
    );
    pub(super) fn randomx_get_dataset_memory(dataset: *mut Dataset) -> *mut c_void;
    pub(super) fn randomx_release_dataset(dataset: *mut Dataset);
    pub(super) fn randomx_create_vm(
        flags: c_uint,
        cache: *mut Cache,
        dataset: *mut Dataset,
    ) -> *mut Vm;
    pub(super) fn randomx_destroy_vm(vm: *mut Vm);
    pub(super) fn randomx_calculate_hash_first(vm: *mut Vm, input: *const c_void, size: usize);
    pub(super) fn randomx_calculate_hash_next(
        vm: *mut Vm,
        next_input: *const c_void,
        next_size: usize,
        hash: *mut c_void,
    );
    pub(super) fn randomx_calculate_hash_last(vm: *mut Vm, hash: *mut c_void);

    pub(super) fn randomx_blake2b(
        output: *mut c_void,
        output_size: usize,
        input: *const c_void,
        input_size: usize,
        key: *const c_void,
        key_size: usize,
    ) -> c_int;
    pub(super) fn randomx_blake2b_long(
        output: *mut c_void,
        output_size: usize,
        input: *const c_void,
        input_size: usize,
    ) -> c_int;
    pub(super) fn randomx_argon2_impl_avx2() -> *mut c_void;
    pub(super) fn randomx_argon2_impl_ssse3() -> *mut c_void;
    pub(super) fn randomx_argon2_fill_memory_blocks(instance: *mut Argon2Instance) -> c_int;

    /// `fillAes1Rx4<false>`: in hardware.
    #[link_name = "_Z11fillAes1Rx4ILb0EEvPvmS0_"]
    pub(super) fn fill_aes_1r(state: *mut c_void, size: usize, output: *mut c_void);
    /// `fillAes4Rx4<false>`.
    #[link_name = "_Z11fillAes4Rx4ILb0EEvPvmS0_"]
    pub(super) fn fill_aes_4r(state: *mut c_void, size: usize, output: *mut c_void);
    /// `hashAes1Rx4<false>`.
    #[link_name = "_Z11hashAes1Rx4ILb0EEvPKvmPv"]
    pub(super) fn hash_aes_1r(input: *const c_void, size: usize, hash: *mut c_void);
    /// The constructor of `randomx::Blake2Generator`.
    #[link_name = "_ZN7randomx15Blake2GeneratorC1EPKvmi"]
    pub(super) fn generator_new(this: *mut c_void, seed: *const c_void, size: usize, nonce: c_int);
    /// `randomx::generateSuperscalar`.
    #[link_name = "_ZN7randomx19generateSuperscalarERNS_18SuperscalarProgramERNS_15Blake2GeneratorE"]
    pub(super) fn generate_superscalar(program: *mut c_void, generator: *mut c_void);
    /// The constructor of `randomx::JitCompilerX86`.
    #[link_name = "_ZN7randomx14JitCompilerX86C1Ev"]
    pub(super) fn compiler_new(this: *mut c_void);
    /// Its destructor.
    #[link_name = "_ZN7randomx14JitCompilerX86D1Ev"]
    pub(super) fn compiler_delete(this: *mut c_void);
    /// `randomx::JitCompilerX86::generateProgram`.
    #[link_name = "_ZN7randomx14JitCompilerX8615generateProgramERNS_7ProgramERNS_20ProgramConfigurationE"]
    pub(super) fn compiler_generate(
        this: *mut c_void,
        program: *mut c_void,
        configuration: *mut c_void,
    );
}
