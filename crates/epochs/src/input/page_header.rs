//! The header of a Parquet page.

use std::io::{self, Read};

use super::thrift::{EMPTY, INT, Reader, Wire, expect, malformed, unsupported};

/// The contents of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Dictionary,
}

/// How values are encoded, as far as that decides which memory they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Each value takes its own bytes in the page, or a part of them.
    Own,
    /// Values are positions in the dictionary.
    Dictionary,
    /// The encoding of this name. Lengths are encoded as deltas, whose header has a second number of
    /// values. In DELTA_BYTE_ARRAY, a value may also begin with bytes of the one before it.
    Delta(&'static str),
}

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) kind: Kind,
    /// The bytes of the page in the file, without those of the header.
    pub(super) stored: u64,
    /// The bytes of the page after decompression.
    pub(super) size: u64,
    /// The values, with nulls.
    pub(super) values: u64,
    /// The first bytes, which are not compressed.
    pub(super) plain: u64,
    pub(super) encoding: Encoding,
}

/// The numbers in a struct, by the numbers of their fields.
#[derive(Default)]
struct Numbers([Option<i32>; 7]);

impl Numbers {
    fn read<R: Read>(&mut self, field: i16, wire: Wire, reader: &mut Reader<R>) -> io::Result<()> {
        expect(wire, INT)?;
        let number = reader.int()?;
        if let Some(place) = self.0.get_mut(field as usize) {
            *place = Some(number);
        }
        Ok(())
    }

    fn get(&self, field: usize) -> io::Result<u64> {
        let number = self.0.get(field).copied().flatten();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| malformed("expected sizes and counts in the header of a page"))
    }
}

impl PageHeader {
    /// Reads a header.
    pub(super) fn read<R: Read>(reader: &mut Reader<R>) -> io::Result<PageHeader> {
        let mut page = Numbers::default();
        let [mut data, mut dictionary, mut data_2] = [None, None, None];
        let (mut last, mut parts) = (0, 0);
        while let Some((number, wire)) = reader.field(last)? {
            match number {
                1..=4 => page.read(number, wire, reader)?,
                5 => data = Some(part(reader, wire, 4)?),
                6 => reader.skip_shape(wire, EMPTY)?,
                7 => dictionary = Some(part(reader, wire, 2)?),
                8 => data_2 = Some(part(reader, wire, 6)?),
                _ => reader.skip(wire)?,
            }
            parts += u8::from((5..=8).contains(&number));
            last = number;
        }
        // The Parquet reader decompresses a page of any type as the header of the second version says.
        if parts > 1 {
            return Err(malformed("expected a page with the header of one type"));
        }
        let (stored, size) = (page.get(3)?, page.get(2)?);
        let missing = || malformed("expected the header of the page's type");
        let (kind, part, encoding, plain) = match page.get(1)? {
            0 => (Kind::Data, data.ok_or_else(missing)?, 2, 0),
            2 => (Kind::Dictionary, dictionary.ok_or_else(missing)?, 2, 0),
            3 => {
                let part = data_2.ok_or_else(missing)?;
                // The Parquet reader skips rows by one number and reads them by the other.
                if part.get(3)? != part.get(1)? {
                    return Err(malformed("expected a page with as many values as rows"));
                }
                let plain = part.get(5)? + part.get(6)?;
                (Kind::Data, part, 4, plain)
            }
            // The Parquet reader takes the contents of others for pages where it skips rows.
            other => {
                return Err(unsupported(&format!(
                    "expected pages of data and dictionaries, got a page of type {other}"
                )));
            }
        };
        let encoding = match part.get(encoding)? {
            2 | 8 => Encoding::Dictionary,
            6 => Encoding::Delta("DELTA_LENGTH_BYTE_ARRAY"),
            7 => Encoding::Delta("DELTA_BYTE_ARRAY"),
            _ => Encoding::Own,
        };
        Ok(PageHeader { kind, stored, size, values: part.get(1)?, plain, encoding })
    }
}

/// Reads a struct whose first fields are numbers.
fn part<R: Read>(reader: &mut Reader<R>, wire: Wire, numbers: i16) -> io::Result<Numbers> {
    expect(wire, EMPTY)?;
    let mut part = Numbers::default();
    let mut last = 0;
    while let Some((number, wire)) = reader.field(last)? {
        match number {
            _ if (1..=numbers).contains(&number) => part.read(number, wire, reader)?,
            _ => reader.skip(wire)?,
        }
        last = number;
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<PageHeader> {
        PageHeader::read(&mut Reader::new(bytes))
    }

    #[test]
    fn headers_of_all_kinds_are_read() {
        // A data page of 5 bytes, 9 decompressed, with 3 values, and statistics.
        let data = [
            0x15, 0, 0x15, 18, 0x15, 10, 0x2c, 0x15, 6, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1,
            7, 0, 0, 0,
        ];
        let expected = PageHeader {
            kind: Kind::Data,
            stored: 5,
            size: 9,
            values: 3,
            plain: 0,
            encoding: Encoding::Dictionary,
        };
        assert_eq!(read(&data).expect("a header"), expected);
        // Values, nulls, rows, encoding, and the bytes of levels.
        let second = [
            0x15, 6, 0x15, 18, 0x15, 10, 0x5c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 14, 0x15, 4, 0x15,
            0, 0x11, 0, 0,
        ];
        let encoding = Encoding::Delta("DELTA_BYTE_ARRAY");
        let expected = PageHeader { plain: 2, encoding, ..expected };
        assert_eq!(read(&second).expect("a header"), expected);
        let dictionary = [0x15, 4, 0x15, 18, 0x15, 10, 0x4c, 0x15, 6, 0x15, 0, 0, 0];
        let expected =
            PageHeader { kind: Kind::Dictionary, plain: 0, encoding: Encoding::Own, ..expected };
        assert_eq!(read(&dictionary).expect("a header"), expected);
    }

    #[test]
    fn implausible_headers_are_refused() {
        for bytes in [
            // A negative size, no header of the type, and rows that are not the values.
            &[0x15, 0, 0x15, 17, 0x15, 10, 0x2c, 0x15, 6, 0x15, 16, 0, 0][..],
            &[0x15, 4, 0x15, 18, 0x15, 10, 0x2c, 0x15, 6, 0x15, 16, 0, 0],
            &[
                0x15, 6, 0x15, 18, 0x15, 10, 0x5c, 0x15, 6, 0x15, 0, 0x15, 8, 0x15, 14, 0x15, 4,
                0x15, 0, 0, 0,
            ],
            // A page of data, and a dictionary, each also with a header of the second version.
            &[
                0x15, 0, 0x15, 18, 0x15, 10, 0x2c, 0x15, 6, 0x15, 16, 0x15, 6, 0x15, 6, 0, 0x3c,
                0x15, 6, 0x15, 0, 0x15, 6, 0x15, 0, 0x15, 2, 0x15, 0, 0, 0,
            ],
            &[
                0x15, 4, 0x15, 18, 0x15, 10, 0x4c, 0x15, 6, 0x15, 0, 0, 0x1c, 0x15, 6, 0x15, 0,
                0x15, 6, 0x15, 0, 0x15, 2, 0x15, 0, 0, 0,
            ],
            // An index, and a type that does not exist.
            &[0x15, 2, 0x15, 18, 0x15, 10, 0x3c, 0, 0],
            &[0x15, 8, 0x15, 18, 0x15, 10, 0],
            // A size that is bytes.
            &[0x15, 0, 0x18, 0, 0x15, 10, 0x2c, 0x15, 6, 0x15, 16, 0, 0],
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
