//! Distributions of outputs, from which wallets choose decoys: `get_output_distribution.bin`.

use crate::epee::{
    self, Entry, FormatError, Writer, boolean, bytes, check_status, list, number, once, text,
};

use super::facts::Facts;

/// The most amounts in a request.
const MAX_AMOUNTS: usize = 65_536;

/// How many blocks a node may be ahead of the guard or behind it.
const AHEAD: u64 = 10;

/// Checks that an answer has as many distributions as requested, which end near the newest verified block.
pub(super) fn check(request: &[u8], answer: &[u8], tip: u64) -> Result<Facts, String> {
    let malformed = |problem: FormatError| problem.to_string();
    let (wanted, last) = requested(request).map_err(malformed)?;
    let ends = ends(answer).map_err(malformed)?;
    if ends.len() != wanted {
        return Err(format!("distributions: expected {wanted}, got {}", ends.len()));
    }
    if last != 0 {
        return Ok(Facts::default());
    }
    match ends.iter().find(|end| end.abs_diff(tip + 1) > AHEAD) {
        None => Ok(Facts::default()),
        Some(end) => Err(format!("the distribution ends before block {end}, not {}", tip + 1)),
    }
}

/// Returns a request without the field by which a node recognises a wallet again.
pub(super) fn rewrite(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let (mut amounts, mut from, mut to) = (None, None, None);
    let (mut cumulative, mut binary, mut compress) = (None, None, None);
    epee::read(request, |name, entry| match name {
        b"amounts" => once(&mut amounts, "amounts", list(entry, MAX_AMOUNTS, number)?),
        b"from_height" => once(&mut from, "from_height", number(entry)?),
        b"to_height" => once(&mut to, "to_height", number(entry)?),
        b"cumulative" => once(&mut cumulative, "cumulative", boolean(entry)?),
        b"binary" => once(&mut binary, "binary", boolean(entry)?),
        b"compress" => once(&mut compress, "compress", boolean(entry)?),
        _ => Ok(()),
    })?;
    let mut writer = Writer::new();
    writer.numbers("amounts", &amounts.unwrap_or_default());
    writer.number("from_height", from.unwrap_or(0));
    writer.number("to_height", to.unwrap_or(0));
    writer.flag("cumulative", cumulative.unwrap_or(false));
    writer.flag("binary", binary.unwrap_or(true));
    writer.flag("compress", compress.unwrap_or(false));
    Ok(writer.finish())
}

/// Returns the number of distributions that a request asks for, and the last height that it names, or 0.
fn requested(request: &[u8]) -> Result<(usize, u64), FormatError> {
    let (mut amounts, mut to) = (None, None);
    epee::read(request, |name, entry| match name {
        b"amounts" => once(&mut amounts, "amounts", list(entry, MAX_AMOUNTS, number)?.len()),
        b"to_height" => once(&mut to, "to_height", number(entry)?),
        _ => Ok(()),
    })?;
    Ok((amounts.unwrap_or(0), to.unwrap_or(0)))
}

/// Returns for each distribution the height after its last block.
fn ends(answer: &[u8]) -> Result<Vec<u64>, FormatError> {
    const MOST: usize = 64;
    let (mut status, mut ends) = (None, None);
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        b"distributions" => once(&mut ends, "distributions", list(entry, MOST, end)?),
        _ => Ok(()),
    })?;
    check_status(status)?;
    Ok(ends.unwrap_or_default())
}

