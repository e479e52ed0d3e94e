//! Parquet files written byte by byte, as no writer would.

use std::fs;
use std::path::Path;

/// Types of fields in Thrift's compact protocol.
pub(crate) const I32: u8 = 5;
pub(crate) const I64: u8 = 6;
pub(crate) const BINARY: u8 = 8;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// Types of columns.
pub(crate) const INT64: i64 = 2;
pub(crate) const BYTE_ARRAY: i64 = 6;

/// A column with its pages.
#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: i64,
    /// 0 for one value a row, 1 for at most one, 2 for any number.
    pub(crate) repetition: i64,
    /// Further fields of the schema.
    pub(crate) schema: Vec<(i16, u8, Vec<u8>)>,
    pub(crate) dictionary: Option<Vec<u8>>,
    pub(crate) pages: Vec<u8>,
    pub(crate) values: i64,
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

pub(crate) fn int(number: i64) -> Vec<u8> {
    varint(((number << 1) ^ (number >> 63)) as u64)
}

pub(crate) fn binary(bytes: &[u8]) -> Vec<u8> {
    [&varint(bytes.len() as u64), bytes].concat()
}

/// A struct from the numbers, types and values of its fields.
pub(crate) fn fields(fields: &[(i16, u8, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for (number, kind, value) in fields {
        bytes.push((number - last) as u8 * 16 + kind);
        bytes.extend(value);
        last = *number;
    }
    bytes.push(0);
    bytes
}

pub(crate) fn list(kind: u8, values: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xf0 + kind], varint(values.len() as u64), values.concat()].concat()
}

/// A data page of values that are not compressed.
pub(crate) fn page(encoding: i64, values: i64, data: &[u8]) -> Vec<u8> {
    let counts =
        [(1, I32, int(values)), (2, I32, int(encoding)), (3, I32, int(3)), (4, I32, int(3))];
    typed_page(0, &[(5, STRUCT, fields(&counts))], data)
}

/// A data page of values that are not compressed, whose header has two parts. The second one, which belongs to
/// another type of page, says that levels take the first byte.
pub(crate) fn page_of_two_types(values: i64, data: &[u8]) -> Vec<u8> {
    let counts = [(1, I32, int(values)), (2, I32, int(0)), (3, I32, int(3)), (4, I32, int(3))];
    let other = [
        (1, I32, int(values)),
        (2, I32, int(0)),
        (3, I32, int(values)),
        (4, I32, int(0)),
        (5, I32, int(1)),
        (6, I32, int(0)),
    ];
    let parts = [(5, STRUCT, fields(&counts)), (8, STRUCT, fields(&other))];
    typed_page(0, &parts, data)
}

/// A dictionary that is not compressed.
pub(crate) fn dictionary(values: i64, data: &[u8]) -> Vec<u8> {
    typed_page(2, &[(7, STRUCT, fields(&[(1, I32, int(values)), (2, I32, int(0))]))], data)
}

/// An index of pages, which no writer writes.
pub(crate) fn index(data: &[u8]) -> Vec<u8> {
    typed_page(1, &[(6, STRUCT, fields(&[]))], data)
}

fn typed_page(kind: i64, parts: &[(i16, u8, Vec<u8>)], data: &[u8]) -> Vec<u8> {
    let size = int(data.len() as i64);
    let sizes = [(1, I32, int(kind)), (2, I32, size.clone()), (3, I32, size)];
    [fields(&[&sizes[..], parts].concat()), data.to_vec()].concat()
}

/// Bytes with their length before them.
pub(crate) fn value(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

/// The columns of one proof of work with the difficulty 1.
pub(crate) fn columns() -> Vec<Column> {
    let column = |name, kind, data: &[u8]| Column {
        name,
        kind,
        repetition: 0,
        schema: Vec::new(),
        dictionary: None,
        pages: page(0, 1, data),
        values: 1,
    };
    vec![
        column("seed_hash", BYTE_ARRAY, &value(&[7; 32])),
        column("hashing_blob", BYTE_ARRAY, &value(&[9; 76])),
        column("difficulty", INT64, &1_i64.to_le_bytes()),
    ]
}

/// Returns the elements of the schema.
pub(crate) fn schema(columns: &[Column]) -> Vec<Vec<u8>> {
    let root = fields(&[(4, BINARY, binary(b"schema")), (5, I32, int(columns.len() as i64))]);
    let leaf = |column: &Column| {
        let first = [
            (1, I32, int(column.kind)),
            (3, I32, int(column.repetition)),
            (4, BINARY, binary(column.name.as_bytes())),
        ];
        fields(&[&first[..], &column.schema].concat())
    };
    [root].into_iter().chain(columns.iter().map(leaf)).collect()
}

/// Writes a file with one row group of `rows` rows.
pub(crate) fn write(path: &Path, columns: &[Column], rows: i64) {
    let mut file = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    for column in columns {
        let start = int(file.len() as i64);
        file.extend(column.dictionary.iter().flatten());
        let data = int(file.len() as i64);
        file.extend(&column.pages);
        let size = column.dictionary.as_ref().map_or(0, Vec::len) + column.pages.len();
        let size = int(size as i64);
        let mut meta = vec![
            (1, I32, int(column.kind)),
            (2, LIST, list(I32, &[int(0)])),
            (3, LIST, list(BINARY, &[binary(column.name.as_bytes())])),
            (4, I32, int(0)),
            (5, I64, int(column.values)),
            (6, I64, size.clone()),
            (7, I64, size),
            (9, I64, data),
        ];
        if column.dictionary.is_some() {
            meta.push((11, I64, start));
        }
        chunks.push(fields(&[(2, I64, int(0)), (3, STRUCT, fields(&meta))]));
    }
    let group = fields(&[
        (1, LIST, list(STRUCT, &chunks)),
        (2, I64, int(file.len() as i64)),
        (3, I64, int(rows)),
    ]);
    finish(path, file, &schema(columns), rows, list(STRUCT, &[group]));
}

/// Writes a file with these row groups.
pub(crate) fn finish(
    path: &Path,
    mut file: Vec<u8>,
    schema: &[Vec<u8>],
    rows: i64,
    groups: Vec<u8>,
) {
    let footer = fields(&[
        (1, I32, int(1)),
        (2, LIST, list(STRUCT, schema)),
        (3, I64, int(rows)),
        (4, LIST, groups),
    ]);
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    fs::write(path, file).expect("writable");
}

/// Adds pairs of keys and values to the metadata of a file that [`finish`] wrote.
pub(crate) fn add_pairs(path: &Path, pairs: &[(String, String)]) {
    let mut file = fs::read(path).expect("a file");
    let end = file.len() - 8;
    let length = file[end..end + 4].try_into().expect("four bytes");
    let mut footer = file.split_off(end - u32::from_le_bytes(length) as usize);
    // The list is the field after the last one, before the byte that ends the footer.
    footer.truncate(u32::from_le_bytes(length) as usize - 1);
    let pair = |(key, value): &(String, String)| {
        let [key, value] = [key, value].map(|text| binary(text.as_bytes()));
        fields(&[(1, BINARY, key), (2, BINARY, value)])
    };
    footer.push(0x10 + LIST);
    footer.extend(list(STRUCT, &pairs.iter().map(pair).collect::<Vec<_>>()));
    footer.push(0);
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    fs::write(path, file).expect("writable");
}
