//! The requirement for a hash: a difficulty, a target, or both.

use std::fmt;
use std::num::NonZeroU32;

use randomx_monero::client::least_difficulty;
use randomx_monero::{Difficulty, DifficultyError, Hash};

use crate::number::Number;
use crate::place::OUTSIDE;

/// The requirement for a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    difficulty: Option<Difficulty>,
    target: Option<Target>,
}

/// A target, in one of the forms that pools use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The hash, as a little-endian number, must not be above this one.
    Whole(Hash),
    /// The last 8 bytes of the hash, as a little-endian number, must be below this one.
    Top(u64),
    /// The short form of such a number.
    Short(NonZeroU32),
}

impl Requirement {
    /// Returns the requirement of a row, or `None` if it has neither a difficulty nor a target.
    pub(crate) fn new(
        difficulty: Option<Difficulty>,
        target: Option<Target>,
    ) -> Option<Requirement> {
        (difficulty.is_some() || target.is_some()).then_some(Requirement { difficulty, target })
    }

    /// Checks a hash.
    pub(crate) fn check(&self, hash: &Hash) -> Result<(), String> {
        match self.difficulty {
            Some(difficulty) if !difficulty.is_met_by(hash) => {
                return Err(format!("the hash does not meet difficulty {difficulty}"));
            }
            _ => {}
        }
        match self.target {
            Some(target) if !target.is_met_by(hash) => {
                Err(format!("the hash does not meet target {target}"))
            }
            _ => Ok(()),
        }
    }

    /// Says why there is no verdict on a hash, if a source stated the first difficulties: the hash misses only its
    /// difficulty, and narrowly.
    pub(crate) fn near_miss(&self, hash: &Hash) -> Option<String> {
        let difficulty = self.difficulty?;
        let least = Requirement { difficulty: least_difficulty(difficulty), ..*self };
        (least.difficulty.is_some() && least.check(hash).is_ok()).then(|| {
            format!(
                "the hash misses difficulty {difficulty} by less than 3.1 %: a source stated the first difficulties, \
                 perhaps too high"
            )
        })
    }
}

impl Target {
    /// Parses a target of 4, 8 or 32 bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Target, String> {
        let target = match *bytes {
            [a, b, c, d] => NonZeroU32::new(u32::from_le_bytes([a, b, c, d])).map(Target::Short),
            [a, b, c, d, e, f, g, h] => {
                let above = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
                (above > 0).then_some(Target::Top(above))
            }
            _ => match Hash::try_from(bytes) {
                Ok(whole) => (whole != [0; 32]).then_some(Target::Whole(whole)),
                Err(_) => return Err(format!("expected 4, 8 or 32 bytes, got {}", bytes.len())),
            },
        };
        target.ok_or_else(|| "expected more than 0, which no hash meets".to_owned())
    }

    fn is_met_by(self, hash: &Hash) -> bool {
        let is_below =
            |above| hash.last_chunk().is_some_and(|top| u64::from_le_bytes(*top) < above);
        match self {
            Target::Whole(most) => hash.iter().rev().le(most.iter().rev()),
            Target::Top(above) => is_below(above),
            // XMRig, `Job::setTarget`.
            Target::Short(short) => is_below(u64::MAX / u64::from(u32::MAX / short)),
        }
    }
}

impl fmt::Display for Target {
    /// Writes the bytes in the order in which they were given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Whole(most) => f.write_str(&hex::encode(most)),
            Target::Top(above) => f.write_str(&hex::encode(above.to_le_bytes())),
            Target::Short(short) => f.write_str(&hex::encode(short.get().to_le_bytes())),
        }
    }
}

