//! The rules of difficulty and time, compared with long arithmetic by hand.

use randomx_monero::{
    DIFFICULTY_BLOCKS, DIFFICULTY_CUT, DIFFICULTY_WINDOW, Difficulty, PastBlock, TIMESTAMP_WINDOW,
    median_timestamp, next_difficulty, seed_height,
};

use crate::Target;
use crate::input::Input;

pub(super) const DIFFICULTIES: Target =
    Target { name: "difficulties", longest: 1024, quick: 4000, run, seeds };

/// A number of 256 bits, its lowest digit of 32 bits first.
type Number = [u64; 8];

/// A number of 512 bits, its lowest digit first.
type Long = [u64; 16];

/// 2^256 - 1 and 2^256.
const MOST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
const OVER: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639936";

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    match input.below(4) {
        0 => met(&mut input),
        1 => parsed(input.rest()),
        2 => {
            median(&mut input);
            true
        }
        _ => {
            demanded(&mut input);
            true
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let text = |text: &str| [&[1], text.as_bytes()].concat();
    let window = [&[3, 3, 0x78, 255, 3][..], &[0xc3; 40]].concat();
    // A difficulty and a hash that end with this many zeros.
    let large =
        |zeros: [u8; 2]| [&[0, 1][..], &[0xff; 32], &zeros[..1], &[0xff; 32], &zeros[1..]].concat();
    let others = [text("716071628829"), text("007"), text(MOST), window];
    others.into_iter().chain([[0, 32], [12, 20], [12, 19]].map(large)).collect()
}

/// Whether a hash meets a difficulty.
fn met(input: &mut Input<'_>) -> bool {
    let number = match input.below(2) {
        0 => digits(&input.wide_number().to_le_bytes()),
        _ => digits(&ending_with_zeros(input)),
    };
    let text = decimal(number);
    let Ok(difficulty) = text.parse::<Difficulty>() else {
        assert_eq!(number, [0; 8]);
        return false;
    };
    let hash = ending_with_zeros(input);
    let product = product(&digits(&hash), &number);
    assert_eq!(difficulty.is_met_by(&hash), product[8..].iter().all(|&digit| digit == 0));
    assert_eq!(difficulty.to_string(), text);
    let (low, high) = number.split_at(4);
    let low = low.iter().rev().fold(0, |number: u128, &digit| number << 32 | u128::from(digit));
    let is_short = high == [0; 4];
    assert_eq!(difficulty.as_u128(), is_short.then_some(low));
    assert_eq!(Difficulty::try_from(low) == Ok(difficulty), is_short);
    true
}

/// Draws 32 bytes with any number of zeros at their end: few other hashes meet a great difficulty.
fn ending_with_zeros(input: &mut Input<'_>) -> [u8; 32] {
    let mut bytes: [u8; 32] = input.array();
    bytes[32 - input.below(33)..].fill(0);
    bytes
}

/// Decimal digits.
fn parsed(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let significant = text.trim_start_matches('0');
    let in_range = !significant.is_empty() && (significant.len(), significant) < (OVER.len(), OVER);
    let parsed = text.parse::<Difficulty>();
    assert_eq!(parsed.is_ok(), digits && in_range, "{text}");
    parsed.is_ok_and(|difficulty| {
        assert_eq!(difficulty.to_string(), significant);
        true
    })
}

fn median(input: &mut Input<'_>) {
    let last: [u64; TIMESTAMP_WINDOW] = std::array::from_fn(|_| input.number());
    let found = median_timestamp(&last);
    let at = |rank: usize| {
        let has_rank = |&&time: &&u64| {
            let earlier = last.iter().filter(|&&other| other < time).count();
            let later = last.iter().filter(|&&other| other > time).count();
            (earlier..TIMESTAMP_WINDOW - later).contains(&rank)
        };
        u128::from(*last.iter().find(has_rank).expect("each rank has a timestamp"))
    };
    assert_eq!(u128::from(found), (at(29) + at(30)) / 2);
    let height = input.number();
    let seed = seed_height(height);
    assert_eq!(seed % 2048, 0);
    assert!(height <= 2112 && seed == 0 || (65..=2112).contains(&(height - seed)), "{height}");
}

/// The difficulty of the next block, by the steps of `next_difficulty` in Monero's `difficulty.cpp`.
fn demanded(input: &mut Input<'_>) {
    let target = input.number();
    let count = [input.number() % 8, 590 + input.number() % 20, 710 + input.number() % 30];
    let count = count[input.below(3)] as usize;
    let (mut time, mut sum) = (input.number(), input.wide_number());
    let mut past = Vec::with_capacity(count);
    for _ in 0..count {
        past.push(PastBlock { timestamp: time, cumulative_difficulty: sum });
        // Short inputs repeat zeros.
        time = time.wrapping_add(input.number());
        sum = sum.wrapping_add(1 + input.wide_number());
    }
    assert!(count <= DIFFICULTY_BLOCKS + 5);
    assert_eq!(next_difficulty(&past, target), by_hand(&past, target));
}

fn by_hand(past: &[PastBlock], target: u64) -> Option<u128> {
    let length = past.len().min(DIFFICULTY_WINDOW);
    if length <= 1 {
        return Some(1);
    }
    let mut timestamps: Vec<u64> = past[..length].iter().map(|block| block.timestamp).collect();
    timestamps.sort_by(|one, other| other.cmp(one));
    timestamps.reverse();
    let kept = DIFFICULTY_WINDOW - 2 * DIFFICULTY_CUT;
    let (begin, end) = match length {
        length if length <= kept => (0, length),
        length => ((length - kept).div_ceil(2), (length - kept).div_ceil(2) + kept),
    };
    let span = match timestamps[end - 1] - timestamps[begin] {
        0 => 1,
        span => span,
    };
    let (first, last) = (past[begin].cumulative_difficulty, past[end - 1].cumulative_difficulty);
    if last <= first {
        return None;
    }
    let mut sum = product(&digits(&(last - first).to_le_bytes()), &digits(&target.to_le_bytes()));
    let mut carry = span - 1;
    for digit in &mut sum {
        let added = *digit + (carry & 0xffff_ffff);
        (*digit, carry) = (added & 0xffff_ffff, (carry >> 32) + (added >> 32));
    }
    quotient(&sum, span)
}

/// Returns the decimal digits, without zeros at their start.
fn decimal(mut number: Number) -> String {
    let mut text = Vec::new();
    while number != [0; 8] {
        let mut rest = 0;
        for digit in number.iter_mut().rev() {
            let dividend = rest << 32 | *digit;
            (*digit, rest) = (dividend / 10, dividend % 10);
        }
        text.push(char::from(b'0' + rest as u8));
    }
    text.iter().rev().collect()
}

/// Splits little-endian bytes into digits of 32 bits.
fn digits(bytes: &[u8]) -> Number {
    let mut digits = [0; 8];
    for (index, byte) in bytes.iter().enumerate() {
        digits[index / 4] |= u64::from(*byte) << (8 * (index % 4));
    }
    digits
}

fn product(one: &Number, other: &Number) -> Long {
    let mut product = [0; 16];
    for (i, a) in one.iter().enumerate() {
        let mut carry = 0;
        for (j, b) in other.iter().enumerate() {
            let sum = product[i + j] + a * b + carry;
            (product[i + j], carry) = (sum & 0xffff_ffff, sum >> 32);
        }
        product[i + 8] += carry;
    }
    product
}

/// Divides bit by bit. Returns `None` above 128 bits.
fn quotient(dividend: &Long, divisor: u64) -> Option<u128> {
    let (mut quotient, mut rest) = (0_u128, 0_u128);
    for bit in (0..512).rev() {
        rest = rest << 1 | u128::from(dividend[bit / 32] >> (bit % 32) & 1);
        if quotient >> 127 != 0 {
            return None;
        }
        quotient <<= 1;
        if rest >= u128::from(divisor) {
            rest -= u128::from(divisor);
            quotient |= 1;
        }
    }
    Some(quotient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_difficulty_is_in_decimal_digits() {
        assert_eq!(decimal([0xffff_ffff; 8]), MOST);
        assert!(parsed(MOST.as_bytes()) && !parsed(OVER.as_bytes()));
    }

    #[test]
    fn hashes_end_with_any_number_of_zeros() {
        for zeros in 0..=32 {
            let drawn = ending_with_zeros(&mut Input::new(&[&[0xff; 32][..], &[zeros]].concat()));
            let kept = 32 - usize::from(zeros);
            assert!(drawn[..kept].iter().all(|&byte| byte == 0xff), "{zeros}");
            assert!(drawn[kept..].iter().all(|&byte| byte == 0), "{zeros}");
        }
    }
}