/// Returns the height after the last block of a distribution. Wallets read the field that `compress` selects, and no
/// other.
fn end(entry: Entry<'_, '_>) -> Result<u64, FormatError> {
    let (mut start, mut binary, mut compress) = (None, None, None);
    let (mut plain, mut compressed) = (None, None);
    epee::object(entry, |name, entry| match name {
        b"start_height" => once(&mut start, "start_height", number(entry)?),
        b"binary" => once(&mut binary, "binary", boolean(entry)?),
        b"compress" => once(&mut compress, "compress", boolean(entry)?),
        b"distribution" => once(&mut plain, "distribution", bytes(entry)?),
        b"compressed_data" => once(&mut compressed, "compressed_data", bytes(entry)?),
        _ => Ok(()),
    })?;
    let count = match (binary, compress.unwrap_or(false), plain, compressed) {
        (Some(true), false, Some(numbers), None) => numbers.len() / 8,
        // The last byte of a number has no highest bit.
        (Some(true), true, None, Some(numbers)) => {
            numbers.iter().filter(|byte| **byte < 0x80).count()
        }
        _ => return Err(FormatError::Distribution),
    };
    Ok(start.unwrap_or(0).saturating_add(count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten numbers in the fields for plain and for compressed ones.
    const PLAIN: (&str, &[u8]) = ("distribution", &[0; 80]);
    const COMPRESSED: (&str, &[u8]) =
        ("compressed_data", &[0x80, 1, 2, 3, 4, 5, 6, 7, 0xff, 8, 9, 10]);

    /// Returns the field that is read.
    fn of(compress: bool) -> (&'static str, &'static [u8]) {
        if compress { COMPRESSED } else { PLAIN }
    }

    /// Returns an answer with one distribution. The flags are `binary` and `compress`.
    fn distribution(start: u64, flags: [Option<bool>; 2], fields: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.bytes("status", b"OK");
        writer.objects("distributions", 1, |writer, _| {
            writer.number("start_height", start);
            for (name, flag) in ["binary", "compress"].into_iter().zip(flags) {
                flag.into_iter().for_each(|flag| writer.flag(name, flag));
            }
            fields.iter().for_each(|(name, numbers)| writer.bytes(name, numbers));
        });
        writer.finish()
    }

    #[test]
    fn a_distribution_has_the_field_that_wallets_read_and_no_other() {
        let mut request = Writer::new();
        request.numbers("amounts", &[0]);
        let request = request.finish();
        let outcome = |flags, fields: &[_]| check(&request, &distribution(91, flags, fields), 100);
        for (compress, read) in [(None, false), (Some(false), false), (Some(true), true)] {
            let binary = [Some(true), compress];
            assert_eq!(outcome(binary, &[of(read)]), Ok(Facts::default()));
            for fields in [&[][..], &[of(!read)], &[PLAIN, COMPRESSED], &[COMPRESSED, PLAIN]] {
                let problem = outcome(binary, fields).expect_err("another field");
                assert_eq!(problem, FormatError::Distribution.to_string());
            }
            // Wallets read a list instead.
            for binary in [None, Some(false)] {
                assert!(outcome([binary, compress], &[of(read)]).is_err());
            }
        }
        let early = check(&request, &distribution(79, [Some(true), None], &[PLAIN]), 100);
        assert_eq!(early, Err("the distribution ends before block 89, not 101".to_owned()));
    }

    #[test]
    fn a_distribution_ends_near_the_tip() {
        const TIP: u64 = 1000;
        let request = |to| {
            let mut writer = Writer::new();
            writer.numbers("amounts", &[0]);
            writer.number("to_height", to);
            writer.finish()
        };
        for compress in [false, true] {
            let is_near = |to, end: u64| {
                let answer = distribution(end - 10, [Some(true), Some(compress)], &[of(compress)]);
                check(&request(to), &answer, TIP).is_ok()
            };
            for (end, expected) in
                [(990, false), (991, true), (1001, true), (1011, true), (1012, false)]
            {
                assert_eq!(is_near(0, end), expected, "{compress}, {end}");
                // The wallet chose this end.
                assert!(is_near(500, end));
            }
        }
    }

    #[test]
    fn a_distribution_for_each_amount_is_expected() {
        let is_plausible = |status: &str, amounts: &[u64], count: usize| {
            let (mut request, mut answer) = (Writer::new(), Writer::new());
            request.numbers("amounts", amounts);
            answer.bytes("status", status.as_bytes());
            answer.objects("distributions", count, |writer, _| {
                writer.number("start_height", 9);
                writer.flag("binary", true);
                writer.bytes("distribution", &[]);
            });
            check(&request.finish(), &answer.finish(), 9).is_ok()
        };
        for (amounts, count) in [(&[][..], 0), (&[0], 1), (&[0, 5], 2)] {
            assert!(
                is_plausible("OK", amounts, count) && !is_plausible("Failed", amounts, count),
                "{amounts:?}"
            );
        }
        for (amounts, count) in [(&[0][..], 0), (&[0], 2), (&[], 1)] {
            assert!(!is_plausible("OK", amounts, count), "{amounts:?}");
        }
    }
}
