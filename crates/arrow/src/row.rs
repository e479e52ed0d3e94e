//! The values of one row.

use std::borrow::Cow;

use arrow_array::RecordBatch;
use randomx::{HASH_SIZE, Version};
use randomx_monero::{
    Hash, HashingBlob, LATEST_VERSION, Network, RANDOMX_VERSION, unknown_version,
};

use crate::KernelError;
use crate::bytes::{self, Value};
use crate::number::{self, Number};
use crate::place::OUTSIDE;
use crate::requirement::{Requirement, Target, difficulty};

/// The longest hashing blob.
const MAX_BLOB: usize = 1 << 20;

/// A proof of work.
pub(crate) struct Proof<'a> {
    pub(crate) seed_hash: Hash,
    pub(crate) version: Version,
    pub(crate) blob: Cow<'a, [u8]>,
    pub(crate) requirement: Requirement,
}

/// A row without a proof of work that RandomX could check.
pub(crate) enum Unusable {
    /// A value is missing or malformed.
    Malformed(String),
    /// The row is a block of Monero from before RandomX.
    Earlier(String),
    /// The row is a block of Monero of a version that this release does not know.
    Later(String),
}

impl Unusable {
    /// Returns the reason.
    pub(crate) fn why(&self) -> &str {
        let (Unusable::Malformed(why) | Unusable::Earlier(why) | Unusable::Later(why)) = self;
        why
    }
}

/// The columns that the kernel reads.
pub(crate) struct Rows<'a> {
    seed_hash: bytes::Column,
    hashing_blob: bytes::Column,
    difficulty: Option<number::Column<'a>>,
    target: Option<bytes::Column>,
    version: Option<number::Column<'a>>,
    /// The network and the heights, if the rows are Monero's blocks.
    blocks: Option<(Network, Option<number::Column<'a>>)>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(
        batch: &'a RecordBatch,
        blocks: Option<Network>,
    ) -> Result<Rows<'a>, KernelError> {
        let needed = |name| bytes::column(batch, name)?.ok_or(KernelError::Missing { name });
        let rows = Rows {
            seed_hash: needed("seed_hash")?,
            hashing_blob: needed("hashing_blob")?,
            difficulty: number::column(batch, "difficulty")?,
            target: bytes::column(batch, "target")?,
            version: number::column(batch, "version")?,
            blocks: match blocks {
                Some(network) => Some((network, number::column(batch, "height")?)),
                None => None,
            },
        };
        if rows.difficulty.is_none() && rows.target.is_none() {
            return Err(KernelError::NoRequirement);
        }
        Ok(rows)
    }

    /// Parses a row.
    pub(crate) fn parse(&self, row: usize) -> Result<Proof<'_>, Unusable> {
        let named = |name| move |problem| Unusable::Malformed(format!("{name}: {problem}"));
        let blob = blob(self.hashing_blob.value(row)).map_err(named("hashing_blob"))?;
        if let Some((network, heights)) = &self.blocks
            && let Ok(HashingBlob { header, .. }) = HashingBlob::parse(&blob)
            && header.major_version < RANDOMX_VERSION
        {
            let height = heights.as_ref().and_then(|column| column.value(row));
            return Err(before_randomx(*network, header.major_version, height));
        }
        let seed_hash = seed_hash(self.seed_hash.value(row)).map_err(named("seed_hash"))?;
        let named_version = self.version.as_ref().and_then(|column| column.value(row));
        let has_version = named_version.is_some();
        let version = named_version.as_ref().map_or(Ok(Version::V1), version);
        let version = version.map_err(named("version"))?;
        let demanded = self.difficulty.as_ref().and_then(|column| column.value(row));
        let demanded =
            demanded.as_ref().map(difficulty).transpose().map_err(named("difficulty"))?;
        let target = self.target.as_ref().and_then(|column| column.value(row));
        let target = target.map(parse_target).transpose().map_err(named("target"))?;
        let requirement = Requirement::new(demanded, target).ok_or_else(|| {
            let name = if self.difficulty.is_some() { "difficulty" } else { "target" };
            Unusable::Malformed(format!("{name}: expected a value, got null"))
        })?;
        // Only the row itself can say how a block of the future is hashed.
        if self.blocks.is_some()
            && !has_version
            && let Some(version) = unknown_version(&blob)
        {
            return Err(Unusable::Later(format!(
                "block version {version} needs an update: this release knows versions up to {LATEST_VERSION}"
            )));
        }
        Ok(Proof { seed_hash, version, blob, requirement })
    }
}

