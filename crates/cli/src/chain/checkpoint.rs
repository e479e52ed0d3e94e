//! A checkpoint in a file: JSON that pages with the npm package read and write too.

use std::{io, path::Path};

use randomx_monero::{Checkpoint, RecentBlock, Seed};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{error::Error, whole_file};

/// The largest file that is read; a checkpoint has some 40 KB.
const MAX_FILE: u64 = 1 << 20;

/// The file of a checkpoint.
pub(crate) struct CheckpointFile<'a> {
    path: &'a Path,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointJson {
    height: u64,
    #[serde(with = "hex")]
    id: [u8; 32],
    /// In decimal digits; absent where it is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(serialize_with = "write_digits", deserialize_with = "read_digits")]
    work: u128,
    recent: Vec<RecentJson>,
    seeds: Vec<SeedJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecentJson {
    timestamp: u64,
    /// In decimal digits, since JavaScript's numbers are too small.
    #[serde(serialize_with = "write_digits", deserialize_with = "read_digits")]
    difficulty: u128,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedJson {
    height: u64,
    #[serde(with = "hex")]
    id: [u8; 32],
}

impl<'a> CheckpointFile<'a> {
    pub(crate) fn new(path: &'a Path) -> Self {
        CheckpointFile { path }
    }

    /// Reads the checkpoint, if the file exists.
    pub(crate) fn read(&self) -> Result<Option<Checkpoint>, Error> {
        let bytes = match whole_file::read(self.path, MAX_FILE) {
            Err(Error::Read { problem, .. }) if problem.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            bytes => bytes?,
        };
        let text = String::from_utf8(bytes).map_err(|problem| Error::Read {
            file: self.path.to_owned(),
            problem: io::Error::new(io::ErrorKind::InvalidData, problem),
        })?;
        let checkpoint = parse(&text).map_err(|problem| Error::Checkpoint {
            file: self.path.to_owned(),
            problem: problem.to_string(),
        })?;
        Ok(Some(checkpoint))
    }

    /// Checks that `write` can write the file.
    pub(crate) fn can_be_written(&self) -> Result<(), Error> {
        randomx_files::can_replace_file(self.path).map_err(|problem| self.unwritable(problem))
    }

    /// Replaces the file atomically: readers find the old or the new checkpoint.
    pub(crate) fn write(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let json = write(checkpoint).map_err(|problem| self.unwritable(problem.into()))?;
        randomx_files::replace_file(self.path, (json + "\n").as_bytes())
            .map_err(|problem| self.unwritable(problem))
    }

    fn unwritable(&self, problem: io::Error) -> Error {
        Error::WriteCheckpoint { file: self.path.to_owned(), problem }
    }
}

/// Parses the content of a file.
pub(crate) fn parse(text: &str) -> Result<Checkpoint, serde_json::Error> {
    serde_json::from_str(text).map(CheckpointJson::into)
}

/// Returns the content of a file, without the end of its line.
pub(crate) fn write(checkpoint: &Checkpoint) -> Result<String, serde_json::Error> {
    serde_json::to_string(&CheckpointJson::from(checkpoint))
}

impl From<CheckpointJson> for Checkpoint {
    fn from(json: CheckpointJson) -> Checkpoint {
        let recent = |block: RecentJson| RecentBlock {
            timestamp: block.timestamp,
            difficulty: block.difficulty,
        };
        let seed = |seed: SeedJson| Seed { height: seed.height, id: seed.id };
        Checkpoint {
            height: json.height,
            id: json.id,
            work: json.work,
            recent: json.recent.into_iter().map(recent).collect(),
            seeds: json.seeds.into_iter().map(seed).collect(),
        }
    }
}

impl From<&Checkpoint> for CheckpointJson {
    fn from(checkpoint: &Checkpoint) -> CheckpointJson {
        let recent = |block: &RecentBlock| RecentJson {
            timestamp: block.timestamp,
            difficulty: block.difficulty,
        };
        let seed = |seed: &Seed| SeedJson { height: seed.height, id: seed.id };
        CheckpointJson {
            height: checkpoint.height,
            id: checkpoint.id,
            work: checkpoint.work,
            recent: checkpoint.recent.iter().map(recent).collect(),
            seeds: checkpoint.seeds.iter().map(seed).collect(),
        }
    }
}

fn is_zero(work: &u128) -> bool {
    *work == 0
}

fn write_digits<S: Serializer>(number: &u128, json: S) -> Result<S::Ok, S::Error> {
    json.collect_str(number)
}

fn read_digits<'de, D: Deserializer<'de>>(json: D) -> Result<u128, D::Error> {
    let text = String::deserialize(json)?;
    // The standard library's parser takes a plus sign too.
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| de::Error::custom("expected decimal digits of at most 128 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use randomx_monero::Network;

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        let text = write(&Checkpoint::genesis(Network::Mainnet)).expect("JSON");
        assert_eq!(parse(&text).ok(), Some(Checkpoint::genesis(Network::Mainnet)));
        for other in ["+1", "-1", "", " 1", "0x1", "1.0", &"9".repeat(40)] {
            let changed =
                text.replace("\"difficulty\":\"1\"", &format!("\"difficulty\":\"{other}\""));
            assert_ne!(changed, text);
            let error = parse(&changed).expect_err(other).to_string();
            assert!(error.starts_with("expected decimal digits"), "{error}");
        }
    }
}
