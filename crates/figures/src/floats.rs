//! The values of floating point registers at the end of each iteration (chapter 2.5.1).

use randomx::f64x2::F64x2;
use randomx::program::Program;
use randomx::registers::RegisterFile;
use randomx::trace::Tracer;

use crate::histogram::Histogram;
use crate::share;

/// The edges of group F's intervals, with either sign: one power of ten each.
const DECADES: [f64; 17] =
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

/// The edges of group E's intervals: twenty powers of ten each, as in the document. The last
/// interval is infinity.
const E_EDGES: [f64; 21] = [
    1e-80,
    1e-60,
    1e-40,
    1e-20,
    1e0,
    1e20,
    1e40,
    1e60,
    1e80,
    1e100,
    1e120,
    1e140,
    1e160,
    1e180,
    1e200,
    1e220,
    1e240,
    1e260,
    1e280,
    1e300,
    f64::INFINITY,
];

/// The first register of group E in a trace.
const FIRST_OF_E: u8 = 4;

/// Counts values of groups F and E before they are mixed, and programs that reach infinity.
#[derive(Clone, Debug)]
pub struct Floats {
    f: Histogram,
    e: Histogram,
    f_range: f64,
    e_least: f64,
    programs: u64,
    infinite_programs: u64,
    infinite: bool,
}

/// The distribution of floating point values.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatSummary {
    /// Values of group F, by sign and power of ten. The values between -1 and 1 are one interval.
    pub f: Histogram,
    /// Values of group E, by twenty powers of ten. The last interval is infinity.
    pub e: Histogram,
    /// The greatest absolute value in group F: "around 3.0e+14" in the document, in rare cases
    /// nearly twice that.
    pub f_range: f64,
    /// The least value in group E, whose limit in the document is about 1.7e-77.
    pub e_least: f64,
    /// Programs that were counted.
    pub programs: u64,
    /// Programs in which an operation returned infinity.
    pub infinite_programs: u64,
    /// The share of these programs: about 2% in the document.
    pub infinite_share: f64,
}

impl Floats {
    /// Returns the distribution.
    pub fn summary(&self) -> FloatSummary {
        FloatSummary {
            f: self.f.clone(),
            e: self.e.clone(),
            f_range: self.f_range,
            e_least: self.e_least,
            programs: self.programs,
            infinite_programs: self.infinite_programs,
            infinite_share: share(self.infinite_programs, self.programs),
        }
    }
}

impl Default for Floats {
    fn default() -> Floats {
        let signed: Vec<f64> = DECADES.iter().flat_map(|decade| [-decade, *decade]).collect();
        Floats {
            f: Histogram::new(signed),
            e: Histogram::new(E_EDGES),
            f_range: 0.0,
            e_least: f64::INFINITY,
            programs: 0,
            infinite_programs: 0,
            infinite: false,
        }
    }
}

impl Tracer for Floats {
    fn program(&mut self, _: &Program) {
        self.programs += 1;
        self.infinite = false;
    }

    #[inline]
    fn float(&mut self, register: u8, value: F64x2) {
        if register >= FIRST_OF_E && !self.infinite && halves(value).contains(&f64::INFINITY) {
            self.infinite = true;
            self.infinite_programs += 1;
        }
    }

    fn executed(&mut self, registers: &RegisterFile) {
        for value in registers.f.iter().flat_map(|pair| halves(*pair)) {
            self.f.add(value);
            self.f_range = self.f_range.max(value.abs());
        }
        for value in registers.e.iter().flat_map(|pair| halves(*pair)) {
            self.e.add(value);
            self.e_least = self.e_least.min(value);
        }
    }
}

fn halves(pair: F64x2) -> [f64; 2] {
    pair.to_bits().map(f64::from_bits)
}
