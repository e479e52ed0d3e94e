//! Arithmetic in GF(2^8), for tables.

/// Returns the product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
pub(super) const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}
