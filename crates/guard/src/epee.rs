//! Monero's binary format, which its wallets and nodes call epee.
//!
//! The library `monero-epee` reads it without allocating, and bounds the depth. Here each field is
//! read at most once, and lists have limits.

mod writer;

use std::str;

use monero_epee::{Epee, EpeeEntry, EpeeError, FieldIterator, Type};
use thiserror::Error;

pub(crate) use writer::Writer;

/// The reason why bytes are refused.
#[derive(Debug, Error)]
pub(crate) enum FormatError {
    /// The bytes are not in the format, or a field has another type.
    #[error("malformed: {0:?}")]
    Malformed(EpeeError),
    /// A field appears twice.
    #[error("{0}: expected once, got twice")]
    Twice(&'static str),
    /// A list is too long.
    #[error("expected at most {0} entries")]
    TooMany(usize),
    /// A string is too long.
    #[error("expected at most {0} bytes")]
    TooLong(usize),
    /// A number does not fit.
    #[error("expected a number of at most 64 bits that is not negative")]
    Number,
    /// A list of hashes has an odd end.
    #[error("expected hashes of 32 bytes")]
    Hashes,
    /// The flags of a distribution select another field than the one it has.
    #[error("distribution: expected the field that `binary` and `compress` select, and no other")]
    Distribution,
    /// The node refused the request.
    #[error("the node answered {0:?}")]
    Status(String),
}

impl From<EpeeError> for FormatError {
    fn from(error: EpeeError) -> FormatError {
        FormatError::Malformed(error)
    }
}

/// A value in bytes that live for `'a`.
pub(crate) type Entry<'a, 'p> = EpeeEntry<'a, 'p, &'a [u8]>;

/// Calls `take` with the name and value of each field of the outermost object.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    take: impl FnMut(&[u8], Entry<'a, '_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut epee = Epee::new(bytes)?;
    fields(epee.entry()?.fields()?, take)
}

/// Calls `take` with the name and value of each field of an object.
pub(crate) fn object<'a>(
    entry: Entry<'a, '_>,
    take: impl FnMut(&[u8], Entry<'a, '_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    fields(entry.fields()?, take)
}

fn fields<'a>(
    mut fields: FieldIterator<'a, '_, &'a [u8]>,
    mut take: impl FnMut(&[u8], Entry<'a, '_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    while let Some(field) = fields.next() {
        let (name, entry) = field?;
        take(name.consume(), entry)?;
    }
    Ok(())
}

/// Returns a list with what `read` makes of each entry, `limit` at most.
pub(crate) fn list<'a, T>(
    entry: Entry<'a, '_>,
    limit: usize,
    mut read: impl FnMut(Entry<'a, '_>) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    if entry.len() > limit {
        return Err(FormatError::TooMany(limit));
    }
    let mut entries = entry.iterate()?;
    let mut list = Vec::new();
    while let Some(entry) = entries.next() {
        list.push(read(entry?)?);
    }
    Ok(list)
}

/// Sets a field that must appear once.
pub(crate) fn once<T>(
    field: &mut Option<T>,
    name: &'static str,
    value: T,
) -> Result<(), FormatError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(FormatError::Twice(name)),
    }
}

/// Checks that the status of an answer is `OK`. Any other says why the node refused the request.
pub(crate) fn check_status(status: Option<&str>) -> Result<(), FormatError> {
    match status {
        Some("OK") => Ok(()),
        other => Err(FormatError::Status(other.unwrap_or_default().chars().take(200).collect())),
    }
}

/// Returns the bytes of a string.
pub(crate) fn bytes<'a>(entry: Entry<'a, '_>) -> Result<&'a [u8], FormatError> {
    Ok(entry.to_str()?.consume())
}

/// Returns a text, or an empty one if it is not UTF-8.
pub(crate) fn text<'a>(entry: Entry<'a, '_>) -> Result<&'a str, FormatError> {
    Ok(str::from_utf8(bytes(entry)?).unwrap_or_default())
}

/// Returns the hashes in a string.
pub(crate) fn hashes<'a>(entry: Entry<'a, '_>) -> Result<&'a [[u8; 32]], FormatError> {
    match bytes(entry)?.as_chunks::<32>() {
        (hashes, []) => Ok(hashes),
        _ => Err(FormatError::Hashes),
    }
}

