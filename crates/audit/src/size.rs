//! Amounts of memory on the command line.

/// Parses an amount such as `512M` or `3G`: MiB or GiB.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    let expected =
        || format!("expected a number with M or G at its end, such as 512M, got {text:?}");
    let (digits, shift) = match text.strip_suffix(['M', 'm']) {
        Some(digits) => (digits, 20),
        None => (text.strip_suffix(['G', 'g']).ok_or_else(expected)?, 30),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    let number: usize = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed() {
        assert_eq!(parse("512M"), Ok(512 << 20));
        assert_eq!(parse("3g"), Ok(3 << 30));
        assert_eq!(parse("0M"), Ok(0));
        for text in ["", "M", "1", "1K", "-1G", "1.5G", " 1G", "99999999999999999999G", "1GiB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
