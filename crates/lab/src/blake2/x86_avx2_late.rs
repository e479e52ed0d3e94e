//! The compression with AVX2 as in libraries before the report on Filecoin's encoding: the rows rotated to
//! line up the diagonals include the one computed last, which adds two operations to the chain of a round.

use std::arch::x86_64::*;

use super::rows::{define_avx2, define_compress};

const ROTATE_LAST: bool = true;

define_avx2!();
define_compress!(#[target_feature(enable = "avx2")]);
