//! The compression with AVX2's instructions on 128 bits.

use std::arch::x86_64::*;

use super::rows::{define_avx2, define_chain, define_compress};

const ROTATE_LAST: bool = false;

define_avx2!();
define_compress!(#[target_feature(enable = "avx2")]);
define_chain!(#[target_feature(enable = "avx2")]);
