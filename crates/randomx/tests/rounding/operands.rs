//! Random and extreme operands from the whole range of the VM's registers.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }
}

pub struct Operands;

impl Operands {
    /// Operands of FADD and FSUB: a group F value, and a group A value or converted integer.
    pub fn additive(random: &mut Random) -> [f64; 2] {
        let b = match random.below(3) {
            0 => integer(random),
            _ => group_a(random),
        };
        let a = match random.below(8) {
            // Cancels b, exactly or except for the last bits.
            0 => -b,
            1 => b,
            2 => nearby(-b, random),
            3 => integer(random),
            // The zeros, and FSCAL's results for them.
            4 => [0.0, -0.0, f64::from_bits(0x00f0 << 48), -f64::from_bits(0x00f0 << 48)]
                [random.below(4) as usize],
            5 => integer(random) * 2f64.powi(random.below(31) as i32 - 15),
            _ => signed(from_exponent(random.below(1000 + 49) as i32 - 1000, random), random),
        };
        [a, b]
    }

    /// Operands of FMUL: a group E value and a group A value.
    pub fn multiplicative(random: &mut Random) -> [f64; 2] {
        [group_e(random), group_a(random)]
    }

    /// Operands of FDIV and FSQRT: a group E value and one that was just converted to group E.
    pub fn divisive(random: &mut Random) -> [f64; 2] {
        let a = group_e(random);
        // Exponents 0b011_xxxx_xxxx.
        let b = from_exponent(random.below(256) as i32 - 255, random);
        let a = match random.below(8) {
            0 => b,
            1 => nearby(b, random),
            // An exact quotient or square root.
            2 => (b * 3.0).min(f64::MAX),
            3 => {
                let root = f64::from(random.word() as u32 >> random.below(31));
                if root == 0.0 { 1.0 } else { root * root }
            }
            _ => a,
        };
        [a, b]
    }
}

fn integer(random: &mut Random) -> f64 {
    const EDGES: [i32; 6] = [0, 1, -1, i32::MAX, i32::MIN, i32::MIN + 1];
    f64::from(match random.below(4) {
        0 => EDGES[random.below(6) as usize],
        _ => random.word() as i32,
    })
}

/// Returns a number in [1, 2^32).
fn group_a(random: &mut Random) -> f64 {
    from_exponent(random.below(32) as i32, random)
}

/// Returns a positive number, from far below the values of programs up to infinity.
fn group_e(random: &mut Random) -> f64 {
    match random.below(16) {
        0 => f64::INFINITY,
        1 => f64::MAX,
        // Near overflow.
        2..5 => from_exponent(1023 - random.below(34) as i32, random),
        5 => from_exponent(1023 - random.below(260) as i32, random),
        _ => from_exponent(random.below(1023 + 700) as i32 - 700, random),
    }
}

/// Returns a number with this exponent and a random or special fraction.
fn from_exponent(exponent: i32, random: &mut Random) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let fraction = match random.below(12) {
        0 => 0,
        1 => 1,
        2 => FRACTION,
        3 => FRACTION - 1,
        4 => 1 << 51,
        5 => (1 << 51) - 1,
        // Few significant bits make exact results frequent.
        6 => random.word() << 27,
        7 => random.word() & 0xfff,
        _ => random.word(),
    };
    f64::from_bits(((exponent + 1023) as u64) << 52 | (fraction & FRACTION))
}

fn signed(value: f64, random: &mut Random) -> f64 {
    if random.below(2) == 0 { value } else { -value }
}

/// Returns a number a few units in the last place away.
fn nearby(value: f64, random: &mut Random) -> f64 {
    if value == 0.0 {
        return value;
    }
    f64::from_bits(value.to_bits().wrapping_add(random.below(9)).wrapping_sub(4))
}
