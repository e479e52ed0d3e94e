//! The same as libraries had it before the report on Filecoin's encoding: the diagonals are lined up
//! by turning the row that is ready last, so that two more operations of a round wait for each other.

use std::arch::x86_64::*;

use super::rows::{define_avx2, define_compress};

const TURN_LAST: bool = true;

define_avx2!();
define_compress!(#[target_feature(enable = "avx2")]);