/// Parses a difficulty.
pub(crate) fn difficulty(number: &Number<'_>) -> Result<Difficulty, String> {
    let parsed = match number {
        Number::Integer(integer) => match u128::try_from(*integer) {
            Ok(number) => Difficulty::try_from(number),
            Err(_) => return Err(format!("expected at least 1, got {integer}")),
        },
        Number::Large(digits) if digits.starts_with('-') => {
            return Err(format!("expected at least 1, got {digits}"));
        }
        Number::Large(digits) => digits.parse(),
        Number::Text(digits) => digits.parse(),
        Number::Outside => return Err(OUTSIDE.to_owned()),
    };
    parsed.map_err(|problem: DifficultyError| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(top: u64, rest: u8) -> Hash {
        let mut hash = [rest; 32];
        hash[24..].copy_from_slice(&top.to_le_bytes());
        hash
    }

    #[test]
    fn a_short_target_is_that_of_xmrig() {
        // A pool's difficulty of 1000 is 0xffffffff / 1000, in 4 bytes.
        let target = Target::parse(&(u32::MAX / 1000).to_le_bytes()).expect("a target");
        let above = u64::MAX / 1000;
        let long = Target::parse(&above.to_le_bytes()).expect("a target");
        assert_eq!(long, Target::Top(above));
        for target in [target, long] {
            assert!(target.is_met_by(&hash(above - 1, 0xff)));
            assert!(!target.is_met_by(&hash(above, 0)));
        }
    }

    #[test]
    fn a_reason_names_the_bytes_that_were_given() {
        for digits in ["b88d0600", "be03000000000000", &"12".repeat(32)] {
            let bytes = hex::decode(digits).expect("digits");
            let target = Target::parse(&bytes).expect("a target");
            assert_eq!(target.to_string(), digits);
            let problem = format!("the hash does not meet target {digits}");
            let demand = Requirement::new(None, Some(target)).expect("a demand");
            assert_eq!(demand.check(&[0xff; 32]), Err(problem));
        }
    }

    #[test]
    fn a_whole_target_is_the_greatest_hash() {
        let most = hash(7, 9);
        let target = Target::parse(&most).expect("a target");
        assert!(target.is_met_by(&most));
        assert!(target.is_met_by(&hash(6, 0xff)));
        let mut more = most;
        more[0] += 1;
        assert!(!target.is_met_by(&more));
        assert!(!target.is_met_by(&hash(8, 0)));
    }

    #[test]
    fn other_targets_are_refused() {
        for length in [0, 1, 3, 5, 16, 31, 33] {
            let problem = Target::parse(&vec![1; length]).expect_err("a length");
            assert_eq!(problem, format!("expected 4, 8 or 32 bytes, got {length}"));
        }
        for length in [4, 8, 32] {
            let problem = Target::parse(&vec![0; length]).expect_err("zero");
            assert_eq!(problem, "expected more than 0, which no hash meets");
        }
    }

    #[test]
    fn only_a_difficulty_is_missed_narrowly() {
        let near_miss = |difficulty: u128, target, top| {
            let demand = Requirement::new(Difficulty::try_from(difficulty).ok(), target);
            demand.expect("a demand").near_miss(&hash(top, 0))
        };
        let reason = "the hash misses difficulty 64 by less than 3.1 %: a source stated the first difficulties, perhaps \
                      too high";
        // Its difficulty is between 62 and 63.
        let top = u64::MAX / 63 + 1;
        assert_eq!(near_miss(64, None, top).as_deref(), Some(reason));
        assert_eq!(near_miss(64, None, u64::MAX / 62 + 1), None);
        assert_eq!(near_miss(u128::MAX, None, top), None);
        assert_eq!(near_miss(64, Some(Target::Top(top)), top), None);
        assert!(near_miss(64, Some(Target::Top(top + 1)), top).is_some());
        let demand = Requirement::new(None, Some(Target::Top(top))).expect("a demand");
        assert_eq!(demand.near_miss(&hash(top, 0)), None);
    }

    #[test]
    fn every_demand_must_be_met() {
        let easy = Difficulty::try_from(1).ok();
        let hard = Difficulty::try_from(u128::MAX).ok();
        let [low, high] = [Target::Top(1), Target::Top(u64::MAX)].map(Some);
        let check = |difficulty, target| {
            Requirement::new(difficulty, target).map(|demand| demand.check(&hash(5, 5)))
        };
        assert_eq!(check(None, None), None);
        assert_eq!(check(easy, None), Some(Ok(())));
        assert_eq!(check(easy, high), Some(Ok(())));
        let target = "the hash does not meet target 0100000000000000".to_owned();
        assert_eq!(check(easy, low), Some(Err(target)));
        let difficulty = format!("the hash does not meet difficulty {}", u128::MAX);
        assert_eq!(check(hard, low), Some(Err(difficulty)));
    }
}
