//! What to hash, grouped so that each cache is filled once and one is alive at a time.

use std::collections::HashMap;

use randomx::Version;

/// Inputs to hash, in the order in which they came.
#[derive(Default)]
pub(crate) struct Batch {
    /// The keys, numbered by their first use.
    keys: HashMap<Vec<u8>, usize>,
    jobs: Vec<Job>,
}

struct Job {
    key: usize,
    version: Version,
    input: Vec<u8>,
}

/// The jobs of one key: those of v1, then those of v2, never neither.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) parts: Vec<Part>,
}

/// Jobs that share a key and a version, which is what a VM can hash in lanes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) version: Version,
    /// Positions in the batch, ascending; never empty.
    pub(crate) jobs: Vec<usize>,
}

impl Batch {
    /// Adds a job; its position is the number of jobs before it.
    pub(crate) fn push(&mut self, key: Vec<u8>, version: Version, input: Vec<u8>) {
        let next = self.keys.len();
        let key = *self.keys.entry(key).or_insert(next);
        self.jobs.push(Job { key, version, input });
    }

    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(crate) fn input(&self, job: usize) -> &[u8] {
        &self.jobs[job].input
    }

    /// All jobs by key, in the order of the keys' first use.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let mut keys = vec![&[][..]; self.keys.len()];
        for (key, &index) in &self.keys {
            keys[index] = key;
        }
        let mut jobs = vec![[const { Vec::new() }; Version::ALL.len()]; keys.len()];
        for (position, job) in self.jobs.iter().enumerate() {
            jobs[job.key][job.version as usize].push(position);
        }
        keys.into_iter()
            .zip(jobs)
            .map(|(key, jobs)| Group {
                key,
                parts: Version::ALL
                    .into_iter()
                    .zip(jobs)
                    .filter(|(_, jobs)| !jobs.is_empty())
                    .map(|(version, jobs)| Part { version, jobs })
                    .collect(),
            })
            .collect()
    }
}

impl Part {
    /// Cuts the jobs into chunks of at most `lanes`, as alike as can be, so that no thread is
    /// left with a long last chunk while the others idle.
    pub(crate) fn chunks(&self, threads: usize, lanes: usize) -> impl Iterator<Item = &[usize]> {
        let rounds = self.jobs.len().div_ceil(threads * lanes);
        self.jobs.chunks(self.jobs.len().div_ceil(threads * rounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(jobs: &[(&str, Version)]) -> Batch {
        let mut batch = Batch::default();
        for (number, (key, version)) in jobs.iter().enumerate() {
            batch.push(key.as_bytes().to_vec(), *version, vec![number as u8]);
        }
        batch
    }

    #[test]
    fn jobs_are_grouped_by_key_then_version() {
        use Version::{V1, V2};
        let batch = batch(&[("b", V2), ("a", V1), ("b", V1), ("", V2), ("b", V2), ("a", V1)]);
        assert_eq!(batch.len(), 6);
        assert_eq!(batch.input(4), [4]);
        let part = |version, jobs: &[usize]| Part { version, jobs: jobs.to_vec() };
        assert_eq!(
            batch.groups(),
            [
                Group { key: b"b", parts: vec![part(V1, &[2]), part(V2, &[0, 4])] },
                Group { key: b"a", parts: vec![part(V1, &[1, 5])] },
                Group { key: b"", parts: vec![part(V2, &[3])] },
            ]
        );
    }

    #[test]
    fn no_jobs_make_no_groups() {
        assert_eq!(batch(&[]).groups(), []);
    }

    #[test]
    fn chunks_hold_every_job_once_and_fit_the_lanes() {
        for jobs in 1..70 {
            let part = Part { version: Version::V1, jobs: (0..jobs).collect() };
            for threads in 1..6 {
                for lanes in 1..=8 {
                    let chunks: Vec<_> = part.chunks(threads, lanes).collect();
                    assert_eq!(chunks.concat(), part.jobs);
                    assert!(chunks.iter().all(|chunk| chunk.len() <= lanes));
                    let fewest = jobs.div_ceil(lanes);
                    assert!(chunks.len() < fewest + threads, "{jobs} {threads} {lanes}");
                }
            }
        }
    }

    #[test]
    fn chunks_are_alike() {
        let sizes = |jobs, threads, lanes| {
            let part = Part { version: Version::V1, jobs: (0..jobs).collect() };
            part.chunks(threads, lanes).map(<[usize]>::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(8, 2, 8), [4, 4]);
        assert_eq!(sizes(9, 2, 8), [5, 4]);
        assert_eq!(sizes(17, 2, 8), [5, 5, 5, 2]);
        assert_eq!(sizes(17, 1, 8), [6, 6, 5]);
        assert_eq!(sizes(3, 16, 8), [1, 1, 1]);
    }
}
