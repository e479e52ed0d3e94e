//! Checks of a chain's arguments from JavaScript.

use js_sys::{Array, Float64Array, Uint8Array};
use randomx_monero::{Checkpoint, RecentBlock, Seed};

use crate::argument::{InvalidArgument, difficulty, hash, whole};

/// The limit for the entries of a checkpoint's list.
const MAX_ENTRIES: u32 = randomx_monero::DIFFICULTY_BLOCKS as u32;

/// Returns the difficulty of every block from decimal digits, 1 to 2^128 - 1.
pub(crate) fn fixed_difficulty(digits: &str) -> Result<u128, InvalidArgument> {
    let name = "fixedDifficulty";
    let fixed = difficulty(name, digits)?.as_u128();
    fixed.ok_or_else(|| InvalidArgument::new(name, "expected less than 2^128"))
}

/// Returns a chain's work or a difficulty from decimal digits, 0 to 2^128 - 1.
pub(crate) fn work(name: &str, digits: &str) -> Result<u128, InvalidArgument> {
    let problem = || InvalidArgument::new(name, "expected decimal digits, below 2^128");
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| decimal).ok_or_else(problem)
}

/// Returns a checkpoint, made of its parts.
pub(crate) fn checkpoint(
    height: f64,
    id: &Uint8Array,
    total: &str,
    recent: (&Float64Array, &Array),
    seeds: (&Float64Array, &Array),
) -> Result<Checkpoint, InvalidArgument> {
    let (timestamps, difficulties) = recent;
    let (seed_heights, seed_ids) = seeds;
    let timestamps = numbers("timestamps", timestamps, difficulties.length())?;
    let difficulties = difficulties
        .iter()
        .map(|digits| work("difficulties", &digits.as_string().unwrap_or_default()));
    let recent = timestamps
        .into_iter()
        .zip(difficulties)
        .map(|(timestamp, difficulty)| Ok(RecentBlock { timestamp, difficulty: difficulty? }));
    let seed_heights = numbers("seeds", seed_heights, seed_ids.length())?;
    let seeds = seed_heights
        .into_iter()
        .zip(seed_ids.iter())
        .map(|(height, id)| Ok(Seed { height, id: hash("seeds", &Uint8Array::new(&id))? }));
    Ok(Checkpoint {
        height: whole("height", height)?,
        id: hash("id", id)?,
        work: work("work", total)?,
        recent: recent.collect::<Result<_, _>>()?,
        seeds: seeds.collect::<Result<_, _>>()?,
    })
}

/// Returns exactly `count` whole numbers, at most `MAX_ENTRIES`.
fn numbers(name: &str, array: &Float64Array, count: u32) -> Result<Vec<u64>, InvalidArgument> {
    let got = array.length();
    if count > MAX_ENTRIES {
        let complaint = format_args!("expected at most {MAX_ENTRIES} entries, got {got}");
        return Err(InvalidArgument::new(name, complaint));
    }
    if got != count {
        let complaint = format_args!("expected {count} entries, got {got}");
        return Err(InvalidArgument::new(name, complaint));
    }
    array.to_vec().into_iter().map(|number| whole(name, number)).collect()
}
