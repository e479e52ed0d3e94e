//! Answers in epee's format, as a wallet reads them.

use monero_epee::{Epee, EpeeEntry, Type};

/// An answer with blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) status: String,
    pub(crate) start: u64,
    pub(crate) current: u64,
    pub(crate) blocks: Vec<Vec<u8>>,
    /// The transactions of all blocks.
    pub(crate) transactions: Vec<Vec<u8>>,
    /// The ids in an answer of `gethashes.bin`.
    pub(crate) ids: Vec<u8>,
}

/// Reads an answer.
pub(crate) fn read(bytes: &[u8]) -> Blocks {
    let mut answer = Blocks::default();
    let mut epee = Epee::new(bytes).expect("an answer");
    let mut fields = epee.entry().expect("an object").fields().expect("an object");
    while let Some(field) = fields.next() {
        let (name, entry) = field.expect("a field");
        match name.consume() {
            b"status" => {
                let text = entry.to_str().expect("a text").consume();
                answer.status = String::from_utf8_lossy(text).into_owned();
            }
            b"start_height" => answer.start = entry.to_u64().expect("a number"),
            b"current_height" => answer.current = entry.to_u64().expect("a number"),
            b"m_block_ids" => answer.ids = entry.to_str().expect("bytes").consume().to_vec(),
            b"blocks" => {
                let mut blocks = entry.iterate().expect("a list");
                while let Some(block) = blocks.next() {
                    let mut fields = block.expect("a block").fields().expect("an object");
                    while let Some(field) = fields.next() {
                        let (name, entry) = field.expect("a field");
                        match name.consume() {
                            b"block" => {
                                let blob = entry.to_str().expect("bytes").consume();
                                answer.blocks.push(blob.to_vec());
                            }
                            b"txs" => read_transactions(entry, &mut answer.transactions),
                            _ => {}
                        }
                    }
                }
            }
            _ => {}
        }
    }
    answer
}

fn read_transactions<'a>(entry: EpeeEntry<'a, '_, &'a [u8]>, transactions: &mut Vec<Vec<u8>>) {
    let whole = entry.kind() == Type::String;
    let mut list = entry.iterate().expect("a list");
    while let Some(entry) = list.next() {
        let entry = entry.expect("a transaction");
        if whole {
            transactions.push(entry.to_str().expect("bytes").consume().to_vec());
            continue;
        }
        let mut fields = entry.fields().expect("an object");
        while let Some(field) = fields.next() {
            let (name, entry) = field.expect("a field");
            if name.consume() == b"blob" {
                transactions.push(entry.to_str().expect("bytes").consume().to_vec());
            }
        }
    }
}
