//! The sources of older headers, which may be slow, silent or false.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use randomx_client::{Answer, Source};
use randomx_monero::Hash;
use randomx_monero::client::{MAX_HEADERS, Query};

use super::segment::proven;
use crate::verified::Verified;

/// The number of blocks that are read and proven together.
pub(super) const PART: u64 = 512;

/// The time that a source may take for a part at first, and the longest.
const SOURCE_PATIENCE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(3600);

/// How long a source's last result counts at least. A relay that is started again would otherwise not be used for
/// the rest of a long restore.
const MEMORY: Duration = Duration::from_secs(300);

/// The time that a source is assumed to take for a part before it was measured.
const EXPECTED: Duration = Duration::from_secs(20);

/// Returns a source each of whose answers may take a time.
pub(crate) type Connect = Box<dyn Fn(Duration) -> Source + Send>;

/// Returns hashing blobs, given the first height, the number of blocks, and the time that an answer may take. There
/// may be fewer.
pub(super) type Ask<'a> = Box<dyn Fn(u64, u64, Duration) -> Result<Vec<Vec<u8>>, String> + 'a>;

/// The sources, with the time that each took.
pub(super) struct Sources<'a> {
    sources: Vec<Measured<'a>>,
    /// The time that a source may take for a part.
    patience: Duration,
    /// That time at first, which is also the shortest.
    shortest: Duration,
    /// How long a source's last result counts at least.
    memory: Duration,
}

struct Measured<'a> {
    ask: Ask<'a>,
    /// When it was last measured, and the time that it took for a whole part. The longest there is
    /// after a failure.
    took: Option<(Instant, Duration)>,
}

impl Measured<'_> {
    /// Returns the time that it is assumed to take for a part.
    fn expected(&self, memory: Duration) -> Duration {
        let took = self.took.filter(|(measured, _)| measured.elapsed() < memory);
        took.map_or(EXPECTED, |(_, took)| took)
    }
}

impl<'a> Sources<'a> {
    /// Returns sources that were not measured. The first is preferred. Once `is_stopped` returns true, no source is
    /// asked any more.
    pub(super) fn new(
        sources: &'a [Connect],
        is_stopped: &'a (dyn Fn() -> bool + 'a),
    ) -> Sources<'a> {
        let sources = sources.iter().map(|connect| {
            // Kept with its connections for as long as the time stays the same.
            let connected = RefCell::new(None);
            Box::new(move |first, count, time| {
                if is_stopped() {
                    return Err("the guard has ended".to_owned());
                }
                let mut connected = connected.borrow_mut();
                let before = connected.take().filter(|(known, _)| *known == time);
                let (_, source) = connected.insert(before.unwrap_or_else(|| (time, connect(time))));
                match source.ask(Query::Headers { first, count }) {
                    Ok(Answer::Headers(blobs)) => Ok(blobs),
                    Ok(_) => Err("a source sent no headers".to_owned()),
                    Err(problem) => Err(problem.to_string()),
                }
            }) as Ask<'a>
        });
        Sources::by(sources.collect(), SOURCE_PATIENCE, MEMORY)
    }

    /// Returns sources that are asked in these ways. Each may take the time `shortest` for a part at first, and
    /// its results count for the time `memory` at least.
    pub(super) fn by(sources: Vec<Ask<'a>>, shortest: Duration, memory: Duration) -> Sources<'a> {
        let measured = |ask| Measured { ask, took: None };
        let sources = sources.into_iter().map(measured).collect();
        Sources { sources, patience: shortest, shortest, memory }
    }

    /// Returns how long a source's last result counts.
    fn memory(&self) -> Duration {
        // Otherwise most of the time could go to sources that are late again.
        self.memory.max(4 * self.patience)
    }

    /// Returns the blocks from `first` to `last`, where `id` is that of the last one. Asks the fastest
    /// source, and the next one if its answers are late or false.
    pub(super) fn fetch(
        &mut self,
        first: u64,
        last: u64,
        id: Hash,
    ) -> Result<Vec<Verified>, String> {
        let memory = self.memory();
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        order.sort_by_key(|&index| (self.sources[index].expected(memory), index));
        let (mut failure, mut late) = ("there is no source".to_owned(), false);
        for index in order {
            let source = &mut self.sources[index];
            let begun = Instant::now();
            match read(&source.ask, first, last, self.patience) {
                Ok(blobs) => {
                    if let Some(blocks) = proven(&blobs, id) {
                        if last - first + 1 == PART {
                            let took = begun.elapsed();
                            source.took = Some((Instant::now(), took));
                            self.note_success(took);
                        }
                        return Ok(blocks);
                    }
                    failure = format!("blocks {first} to {last} are not on the verified chain");
                }
                Err(Problem::Failed(problem)) => {
                    // An answer that did not come in time is no other failure than too few of them.
                    late |= begun.elapsed() >= self.patience;
                    failure = problem;
                }
                Err(Problem::Late(count)) => {
                    late = true;
                    let (expected, seconds) = (last - first + 1, self.patience.as_secs());
                    failure = format!("expected {expected} headers in {seconds} s, got {count}");
                }
            }
            source.took = Some((Instant::now(), Duration::MAX));
        }
        if late {
            // There is no faster source.
            self.patience = (2 * self.patience).min(LONGEST);
        }
        Err(failure)
    }

    /// Shortens the patience after a whole part, but not below twice the time that the part took. A source that is
    /// as slow for the next part would otherwise be late.
    fn note_success(&mut self, took: Duration) {
        if 4 * took <= self.patience {
            self.patience = (self.patience / 2).max(self.shortest);
        }
    }
}

