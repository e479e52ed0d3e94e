//! Appendix D: the entropy of the scratchpad.

use std::io::{self, Write};

use lzma_rust2::{Lzma2Options, Lzma2Writer};
use randomx::params::SCRATCHPAD_L3;
use randomx::scratchpad::Scratchpad;
use randomx::trace::{self, Tracer};
use randomx::{KeyMemory, Version};

use crate::report::{Report, Row, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, key, parallel};

const SIZES: &str = "Compressed size of final scratchpads, as a share of their size";
const BYTES: &str = "Entropy of single bytes";

const MIX: &str = "The bytes of v1 have a little less entropy than random bytes because v1 XORs the \
                   exponents of groups F and E into the scratchpad. v2 encrypts F with E instead.";

/// Experiment `entropy`.
pub struct Entropy;

static DESCRIPTION: Description = Description {
    name: "entropy",
    section: "RandomX design, Appendix D",
    about: "A scratchpad that could be compressed would need less memory. Appendix D compresses the \
     scratchpads that hashes leave behind and finds that they keep their entropy. The same is done \
     here: one stream of LZMA2 compresses all scratchpads, with the parameters of the document's \
     `7z -m0=lzma2 -mx=9` (a dictionary of 64 MiB, a binary tree of 4 bytes, matches of up to 64 \
     bytes). The figures do not depend on the machine.",
    samples: Samples { what: "scratchpads of each version", usual: 32, least: 1, most: 1024 },
    parts: &[],
    streams: &[],
};

impl Experiment for Entropy {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let mut sizes = Table::new(SIZES);
        let mut bytes = Table::new(BYTES);
        let items = key::items(settings.seed, progress)?;
        for version in Version::ALL {
            let key = KeyMemory::Items(items.clone());
            let samples = settings.samples(DESCRIPTION.samples);
            let mut archive = Archive::new(samples as usize * SCRATCHPAD_L3);
            let mut counts = [0; 256];
            // One per thread at a time, so that memory does not grow with the samples.
            let at_once = settings.threads as u64;
            for first in (0..samples).step_by(settings.threads) {
                progress.at(&format!("scratchpads of {version}"), first, samples);
                let count = at_once.min(samples - first);
                for scratchpad in scratchpads(&key, version, first, count, settings.threads)? {
                    scratchpad.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
                    archive.add(&scratchpad)?;
                }
            }
            let row = Row::new(version.to_string(), archive.percentage()?, 2).unit("%");
            sizes.push(match version {
                Version::V1 => row.published(99.98).why(
                    "the document says `approximately`; two compressors of one format differ this much",
                ),
                Version::V2 => row,
            });
            bytes.push(Row::new(version.to_string(), entropy(&counts), 5).unit("bits of 8"));
        }
        report.tables.extend([sizes, bytes]);
        report.notes.push(MIX.to_owned());
        Ok(report)
    }
}

/// Computes hashes and returns their final scratchpads.
fn scratchpads(
    key: &KeyMemory,
    version: Version,
    first: u64,
    count: u64,
    threads: usize,
) -> Result<Vec<Vec<u8>>, LabError> {
    let hash = |(): &mut (), index: u64| {
        let mut last = Last::default();
        let input = (first + index).to_le_bytes();
        trace::hash(key.clone(), version, &input, &mut last)?;
        Ok(last.0)
    };
    parallel::map("", count, threads, &mut (), || Ok(()), hash)
}

/// A tracer that keeps the final scratchpad.
#[derive(Default)]
struct Last(Vec<u8>);

impl Tracer for Last {
    fn scratchpad(&mut self, scratchpad: &Scratchpad) {
        self.0 = scratchpad.blocks().as_flattened().to_vec();
    }
}

/// An LZMA2 stream that keeps only its size.
struct Archive {
    writer: Lzma2Writer<Counter>,
    bytes: u64,
}

impl Archive {
    /// An archive of this many bytes, which also limits the dictionary.
    fn new(bytes: usize) -> Archive {
        let mut options = Lzma2Options::with_preset(9);
        let whole = u32::try_from(bytes).unwrap_or(u32::MAX);
        options.lzma_options.dict_size = options.lzma_options.dict_size.min(whole).max(1 << 16);
        Archive { writer: Lzma2Writer::new(Counter(0), options), bytes: 0 }
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), LabError> {
        self.bytes += bytes.len() as u64;
        self.writer.write_all(bytes).map_err(failed)
    }

    fn percentage(self) -> Result<f64, LabError> {
        let Counter(compressed) = self.writer.finish().map_err(failed)?;
        Ok(100.0 * compressed as f64 / self.bytes as f64)
    }
}

fn failed(problem: io::Error) -> LabError {
    LabError::Io { what: "LZMA", problem }
}

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The entropy of a byte with this distribution, in bits.
fn entropy(counts: &[u64; 256]) -> f64 {
    let all = counts.iter().sum::<u64>() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| *count as f64 / all);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratchpads_cannot_be_compressed() {
        let settings = Settings { samples: Some(1), ..Settings::default() };
        let report = crate::run(&Entropy, &settings, &mut ()).expect("a report");
        assert!(report.unexplained().is_empty());
        for version in ["v1", "v2"] {
            let size = report.row(SIZES, version).expect("a row").here;
            assert!(size > 99.9 && size < 100.1, "{version}: {size}");
            let entropy = report.row(BYTES, version).expect("a row").here;
            assert!(entropy > 7.99 && entropy <= 8.0, "{version}: {entropy}");
        }
    }

    /// The compressor finds repetitions, even between parts.
    #[test]
    fn repetitions_are_compressed() {
        let part: Vec<u8> =
            (0..1u32 << 18).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut archive = Archive::new(2 * part.len());
        archive.add(&part).expect("room");
        archive.add(&part).expect("room");
        let percentage = archive.percentage().expect("an end");
        assert!(percentage < 51.0, "{percentage}");
        assert!(
            entropy(&[1; 256]) == 8.0
                && entropy(&std::array::from_fn(|at| (at == 7).into())) == 0.0
        );
    }
}
