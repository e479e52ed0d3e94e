//! Which implementation of each primitive a processor gets.

use std::fmt;

use crate::aes::Aes;
use crate::argon2d;
use crate::blake2b::Blake2b;
use crate::cpu::Cpu;
use crate::f64x2;
use crate::jit::native;
use crate::superscalar::Width;

/// The implementation of each primitive that a processor gets. It shows as one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Implementations {
    /// AES rounds, of scratchpads, programs and v2's loop.
    pub aes: &'static str,
    /// Argon2d, which fills caches.
    pub argon2d: &'static str,
    /// Blake2b, of inputs and results.
    pub blake2b: &'static str,
    /// The interpreter's floating point registers.
    pub floats: &'static str,
    /// The interpreter's SuperscalarHash.
    pub superscalar: &'static str,
    /// The compiler of programs and SuperscalarHash, if there is one.
    pub machine_code: Option<&'static str>,
    /// How machine code changes the rounding mode, where there is a choice.
    pub rounding_modes: Option<&'static str>,
}

impl Implementations {
    /// Returns the implementations for `cpu`. The first call measures some of them, which takes some milliseconds.
    pub fn new(cpu: Cpu) -> Implementations {
        Implementations {
            aes: Aes::new(cpu).name(),
            argon2d: argon2d::implementation(cpu),
            blake2b: Blake2b::new(cpu).name(),
            floats: f64x2::IMPLEMENTATION,
            superscalar: Width::new(cpu).name(),
            machine_code: native::NAME,
            rounding_modes: native::rounding_modes(),
        }
    }
}

impl fmt::Display for Implementations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Implementations { aes, argon2d, blake2b, floats, superscalar, .. } = self;
        write!(
            f,
            "aes {aes}, argon2d {argon2d}, blake2b {blake2b}, floats {floats}, \
             superscalar {superscalar}, machine code {}",
            self.machine_code.unwrap_or("none")
        )?;
        match self.rounding_modes {
            Some(loads) => write!(f, ", rounding modes {loads}"),
            None => Ok(()),
        }
    }
}
