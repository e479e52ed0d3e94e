//! Counts of values by interval.

/// The number of values in each interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    counts: Vec<u64>,
}

impl Histogram {
    /// Creates intervals that begin at `edges`, in any order. An edge belongs to the interval on
    /// its right.
    pub fn new(edges: impl Into<Vec<f64>>) -> Histogram {
        let mut edges = edges.into();
        edges.sort_by(f64::total_cmp);
        let counts = vec![0; edges.len() + 1];
        Histogram { edges, counts }
    }

    /// Creates `bins` intervals of the same width between two values.
    pub fn even(from: f64, to: f64, bins: usize) -> Histogram {
        let width = (to - from) / bins.max(1) as f64;
        let edges: Vec<f64> = (0..=bins).map(|bin| from + width * bin as f64).collect();
        Histogram::new(edges)
    }

    /// Counts a value. NaN counts as larger than all edges.
    pub fn add(&mut self, value: f64) {
        let bin = self.edges.partition_point(|edge| *edge <= value || value.is_nan());
        self.counts[bin] += 1;
    }

    /// Returns the beginnings of the intervals, in ascending order.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// Returns the number of values below the first edge, from each edge to the next, and from the
    /// last edge on: one count more than there are edges.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the counts as shares of the total.
    pub fn shares(&self) -> Vec<f64> {
        self.counts.iter().map(|count| crate::share(*count, self.total())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_an_edge_counts_to_the_right() {
        let mut histogram = Histogram::new([2.0, 1.0, f64::INFINITY]);
        for value in [0.0, 1.0, 1.5, 2.0, f64::MAX, f64::INFINITY, f64::NAN, -f64::INFINITY] {
            histogram.add(value);
        }
        assert_eq!(histogram.counts(), [2, 2, 2, 2]);
        assert_eq!(histogram.total(), 8);
        assert_eq!(histogram.shares(), [0.25; 4]);
        assert_eq!(Histogram::even(0.0, 1.0, 4).edges(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Histogram::new(vec![]).shares(), [0.0]);
    }
}