/// Returns a truth value.
pub(crate) fn boolean(entry: Entry<'_, '_>) -> Result<bool, FormatError> {
    Ok(entry.to_bool()?)
}

/// Returns a number of any width.
pub(crate) fn number(entry: Entry<'_, '_>) -> Result<u64, FormatError> {
    let signed = match entry.kind() {
        Type::Uint64 => return Ok(entry.to_u64()?),
        Type::Uint32 => return Ok(entry.to_u32()?.into()),
        Type::Uint16 => return Ok(entry.to_u16()?.into()),
        Type::Uint8 => return Ok(entry.to_u8()?.into()),
        Type::Int64 => entry.to_i64()?,
        Type::Int32 => entry.to_i32()?.into(),
        Type::Int16 => entry.to_i16()?.into(),
        _ => entry.to_i8()?.into(),
    };
    u64::try_from(signed).map_err(|_| FormatError::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut writer = Writer::new();
        writer.number("height", 7);
        writer.flag("pruned", true);
        writer.bytes("hashes", &[9; 64]);
        writer.objects("entries", 2, |writer, index| {
            writer.numbers("list", &[index as u64, 1 << 40]);
            writer.bytes("text", b"OK");
        });
        writer.strings("blobs", [&b"a"[..], &[0; 300]].into_iter());
        writer.numbers("none", &[]);
        writer.finish()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = sample();
        let (mut height, mut pruned, mut ids) = (None, None, None);
        let (mut entries, mut blobs) = (Vec::new(), Vec::new());
        read(&written, |name, entry| match name {
            b"height" => once(&mut height, "height", number(entry)?),
            b"pruned" => once(&mut pruned, "pruned", boolean(entry)?),
            b"hashes" => once(&mut ids, "hashes", hashes(entry)?),
            b"entries" => {
                entries = list(entry, 2, |entry| {
                    let mut numbers = Vec::new();
                    object(entry, |name, entry| {
                        if name == b"list" {
                            numbers = list(entry, 2, number)?;
                        }
                        Ok(())
                    })?;
                    Ok(numbers)
                })?;
                Ok(())
            }
            b"blobs" => {
                blobs = list(entry, 2, bytes)?;
                Ok(())
            }
            other => panic!("{other:?}"),
        })
        .expect("well formed");
        assert_eq!((height, pruned), (Some(7), Some(true)));
        assert_eq!(ids, Some(&[[9; 32], [9; 32]][..]));
        assert_eq!(entries, [[0, 1 << 40], [1, 1 << 40]]);
        assert_eq!(blobs, [&b"a"[..], &[0; 300]]);
    }

    #[test]
    fn every_prefix_is_refused_and_nothing_panics() {
        let written = sample();
        for end in 0..written.len() {
            let skipped = read(&written[..end], |_, _| Ok(()));
            assert!(skipped.is_err(), "{end} of {} bytes", written.len());
        }
    }

    #[test]
    fn lengths_without_bytes_cost_nothing() {
        let mut bomb = monero_epee::HEADER.to_vec();
        // One field, `a`: a list of 2^60 objects, or a string of 2^60 bytes.
        for kind in [0x8c, 10] {
            bomb.truncate(8);
            bomb.extend([1, 4, 1, b'a', kind]);
            bomb.extend(((1_u64 << 62) - 1).wrapping_shl(2).wrapping_add(3).to_le_bytes());
            assert!(read(&bomb, |_, _| Ok(())).is_err());
            let listed = read(&bomb, |_, entry| list(entry, 9, |_| Ok(())).map(|_| ()));
            assert!(listed.is_err());
        }
        let mut deep = monero_epee::HEADER.to_vec();
        deep.push(1);
        for _ in 0..10_000 {
            deep.extend([4, 1, b'a', 12]);
        }
        assert!(read(&deep, |_, _| Ok(())).is_err());
    }

    #[test]
    fn fields_appear_once() {
        let mut writer = Writer::new();
        writer.number("height", 7);
        writer.number("height", 8);
        let written = writer.finish();
        let mut height = None;
        let outcome = read(&written, |_, entry| once(&mut height, "height", number(entry)?));
        assert!(matches!(outcome, Err(FormatError::Twice("height"))));
    }
}
