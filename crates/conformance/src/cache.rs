//! The suite of the cache and of dataset items.

use std::borrow::Cow;
use std::sync::Arc;

use randomx::items::Items;
use randomx::{CacheBuilder, VmOptions};
use serde::Deserialize;

use crate::primitives::blake2b_256;
use crate::{Error, Report, parse};

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    key_text: String,
    words: Vec<Word>,
    blake2b_256: String,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Word {
    index: usize,
    value: String,
}

#[derive(Deserialize)]
struct Item {
    number: u32,
    item: String,
}

pub(crate) fn cache(text: &str, options: VmOptions, report: &mut Report) -> Result<(), Error> {
    for key in parse::<Vectors>(text)?.vectors {
        let at = |what: String| format!("{what} of {:?}", key.key_text);
        let cache = CacheBuilder::new(key.key_text.as_bytes(), options.cpu)
            .map_err(|error| Error::Failed(error.to_string()))?
            .finish();
        let cache = Arc::new(cache);
        let calculated = Items::with_options(cache.clone(), options.into())
            .map_err(|error| Error::Failed(error.to_string()))?;
        for word in &key.words {
            let actual = cache.words().get(word.index).copied().unwrap_or_default();
            report.check(
                || at(format!("word {}", word.index)),
                format!("{actual:016x}"),
                word.value.clone(),
            );
        }
        report.check(
            || at("all words".to_owned()),
            blake2b_256(bytemuck::cast_slice(&little_endian(cache.words()))),
            key.blake2b_256.clone(),
        );
        // Items must not depend on the length of the batch.
        let numbers: Vec<u32> = key.items.iter().map(|item| item.number).collect();
        for length in 1..=numbers.len() {
            let mut items = vec![[0; 8]; length];
            calculated.compute(&numbers[..length], &mut items);
            for (item, expected) in items.iter().zip(&key.items) {
                let actual: Vec<u8> = item.iter().flat_map(|word| word.to_le_bytes()).collect();
                report.check(
                    || at(format!("item {} in a batch of {length}", expected.number)),
                    hex::encode(actual),
                    expected.item.clone(),
                );
            }
        }
    }
    Ok(())
}

/// Returns words whose bytes in memory begin with the least significant one. Copies them only where those of the
/// processor do not.
fn little_endian(words: &[u64]) -> Cow<'_, [u64]> {
    if cfg!(target_endian = "little") {
        words.into()
    } else {
        words.iter().map(|word| word.to_le()).collect()
    }
}
