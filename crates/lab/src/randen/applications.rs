//! The four applications of the paper.

use std::hint::black_box;

use rand_core::Rng;

/// An application that uses random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// A loop that only generates numbers.
    Raw,
    /// A Fisher-Yates shuffle of 400 KB.
    Shuffle,
    /// Reservoir sampling of 80 KB out of 400 KB.
    Sample,
    /// A Monte Carlo estimate of pi.
    Pi,
}

/// Numbers in the loop, and elements of four bytes to shuffle or sample.
const COUNT: usize = 100_000;

/// Elements in a sample.
const CHOSEN: usize = 20_000;

/// Coordinates of random points, two per point.
const COORDINATES: usize = 200_000;

impl Application {
    /// All applications, in the paper's order.
    pub const ALL: [Application; 4] =
        [Application::Raw, Application::Shuffle, Application::Sample, Application::Pi];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Application::Raw => "raw",
            Application::Shuffle => "shuffle",
            Application::Sample => "reservoir",
            Application::Pi => "pi",
        }
    }

    /// The title, with the paper's table.
    pub const fn title(self) -> &'static str {
        match self {
            Application::Raw => "Random numbers alone (table 2)",
            Application::Shuffle => "Fisher-Yates shuffle of 400 KB (table 3)",
            Application::Sample => "Reservoir sampling of 80 KB out of 400 KB (table 4)",
            Application::Pi => "Monte Carlo estimate of pi (table 5)",
        }
    }

    /// Bytes that one call of [`prepare`](Self::prepare)'s function counts as. As in the paper, every
    /// element counts, even if it takes no random number.
    pub const fn bytes(self) -> usize {
        match self {
            Application::Raw | Application::Shuffle | Application::Sample => 8 * COUNT,
            Application::Pi => 8 * COORDINATES,
        }
    }

    /// Returns a function that runs the application once. Its result depends on every number, so that the
    /// compiler cannot remove any.
    pub fn prepare<'a, R: Rng + 'a>(self, mut generator: R) -> Box<dyn FnMut() -> u64 + 'a> {
        match self {
            Application::Raw => Box::new(move || raw(&mut generator)),
            Application::Shuffle => {
                let mut elements: Vec<u32> = (0..COUNT as u32).collect();
                Box::new(move || shuffle(&mut generator, &mut elements))
            }
            Application::Sample => {
                let elements: Vec<u32> = (0..COUNT as u32).collect();
                let mut chosen = vec![0; CHOSEN];
                Box::new(move || sample(&mut generator, &elements, &mut chosen))
            }
            Application::Pi => Box::new(move || pi_in_millionths(&mut generator)),
        }
    }
}

fn raw<R: Rng>(generator: &mut R) -> u64 {
    for _ in 1..COUNT {
        // Keeps the compiler from removing unused numbers.
        black_box(generator.next_u64());
    }
    generator.next_u64()
}

fn shuffle<R: Rng>(generator: &mut R, elements: &mut [u32]) -> u64 {
    for last in (1..elements.len()).rev() {
        let other = below(generator, last as u32 + 1);
        elements.swap(last, other as usize);
    }
    u64::from(elements[0])
}

fn sample<R: Rng>(generator: &mut R, elements: &[u32], chosen: &mut [u32]) -> u64 {
    let (first, others) = elements.split_at(chosen.len());
    chosen.copy_from_slice(first);
    for (index, &element) in others.iter().enumerate() {
        let place = below(generator, (first.len() + index) as u32 + 1);
        if let Some(place) = chosen.get_mut(place as usize) {
            *place = element;
        }
    }
    u64::from(chosen[0])
}

fn pi_in_millionths<R: Rng>(generator: &mut R) -> u64 {
    let mut inside = 0u64;
    for _ in 0..COORDINATES / 2 {
        let (x, y) = (unit(generator), unit(generator));
        inside += u64::from(x * x + y * y < 1.0);
    }
    inside * 4_000_000 / (COORDINATES as u64 / 2)
}

/// Returns a uniform number below `limit`, almost always without a division (Lemire: arXiv 1805.10941).
#[inline(always)]
fn below<R: Rng>(generator: &mut R, limit: u32) -> u32 {
    let mut product = u64::from(generator.next_u64() as u32) * u64::from(limit);
    if (product as u32) < limit {
        let threshold = limit.wrapping_neg() % limit;
        while (product as u32) < threshold {
            product = u64::from(generator.next_u64() as u32) * u64::from(limit);
        }
    }
    (product >> 32) as u32
}

/// Returns a number from 0 to 1 with full precision however small it is: the number of leading zeros
/// becomes the exponent.
#[inline(always)]
fn unit<R: Rng>(generator: &mut R) -> f64 {
    let bits = generator.next_u64();
    if bits == 0 {
        return 0.0;
    }
    let zeros = bits.leading_zeros();
    let mantissa = (bits << zeros >> 11) & ((1 << 52) - 1);
    f64::from_bits((1022 - u64::from(zeros)) << 52 | mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randen::Randen;

    #[test]
    fn applications_do_what_their_names_say() {
        let mut generator = Randen::default();
        let mut elements: Vec<u32> = (0..1000).collect();
        shuffle(&mut generator, &mut elements);
        assert!(!elements.is_sorted());
        elements.sort_unstable();
        assert!(elements.iter().copied().eq(0..1000));

        let mut chosen = vec![0; 100];
        sample(&mut generator, &elements, &mut chosen);
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 100, "distinct elements");
        let mean = chosen.iter().sum::<u32>() / 100;
        assert!((350..650).contains(&mean), "{mean}");

        // Eight standard deviations of 100,000 points.
        let pi = pi_in_millionths(&mut generator);
        assert!(pi.abs_diff(3_141_593) < 42_000, "{pi}");
    }

    #[test]
    fn numbers_below_a_limit_are_uniform() {
        let mut generator = Randen::default();
        let mut counts = [0u32; 6];
        (0..6000).for_each(|_| counts[below(&mut generator, 6) as usize] += 1);
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 200), "{counts:?}");
    }

    #[test]
    fn numbers_of_the_unit_interval_are_uniform() {
        let mut generator = Randen::default();
        let numbers: Vec<f64> = (0..10_000).map(|_| unit(&mut generator)).collect();
        assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
