//! The output of XMRig.

use std::time::Duration;

/// A line of the output.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// There is no memory for a dataset, or light mode was chosen.
    NoDataset,
    /// The dataset is complete, after this time. Without a dataset it is the cache.
    Ready(Duration),
    /// Hashes so far, and the time since hashing began.
    Progress { hashes: u64, elapsed: Duration },
    /// Any other.
    Other,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Line {
    no_dataset(line).or_else(|| ready(line)).or_else(|| progress(line)).unwrap_or(Line::Other)
}

/// Reads `… randomx  failed to allocate RandomX dataset, switching to slow mode (0 ms)`.
fn no_dataset(line: &str) -> Option<Line> {
    line.contains("switching to slow mode").then_some(Line::NoDataset)
}

/// Reads `… randomx  dataset ready (11300 ms)`.
fn ready(line: &str) -> Option<Line> {
    let (_, rest) = line.split_once("dataset ready (")?;
    let milliseconds = rest.split_once(" ms)")?.0.parse().ok()?;
    Some(Line::Ready(Duration::from_millis(milliseconds)))
}

/// Reads `…  bench     0.12% 11852/10000000 (31.002s)`.
fn progress(line: &str) -> Option<Line> {
    let (_, rest) = line.split_once("% ")?;
    let (hashes, rest) = rest.split_once('/')?;
    let (_, seconds) = rest.split_once(" (")?;
    let seconds: f64 = seconds.trim_end().strip_suffix("s)")?.parse().ok()?;
    let elapsed = Duration::try_from_secs_f64(seconds).ok()?;
    Some(Line::Progress { hashes: hashes.parse().ok()?, elapsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let slow = "[2026-11-23 05:20:14.361]  randomx  failed to allocate RandomX dataset, \
                    switching to slow mode (0 ms)";
        assert_eq!(read(slow), Line::NoDataset);
        let ready = "[2026-11-23 05:20:14.361]  randomx  dataset ready (11300 ms)";
        assert_eq!(read(ready), Line::Ready(Duration::from_millis(11_300)));
        let progress = "[2026-11-23 05:20:14.361]  bench     0.12% 11852/10000000 (31.002s)";
        let elapsed = Duration::from_millis(31_002);
        assert_eq!(read(progress), Line::Progress { hashes: 11_852, elapsed });
    }

    #[test]
    fn other_lines_have_no_figures() {
        let others = [
            "",
            " * CPU          AMD EPYC (1) 64-bit AES VM",
            "[2026-11-23]  miner    speed 10s/60s/15m 378.2 n/a n/a H/s max 380.1 H/s",
            "dataset ready (x ms)",
            "dataset ready (",
            "0.12% 11852/10000000 (-1.0s)",
            "0.12% 11852/10000000 (1e300s)",
            "0.12% -1/10000000 (1.0s)",
            "0.12% 1",
        ];
        for other in others {
            assert_eq!(read(other), Line::Other, "{other}");
        }
    }
}
