//! AES rounds from lookup tables, for processors without AES instructions.
//!
//! The lookups' timing depends on the data, which is public in a proof of work.

use super::field::multiply;
use super::{Column, Rounds, define_functions};

define_functions!(Soft);

/// The rounds. A block is four columns of the AES state, each a little-endian word whose byte `i`
/// is row `i`.
#[derive(Clone, Copy)]
pub(super) struct Soft;

impl Rounds for Soft {
    type Block = [u32; 4];

    #[inline(always)]
    fn load(self, column: &Column) -> [u32; 4] {
        std::array::from_fn(|i| {
            u32::from_le_bytes([
                column[4 * i],
                column[4 * i + 1],
                column[4 * i + 2],
                column[4 * i + 3],
            ])
        })
    }

    #[inline(always)]
    fn store(self, block: [u32; 4]) -> Column {
        bytemuck::must_cast(block.map(u32::to_le_bytes))
    }

    #[inline(always)]
    fn encrypt(self, block: [u32; 4], key: [u32; 4]) -> [u32; 4] {
        // ShiftRows moves row r left by r columns.
        round(&ENCRYPT, block, key, [1, 2, 3])
    }

    #[inline(always)]
    fn decrypt(self, block: [u32; 4], key: [u32; 4]) -> [u32; 4] {
        round(&DECRYPT, block, key, [3, 2, 1])
    }
}

#[inline(always)]
fn round(table: &[u32; 256], s: [u32; 4], key: [u32; 4], shift: [usize; 3]) -> [u32; 4] {
    std::array::from_fn(|i| {
        let lookup = |column: usize, row: u32| {
            table[usize::from((s[column % 4] >> (8 * row)) as u8)].rotate_left(8 * row)
        };
        key[i]
            ^ lookup(i, 0)
            ^ lookup(i + shift[0], 1)
            ^ lookup(i + shift[1], 2)
            ^ lookup(i + shift[2], 3)
    })
}

/// SubBytes and MixColumns of a byte in row 0. Rotations give the other rows.
const ENCRYPT: [u32; 256] = table(&SBOX, [2, 1, 1, 3]);

/// Inverse SubBytes and inverse MixColumns of a byte in row 0.
const DECRYPT: [u32; 256] = table(&INVERSE_SBOX, [14, 9, 13, 11]);

/// The S-box of FIPS 197, 5.1.1.
pub(super) const SBOX: [u8; 256] = sbox();

/// The inverse S-box.
pub(super) const INVERSE_SBOX: [u8; 256] = inverse(&SBOX);

const fn table(sbox: &[u8; 256], factors: [u8; 4]) -> [u32; 256] {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        let s = sbox[x];
        table[x] = u32::from_le_bytes([
            multiply(s, factors[0]),
            multiply(s, factors[1]),
            multiply(s, factors[2]),
            multiply(s, factors[3]),
        ]);
        x += 1;
    }
    table
}

const fn sbox() -> [u8; 256] {
    let mut sbox = [0; 256];
    let mut x = 0;
    while x < 256 {
        // x^254 is the inverse in GF(2^8), and 0 for 0.
        let mut inverse = 1;
        let mut i = 0;
        while i < 254 {
            inverse = multiply(inverse, x as u8);
            i += 1;
        }
        sbox[x] = 0x63
            ^ inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4);
        x += 1;
    }
    sbox
}

const fn inverse(sbox: &[u8; 256]) -> [u8; 256] {
    let mut inverse = [0; 256];
    let mut x = 0;
    while x < 256 {
        inverse[sbox[x] as usize] = x as u8;
        x += 1;
    }
    inverse
}
