//! Writing the format. The library reads only.

/// The tags of types; those of lists have the highest bit too.
const UINT64: u8 = 5;
const UINT8: u8 = 8;
const STRING: u8 = 10;
const BOOL: u8 = 11;
const OBJECT: u8 = 12;
const LIST: u8 = 0x80;

/// Writes an object field by field.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    /// The open objects: where the number of fields goes, and that number.
    open: Vec<(usize, u32)>,
}

impl Writer {
    /// Begins the outermost object.
    pub(crate) fn new() -> Writer {
        let mut bytes = monero_epee::HEADER.to_vec();
        bytes.push(monero_epee::VERSION);
        let mut writer = Writer { bytes, open: Vec::new() };
        writer.begin();
        writer
    }

    /// Writes a number of 64 bits.
    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.field(name, UINT64);
        self.bytes.extend(value.to_le_bytes());
    }

    /// Writes a number of 8 bits.
    pub(crate) fn byte(&mut self, name: &str, value: u8) {
        self.field(name, UINT8);
        self.bytes.push(value);
    }

    /// Writes a truth value.
    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.field(name, BOOL);
        self.bytes.push(value.into());
    }

    /// Writes a string.
    pub(crate) fn bytes(&mut self, name: &str, value: &[u8]) {
        self.field(name, STRING);
        self.string(value);
    }

    /// Writes a list of numbers. As in Monero's own software, an empty list is left out.
    pub(crate) fn numbers(&mut self, name: &str, values: &[u64]) {
        if self.list(name, UINT64, values.len()) {
            self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
    }

    /// Writes a list of strings.
    pub(crate) fn strings<'a>(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        if self.list(name, STRING, values.len()) {
            values.for_each(|value| self.string(value));
        }
    }

    /// Writes a list of objects. `write` is called with the index of each.
    pub(crate) fn objects(
        &mut self,
        name: &str,
        count: usize,
        mut write: impl FnMut(&mut Writer, usize),
    ) {
        if self.list(name, OBJECT, count) {
            for index in 0..count {
                self.begin();
                write(self, index);
                self.end();
            }
        }
    }

    /// Returns the bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.end();
        self.bytes
    }

    fn begin(&mut self) {
        self.open.push((self.bytes.len(), 0));
        self.bytes.extend([0; 4]);
    }

    fn end(&mut self) {
        if let Some((place, fields)) = self.open.pop() {
            // The form with four bytes.
            self.bytes[place..place + 4].copy_from_slice(&(fields << 2 | 2).to_le_bytes());
        }
    }

    fn field(&mut self, name: &str, tag: u8) {
        if let Some((_, fields)) = self.open.last_mut() {
            *fields += 1;
        }
        self.bytes.push(name.len() as u8);
        self.bytes.extend(name.as_bytes());
        self.bytes.push(tag);
    }

    /// Begins a list that is not empty.
    fn list(&mut self, name: &str, tag: u8, count: usize) -> bool {
        if count > 0 {
            self.field(name, tag | LIST);
            self.length(count);
        }
        count > 0
    }

    fn string(&mut self, value: &[u8]) {
        self.length(value.len());
        self.bytes.extend(value);
    }

    /// Writes a number in the shortest of four forms, which its lowest two bits name.
    fn length(&mut self, length: usize) {
        let value = (length as u64) << 2;
        if length < 1 << 6 {
            self.bytes.push(value as u8);
        } else if length < 1 << 14 {
            self.bytes.extend((value as u16 | 1).to_le_bytes());
        } else if length < 1 << 30 {
            self.bytes.extend((value as u32 | 2).to_le_bytes());
        } else {
            self.bytes.extend((value | 3).to_le_bytes());
        }
    }
}
