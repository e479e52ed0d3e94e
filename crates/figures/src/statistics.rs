//! Descriptive statistics.

/// The distribution of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The number of values.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for a single value.
    pub deviation: f64,
    /// The minimum, the three quartiles and the maximum.
    pub quartiles: [f64; 5],
}

impl Statistics {
    /// Returns the statistics of `values`; `None` if there are none, or for a NaN.
    pub fn of(values: &[f64]) -> Option<Statistics> {
        if values.is_empty() || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quartiles = std::array::from_fn(|quarter| quantile(&sorted, quarter as f64 / 4.0));
        Some(Statistics { count, mean, deviation, quartiles })
    }
}

/// Returns the quantile `part` of sorted values, interpolated between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_values() {
        let statistics = Statistics::of(&[4.0, 1.0, 2.0, 3.0]).expect("values");
        assert_eq!((statistics.count, statistics.mean), (4, 2.5));
        assert!((statistics.deviation - (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(statistics.quartiles, [1.0, 1.75, 2.5, 3.25, 4.0]);
        let one = Statistics::of(&[7.0]).expect("a value");
        assert_eq!((one.deviation, one.quartiles), (0.0, [7.0; 5]));
        assert_eq!((Statistics::of(&[]), Statistics::of(&[1.0, f64::NAN])), (None, None));
    }
}