/// Why a source's headers are not used.
enum Problem {
    /// It gave no usable answer.
    Failed(String),
    /// Its time was over when it had sent so many headers.
    Late(usize),
}

/// Reads hashing blobs from a source. An answer may have any number of them. When the time is over, no
/// further request is sent. No answer is awaited for longer than that time, whatever other requests may take.
fn read(ask: &Ask<'_>, first: u64, last: u64, patience: Duration) -> Result<Vec<Vec<u8>>, Problem> {
    let end = Instant::now() + patience;
    let mut blobs: Vec<Vec<u8>> = Vec::new();
    loop {
        let next = first + blobs.len() as u64;
        if next > last {
            return Ok(blobs);
        }
        if Instant::now() > end {
            return Err(Problem::Late(blobs.len()));
        }
        let count = (last - next + 1).min(MAX_HEADERS);
        match ask(next, count, patience).map_err(Problem::Failed)? {
            more if !more.is_empty() && more.len() as u64 <= count => blobs.extend(more),
            more => {
                let problem = format!("expected 1 to {count} headers, got {}", more.len());
                return Err(Problem::Failed(problem));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::{Arc, Mutex};
    use std::thread::sleep;

    use randomx_client::Route;
    use randomx_monero::Block;
    use randomx_testing::blocks::block_with;
    use url::Url;

    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    /// Returns linked hashing blobs, and the id of the last.
    fn headers(count: u64) -> (Vec<Vec<u8>>, Hash) {
        let (mut blobs, mut last) = (Vec::new(), [0; 32]);
        for height in 0..count {
            let block = block_with(height, 1_700_000_000 + height, &last, 0, 1, &[]);
            let block = Block::parse(&block).expect("a block");
            last = block.id();
            blobs.push(block.hashing_blob().as_bytes().to_vec());
        }
        (blobs, last)
    }

    /// Returns a source that sends `most` headers of each answer after a pause, and counts its answers.
    fn source<'a>(
        blobs: &'a [Vec<u8>],
        most: usize,
        pause: Duration,
        asked: &'a Cell<u32>,
    ) -> Ask<'a> {
        Box::new(move |first, count, _| {
            asked.set(asked.get() + 1);
            sleep(pause);
            let first = usize::try_from(first).expect("a height");
            let most = most.min(usize::try_from(count).expect("a number"));
            Ok(blobs[first..first + most].to_vec())
        })
    }

    #[test]
    fn another_source_is_asked_when_one_is_slow() {
        let (blobs, last) = headers(PART);
        let (slow, fast) = (Cell::new(0), Cell::new(0));
        let mut sources = Sources::by(
            vec![source(&blobs, 1, SOON / 5, &slow), source(&blobs, 512, Duration::ZERO, &fast)],
            SOON,
            MEMORY,
        );
        assert_eq!(sources.fetch(0, PART - 1, last).map(|blocks| blocks.len()), Ok(512));
        let asked = slow.get();
        assert!(asked <= 6 && fast.get() == 1, "{asked}");
        // It is not asked again while the other one answers.
        assert!(sources.fetch(0, PART - 1, last).is_ok());
        assert_eq!((slow.get(), fast.get()), (asked, 2));
    }

    #[test]
    fn a_slow_source_is_enough_if_it_is_the_only_one() {
        let (blobs, last) = headers(40);
        let asked = Cell::new(0);
        let mut sources = Sources::by(vec![source(&blobs, 1, SOON / 5, &asked)], SOON, MEMORY);
        let mut tries = 1;
        while let Err(problem) = sources.fetch(0, 39, last) {
            assert!(problem.starts_with("expected 40 headers in "), "{problem}");
            tries += 1;
        }
        // Forty pauses take at least eight times the patience at first. The longer time is kept.
        assert!(tries >= 4, "{tries}");
        assert_eq!(sources.patience, SOON * (1 << (tries - 1)));
    }

    #[test]
    fn an_answer_may_take_no_longer_than_a_part() {
        let last = headers(1).1;
        let given = RefCell::new(Vec::new());
        let silent: Ask<'_> = Box::new(|_, _, time| {
            given.borrow_mut().push(time);
            sleep(time);
            Err("no answer in time".to_owned())
        });
        let mut sources = Sources::by(vec![silent], SOON, MEMORY);
        for _ in 0..3 {
            assert!(sources.fetch(0, 0, last).is_err());
        }
        assert_eq!(given.take(), [SOON, 2 * SOON, 4 * SOON]);
        // A failure that comes at once changes nothing.
        let refusing: Ask<'_> = Box::new(|_, _, _| Err("a problem".to_owned()));
        let mut sources = Sources::by(vec![refusing], MEMORY, MEMORY);
        assert!(sources.fetch(0, 0, last).is_err());
        assert_eq!(sources.patience, MEMORY);
    }

    #[test]
    fn a_source_is_connected_once_for_each_time() {
        let url = Url::parse("http://127.0.0.1:1/").expect("an address");
        let given = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&given);
        let connect: Connect = Box::new(move |time| {
            noted.lock().expect("no panic").push(time);
            Source::relay(&Route::direct(time), &url)
        });
        let (connects, is_stopped) = ([connect], || false);
        let sources = Sources::new(&connects, &is_stopped);
        for time in [SOON, SOON, 2 * SOON, SOON] {
            assert!((sources.sources[0].ask)(0, 1, time).is_err());
        }
        assert_eq!(*given.lock().expect("no panic"), [SOON, 2 * SOON, SOON]);
    }

    #[test]
    fn sources_get_less_time_again_when_one_is_fast() {
        let (blobs, last) = headers(PART);
        let asked = Cell::new(0);
        let (shortest, memory) = (Duration::from_secs(10), Duration::from_secs(50));
        let fast = source(&blobs, 512, Duration::ZERO, &asked);
        let mut sources = Sources::by(vec![fast], shortest, memory);
        // As after hours in which each source was late.
        sources.patience = LONGEST;
        let mut before = LONGEST;
        while before > shortest {
            // Fewer blocks show nothing.
            let few = headers(9).1;
            assert!(sources.fetch(0, 8, few).is_ok());
            assert_eq!((sources.patience, sources.memory()), (before, memory.max(4 * before)));
            assert!(sources.fetch(0, PART - 1, last).is_ok());
            // A slow part after a fast one costs one late answer at most.
            before = (before / 2).max(shortest);
            assert_eq!(sources.patience, before);
        }
        assert!(sources.fetch(0, PART - 1, last).is_ok());
        assert_eq!((sources.patience, sources.memory()), (shortest, memory));
    }

    #[test]
    fn a_slow_source_keeps_the_time_that_it_needs() {
        let (blobs, last) = headers(PART);
        let asked = Cell::new(0);
        let slow = source(&blobs, 512, 2 * SOON, &asked);
        let mut sources = Sources::by(vec![slow], SOON, MEMORY);
        sources.patience = 7 * SOON;
        for _ in 0..3 {
            assert!(sources.fetch(0, PART - 1, last).is_ok());
            assert_eq!(sources.patience, 7 * SOON);
        }
    }

    #[test]
    fn false_and_empty_answers_make_room_for_others() {
        let (blobs, last) = headers(PART);
        let (other, _) = headers(PART + 1);
        let asked = [0; 4].map(Cell::new);
        let mut sources = Sources::by(
            vec![
                Box::new(|_, _, _| {
                    asked[0].set(asked[0].get() + 1);
                    Ok(Vec::new())
                }),
                source(&other[1..], 512, Duration::ZERO, &asked[1]),
                Box::new(|_, count, _| {
                    asked[2].set(asked[2].get() + 1);
                    Ok(vec![Vec::new(); count as usize + 1])
                }),
                source(&blobs, 512, Duration::ZERO, &asked[3]),
            ],
            SOON,
            MEMORY,
        );
        for round in 1..=3 {
            assert!(sources.fetch(0, PART - 1, last).is_ok());
            assert_eq!(asked.each_ref().map(Cell::get), [1, 1, 1, round]);
        }
        let unknown = sources.fetch(0, PART - 1, [7; 32]).map(|_| ());
        assert_eq!(unknown, Err("expected 1 to 512 headers, got 513".to_owned()));
        let nobody = Sources::by(Vec::new(), SOON, MEMORY).fetch(0, 0, last).map(|_| ());
        assert_eq!(nobody, Err("there is no source".to_owned()));
    }

    #[test]
    fn a_source_that_failed_is_preferred_again_later() {
        let (blobs, last) = headers(PART);
        let (fails, asked) = (Cell::new(true), [0; 3].map(Cell::new));
        let relay = source(&blobs, 512, Duration::ZERO, &asked[0]);
        let relay: Ask<'_> = Box::new(move |first, count, time| {
            let answer = relay(first, count, time);
            if fails.replace(false) { Err("it is started again".to_owned()) } else { answer }
        });
        let slow = |index: usize| source(&blobs, 512, SOON / 5, &asked[index]);
        let mut sources = Sources::by(vec![relay, slow(1), slow(2)], SOON, 40 * SOON);
        let mut counts = |blocks: u64| {
            let id = if blocks == PART { last } else { headers(blocks).1 };
            assert!(sources.fetch(0, blocks - 1, id).is_ok());
            asked.each_ref().map(Cell::get)
        };
        // Too few blocks to measure the second source, so only the order decides afterwards.
        assert_eq!(counts(9), [1, 1, 0]);
        assert_eq!(counts(9), [1, 2, 0]);
        sleep(40 * SOON);
        assert_eq!(counts(9), [2, 2, 0]);
        assert_eq!(counts(PART), [3, 2, 0]);
        assert_eq!(counts(PART), [4, 2, 0]);
    }
}
