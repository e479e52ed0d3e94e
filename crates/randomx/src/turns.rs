//! Measurements of candidates that take turns.

use std::time::Duration;

/// Lets `count` candidates take turns for some rounds, and returns the shortest time of each. `time` measures a turn of
/// the candidate with an index. Other work affects all of them alike, and interruptions only add to times.
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
