//! The four measurements of the paper: a loop that only asks for numbers, and three applications.

use std::hint::black_box;

use rand_core::Rng;

/// What a generator is measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// Numbers that nobody uses.
    Raw,
    /// Fisher and Yates' shuffle of 400 KB.
    Shuffle,
    /// Reservoir sampling: 80 KB out of 400 KB.
    Sample,
    /// Pi by points in a square that lie in the circle.
    Pi,
}

/// Numbers of the loop, and elements of four bytes.
const COUNT: usize = 100_000;

/// Elements that are sampled.
const CHOSEN: usize = 20_000;

/// Coordinates of points.
const COORDINATES: usize = 200_000;

impl Application {
    /// All four, in the paper's order.
    pub const ALL: [Application; 4] =
        [Application::Raw, Application::Shuffle, Application::Sample, Application::Pi];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Application::Raw => "raw",
            Application::Shuffle => "shuffle",
            Application::Sample => "reservoir",
            Application::Pi => "pi",
        }
    }

    /// What is done, and the paper's table about it.
    pub const fn title(self) -> &'static str {
        match self {
            Application::Raw => "Numbers alone (table 2)",
            Application::Shuffle => "Fisher-Yates shuffle of 400 KB (table 3)",
            Application::Sample => "Reservoir sampling of 80 KB out of 400 KB (table 4)",
            Application::Pi => "Monte Carlo estimate of pi (table 5)",
        }
    }

    /// Bytes that one call of [`prepare`](Self::prepare)'s function counts for. As in the paper each
    /// element counts, also where no number is asked for.
    pub const fn bytes(self) -> usize {
        match self {
            Application::Raw | Application::Shuffle | Application::Sample => 8 * COUNT,
            Application::Pi => 8 * COORDINATES,
        }
    }

    /// A function that does all of it once, and returns something that depends on each number.
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
        // Without this the compiler would leave out what nobody looks at.
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

/// A number below `limit`, all equally likely, almost never by a division (Lemire: arXiv 1805.10941).
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

/// A number from 0 to 1 with all 53 bits, however small it is: the exponent is the count of leading
/// zeros.
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
    fn applications_do_what_they_are_called() {
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
        assert_eq!(chosen.len(), 100, "each at most once");
        let mean = chosen.iter().sum::<u32>() / 100;
        assert!((350..650).contains(&mean), "{mean}");

        // Eight standard deviations of 100,000 points.
        let pi = pi_in_millionths(&mut generator);
        assert!(pi.abs_diff(3_141_593) < 42_000, "{pi}");
    }

    #[test]
    fn numbers_below_a_limit_are_all_reached() {
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
