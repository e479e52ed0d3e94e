//! The pieces of a slice, and how large a piece should be.

use std::sync::Mutex;

use super::{Source, lock};

/// The most jobs in a piece of several groups of lanes: enough that a VM with one lane, too,
/// prepares its next input while it hashes, and few enough that all threads end at about the same
/// time.
const MAX_SEVERAL: usize = 16;

/// Returns how many of `left` jobs a worker should take, when it hashes up to `lanes` together.
///
/// Few jobs are divided among the `free` workers, many are taken several groups at a time. Of no
/// jobs it is 0.
pub fn piece_size(left: usize, free: usize, workers: usize, lanes: usize) -> usize {
    let group = left.div_ceil(free.max(1)).min(lanes.max(1));
    several_groups(left, workers, group).min(left)
}

/// Returns the size of as many groups as a piece should have while `left` jobs are left.
fn several_groups(left: usize, workers: usize, group: usize) -> usize {
    let group = group.max(1);
    let several = left / workers.max(1).saturating_mul(group).saturating_mul(4);
    group * several.clamp(1, (MAX_SEVERAL / group).max(1))
}

/// A slice of jobs, handed out in pieces: the position of the first job, and the jobs.
pub struct Pieces<'a, T> {
    left: Mutex<(usize, &'a [T])>,
    workers: usize,
    group: usize,
    most: usize,
}

impl<'a, T> Pieces<'a, T> {
    /// Creates the pieces for workers that hash up to `lanes` jobs together.
    pub fn new(jobs: &'a [T], workers: usize, lanes: usize) -> Pieces<'a, T> {
        let (workers, lanes) = (workers.max(1), lanes.max(1));
        // With as many rounds as full lanes need, all threads get about the same.
        let rounds = jobs.len().div_ceil(workers.saturating_mul(lanes)).max(1);
        let group = jobs.len().div_ceil(workers.saturating_mul(rounds)).max(1);
        let most = jobs.len().div_ceil(group);
        Pieces { left: Mutex::new((0, jobs)), workers, group, most }
    }

    /// Returns the most jobs that are hashed together.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Returns the most pieces that there can be.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl<'a, T: Sync> Source for Pieces<'a, T> {
    type Piece = (usize, &'a [T]);

    fn next(&self, _: usize) -> Option<(usize, &'a [T])> {
        let mut left = lock(&self.left);
        let (first, jobs) = *left;
        if jobs.is_empty() {
            return None;
        }
        let size = several_groups(jobs.len(), self.workers, self.group).min(jobs.len());
        let (piece, rest) = jobs.split_at(size);
        *left = (first + size, rest);
        Some((first, piece))
    }

    fn close(&self) {
        lock(&self.left).1 = &[];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(jobs: usize, workers: usize, lanes: usize) -> Vec<usize> {
        let jobs = vec![(); jobs];
        let pieces = Pieces::new(&jobs, workers, lanes);
        let sizes: Vec<usize> =
            std::iter::from_fn(|| pieces.next(1)).map(|(_, jobs)| jobs.len()).collect();
        assert!(sizes.len() <= pieces.most());
        sizes
    }

    #[test]
    fn few_jobs_are_divided_among_all_workers() {
        assert_eq!(sizes(0, 2, 8), [0; 0]);
        assert_eq!(sizes(1, 2, 8), [1]);
        assert_eq!(sizes(8, 2, 8), [4, 4]);
        assert_eq!(sizes(9, 2, 8), [5, 4]);
        assert_eq!(sizes(17, 2, 8), [5, 5, 5, 2]);
        assert_eq!(sizes(17, 1, 8), [6, 6, 5]);
        assert_eq!(sizes(3, 16, 8), [1, 1, 1]);
        assert_eq!(sizes(16, 1, 8), [8, 8]);
        assert_eq!(
            sizes(40, 2, 1),
            [[5, 4, 3].as_slice(), &[3], &[3], &[2], &[2], &[2], &[2], &[1; 14]].concat()
        );
    }

    #[test]
    fn pieces_hold_every_job_once_in_order() {
        for (count, workers, lanes) in [(1, 4, 8), (7, 1, 8), (100, 3, 8), (301, 8, 5), (500, 2, 1)]
        {
            let jobs: Vec<usize> = (0..count).collect();
            let pieces = Pieces::new(&jobs, workers, lanes);
            let mut expected = 0;
            while let Some((first, piece)) = pieces.next(1) {
                assert_eq!((first, piece[0]), (expected, expected));
                assert!(piece.len() <= lanes.max(MAX_SEVERAL));
                expected += piece.len();
            }
            assert_eq!(expected, count);
        }
    }

    #[test]
    fn closed_pieces_have_no_next_one() {
        let jobs = [(); 17];
        let pieces = Pieces::new(&jobs, 2, 8);
        assert_eq!((pieces.group(), pieces.most()), (5, 4));
        assert!(pieces.next(1).is_some());
        pieces.close();
        assert_eq!(pieces.next(1), None);
    }

    #[test]
    fn jobs_that_come_one_by_one_are_divided_among_the_free_workers() {
        assert_eq!(piece_size(0, 2, 2, 8), 0);
        assert_eq!(piece_size(1, 2, 2, 8), 1);
        assert_eq!(piece_size(8, 2, 2, 8), 4);
        assert_eq!(piece_size(4, 1, 2, 8), 4);
        assert_eq!(piece_size(17, 1, 2, 8), 8);
        assert_eq!(piece_size(1000, 1, 2, 8), 16);
        assert_eq!(piece_size(1000, 1, 2, 1), 16);
        assert_eq!(piece_size(5, 1, 64, 1), 1);
    }
}