/// Says why a block of a version before RandomX has no verdict. A block whose height demands RandomX is malformed: an
/// earlier version in it would get around its proof of work.
fn before_randomx(network: Network, version: u8, height: Option<Number<'_>>) -> Unusable {
    let Some(height) = height.and_then(|height| height.to_u64()) else {
        let problem =
            format!("height: expected the height of a block of version {version}, got none");
        return Unusable::Malformed(problem);
    };
    let expected = network.version_at(height);
    if expected >= RANDOMX_VERSION {
        return Unusable::Malformed(format!(
            "hashing_blob: expected a block of version {expected} at height {height}, got version {version}"
        ));
    }
    Unusable::Earlier(format!("blocks of version {version} have no RandomX proof of work"))
}

/// Parses a seed hash.
pub(crate) fn seed_hash(value: Option<Value<'_>>) -> Result<Hash, String> {
    let value = value.ok_or("expected 32 bytes, got null")?;
    let bytes = to_bytes(value, HASH_SIZE, "32 bytes")?;
    Hash::try_from(bytes.as_ref()).map_err(|_| format!("expected 32 bytes, got {}", bytes.len()))
}

/// Parses a hashing blob.
pub(crate) fn blob(value: Option<Value<'_>>) -> Result<Cow<'_, [u8]>, String> {
    let value = value.ok_or("expected bytes, got null")?;
    to_bytes(value, MAX_BLOB, &format!("at most {MAX_BLOB} bytes"))
}

fn parse_target(value: Value<'_>) -> Result<Target, String> {
    Target::parse(&to_bytes(value, HASH_SIZE, "4, 8 or 32 bytes")?)
}

fn version(number: &Number<'_>) -> Result<Version, String> {
    let known = number.to_u64().and_then(|version| Version::try_from(version).ok());
    known.ok_or_else(|| {
        let given = match number {
            Number::Integer(number) => number.to_string(),
            Number::Large(digits) => digits.clone(),
            Number::Text(text) => format!("{:?}", shorten(text.as_bytes())),
            Number::Outside => return OUTSIDE.to_owned(),
        };
        format!("expected 1 or 2, got {given}")
    })
}

/// Returns the bytes of a value, which text has as hexadecimal digits of either case. A value of more than `most` bytes
/// is refused before it is decoded: many rows may share one long text.
fn to_bytes<'a>(value: Value<'a>, most: usize, expected: &str) -> Result<Cow<'a, [u8]>, String> {
    let limit = |length: usize| {
        if length > most { Err(format!("expected {expected}, got {length}")) } else { Ok(()) }
    };
    match value {
        Value::Bytes(bytes) => limit(bytes.len()).map(|()| Cow::Borrowed(bytes)),
        Value::Text(digits) => {
            // Decoding refuses an odd number of digits at once.
            if digits.len().is_multiple_of(2) {
                limit(digits.len() / 2)?;
            }
            hex::decode(digits).map(Cow::Owned).map_err(|_| {
                format!("expected an even number of hexadecimal digits, got {:?}", shorten(digits))
            })
        }
        Value::Outside => Err(OUTSIDE.to_owned()),
    }
}

/// Shortens text that may be a megabyte. U+FFFD replaces bytes that are not valid UTF-8.
fn shorten(text: &[u8]) -> String {
    const MOST: usize = 80;
    // A character has at most 4 bytes. The last one, which this may cut, is left out below.
    let start = text.get(..4 * (MOST + 1)).unwrap_or(text);
    let start = String::from_utf8_lossy(start);
    match start.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &start[..end]),
        None => start.into_owned(),
    }
}
