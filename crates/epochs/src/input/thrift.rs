//! Thrift's compact protocol, which Parquet files use for footers and the headers of pages. These are checked
//! before the Parquet reader allocates by them.

use std::io::{self, Read};

/// The deepest nesting of a skipped value.
const MAX_DEPTH: u8 = 8;

/// The type of a value, as its field's header names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Bool,
    Byte,
    Int,
    Double,
    Binary,
    List,
    Struct,
}

/// The expected type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Scalar(Wire),
    /// A struct whose known fields have these types.
    Fields(&'static [(i16, Shape)]),
}

pub(super) const INT: Shape = Shape::Scalar(Wire::Int);
pub(super) const BOOL: Shape = Shape::Scalar(Wire::Bool);
pub(super) const BYTE: Shape = Shape::Scalar(Wire::Byte);
pub(super) const BINARY: Shape = Shape::Scalar(Wire::Binary);
pub(super) const EMPTY: Shape = Shape::Fields(&[]);

/// Reads values one after another.
pub(super) struct Reader<R> {
    source: R,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(source: R) -> Reader<R> {
        Reader { source }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed("expected a number of at most 63 bits"))
    }

    /// Reads an integer of 32 bits. Those of 64 bits must fit too.
    pub(super) fn int(&mut self) -> io::Result<i32> {
        let number = self.long()?;
        i32::try_from(number).map_err(|_| malformed("expected a number of 32 bits"))
    }

    fn long(&mut self) -> io::Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn pass(&mut self, length: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if passed == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads bytes, and returns the first ones.
    pub(super) fn binary(&mut self, most: usize) -> io::Result<Vec<u8>> {
        let length = self.varint()?;
        let mut bytes = vec![0; length.min(most as u64) as usize];
        self.source.read_exact(&mut bytes)?;
        self.pass(length - bytes.len() as u64)?;
        Ok(bytes)
    }

    /// Reads the header of a struct's next field: its number, which is above `last`, and its type. `None`
    /// at the end of the struct.
    pub(super) fn field(&mut self, last: i16) -> io::Result<Option<(i16, Wire)>> {
        let header = self.byte()?;
        if header == 0 {
            return Ok(None);
        }
        let number = match header >> 4 {
            0 => self.long()?,
            delta => i64::from(last) + i64::from(delta),
        };
        // Writers write fields in order. Others could be read twice.
        let number = i16::try_from(number).ok().filter(|&number| number > last);
        let number = number.ok_or_else(|| malformed("expected fields in ascending order"))?;
        Ok(Some((number, wire(header & 15)?)))
    }

    /// Reads the header of a list: the type of its elements and their number.
    pub(super) fn list(&mut self) -> io::Result<(Wire, u64)> {
        let header = self.byte()?;
        let size = match header >> 4 {
            15 => self.varint()?,
            size => u64::from(size),
        };
        // Some writers give an empty list no type.
        let element = if header == 0 { Wire::Byte } else { wire(header & 15)? };
        Ok((element, size))
    }

    /// Skips a value.
    pub(super) fn skip(&mut self, wire: Wire) -> io::Result<()> {
        self.skip_nested(wire, MAX_DEPTH)
    }

    fn skip_nested(&mut self, wire: Wire, depth: u8) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| malformed("expected less nesting"))?;
        match wire {
            Wire::Bool => Ok(()),
            Wire::Byte => self.pass(1),
            Wire::Int => self.varint().map(drop),
            Wire::Double => self.pass(8),
            Wire::Binary => {
                let length = self.varint()?;
                self.pass(length)
            }
            Wire::List => {
                let (element, size) = self.list()?;
                if element == Wire::Bool && size > 0 {
                    return Err(malformed("expected no list of truth values"));
                }
                (0..size).try_for_each(|_| self.skip_nested(element, depth))
            }
            Wire::Struct => {
                let mut last = 0;
                while let Some((number, wire)) = self.field(last)? {
                    self.skip_nested(wire, depth)?;
                    last = number;
                }
                Ok(())
            }
        }
    }

    /// Skips a value that must have a shape. The Parquet reader does not look at the types of fields: it
    /// would take a value of another type for one of another length.
    pub(super) fn skip_shape(&mut self, wire: Wire, shape: Shape) -> io::Result<()> {
        expect(wire, shape)?;
        let Shape::Fields(fields) = shape else { return self.skip(wire) };
        let mut last = 0;
        while let Some((number, wire)) = self.field(last)? {
            match fields.iter().find(|(known, _)| *known == number) {
                Some((_, shape)) => self.skip_shape(wire, *shape)?,
                None => self.skip(wire)?,
            }
            last = number;
        }
        Ok(())
    }
}

/// Checks the type of a value.
pub(super) fn expect(wire: Wire, shape: Shape) -> io::Result<()> {
    let expected = match shape {
        Shape::Scalar(wire) => wire,
        Shape::Fields(_) => Wire::Struct,
    };
    if wire == expected { Ok(()) } else { Err(malformed("expected a field of another type")) }
}

fn wire(header: u8) -> io::Result<Wire> {
    Ok(match header {
        1 | 2 => Wire::Bool,
        3 => Wire::Byte,
        4..=6 => Wire::Int,
        7 => Wire::Double,
        8 => Wire::Binary,
        9 => Wire::List,
        12 => Wire::Struct,
        _ => return Err(malformed("expected a type that Parquet uses")),
    })
}

/// The error for a malformed file.
pub(super) fn malformed(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed Parquet: {problem}"))
}

/// The error for a file that is not malformed, but needs what this program does not read.
pub(super) fn unsupported(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("unsupported Parquet: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of bytes that were skipped.
    fn skip(bytes: &[u8], wire: Wire) -> io::Result<usize> {
        let mut reader = Reader::new(bytes);
        reader.skip(wire)?;
        Ok(bytes.len() - reader.source.len())
    }

    #[test]
    fn values_are_skipped_as_a_whole() {
        // Fields 1 (an integer), 2 (bytes) and 4 (a list of integers).
        let fields = [0x15, 0x80, 0x01, 0x18, 2, 7, 7, 0x29, 0x25, 1, 2, 0];
        assert_eq!(skip(&fields, Wire::Struct).expect("a struct"), 12);
        assert_eq!(skip(&[0, 9], Wire::List).expect("an empty list"), 1);
    }

    #[test]
    fn malformed_values_are_refused() {
        for (bytes, wire, mention) in [
            (&[0x15, 0, 0x05, 2, 0, 0][..], Wire::Struct, "ascending order"),
            (&[0x1d, 0], Wire::Struct, "a type that Parquet uses"),
            (&[0x21, 1], Wire::List, "list of truth values"),
            (&[0x1c; 20], Wire::Struct, "less nesting"),
            (&[0xff; 20], Wire::Int, "at most 63 bits"),
            (&[0xf5, 0xff, 0xff, 0xff, 0x7f], Wire::List, ""),
            (&[0xff, 0xff, 0x7f, 1], Wire::Binary, ""),
        ] {
            let problem = skip(bytes, wire).expect_err("malformed");
            assert!(problem.to_string().contains(mention), "{problem}");
        }
    }

    #[test]
    fn a_field_of_another_type_is_refused() {
        let shape = Shape::Fields(&[(1, INT), (2, EMPTY)]);
        let check = |bytes: &[u8]| Reader::new(bytes).skip_shape(Wire::Struct, shape);
        assert!(check(&[0x15, 2, 0x1c, 0, 0]).is_ok());
        assert!(check(&[0x18, 0, 0]).is_err());
        assert!(check(&[0x25, 2, 0]).is_err());
    }
}
