//! Times of alternatives that take turns.

use std::time::Duration;

/// Returns the shortest time of each of `count` candidates. In each round every candidate has a turn, which `time`
/// measures for the candidate with an index. So other work affects all of them alike. Interruptions only add to times.
pub(crate) fn shortest_times(
    count: usize,
    rounds: usize,
    mut time: impl FnMut(usize) -> Duration,
) -> Vec<Duration> {
    let mut shortest = vec![Duration::MAX; count];
    for _ in 0..rounds {
        for (index, shortest) in shortest.iter_mut().enumerate() {
            *shortest = time(index).min(*shortest);
        }
    }
    shortest
}

/// Returns the index of the candidate with the shortest of those times, the first of equal ones.
pub(crate) fn fastest(count: usize, rounds: usize, time: impl FnMut(usize) -> Duration) -> usize {
    let times = shortest_times(count, rounds, time);
    (0..count).min_by_key(|&index| times[index]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_take_turns_and_their_shortest_times_count() {
        let readings = [9, 4, 3, 8, 5, 7].map(Duration::from_nanos);
        let mut turns = Vec::new();
        let times = shortest_times(2, 3, |index| {
            turns.push(index);
            readings[turns.len() - 1]
        });
        assert_eq!(times, [3, 4].map(Duration::from_nanos));
        assert_eq!(turns, [0, 1, 0, 1, 0, 1]);
    }
}
