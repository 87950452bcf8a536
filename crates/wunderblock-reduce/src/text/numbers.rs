//! Sums up numbers in one pass: their mean and spread, and the places of the smallest and the largest.

/// Number of standard deviations from the mean beyond which a number is far from the others.
const FAR: f64 = 2.0;

/// A summary of numbers that were added in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// Count of the numbers added.
    pub(crate) count: u32,
    mean: f64,
    /// The sum of squared distances from the mean (Welford 1962).
    squares: f64,
    min: Option<(f64, u32)>,
    max: Option<(f64, u32)>,
    /// Number of times that a number was greater than the previous one.
    pub(crate) rises: u32,
    last: f64,
}

impl Numbers {
    /// Adds the number at place `at`.
    pub(crate) fn add(&mut self, number: f64, at: u32) {
        self.rises += u32::from(self.count > 0 && number > self.last);
        self.last = number;
        self.count += 1;
        let off = number - self.mean;
        self.mean += off / f64::from(self.count);
        self.squares += off * (number - self.mean);
        if self.min.is_none_or(|(min, _)| number < min) {
            self.min = Some((number, at));
        }
        if self.max.is_none_or(|(max, _)| number > max) {
            self.max = Some((number, at));
        }
    }

    /// Returns the smallest and the largest number, or `None` if there are no numbers.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        Some((self.min?.0, self.max?.0))
    }

    /// Returns the limits beyond which a number is far from the others, or `None` if all numbers are equal.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        let deviation = (self.squares / f64::from(self.count.max(1))).sqrt();
        let (low, high) = (self.mean - FAR * deviation, self.mean + FAR * deviation);
        (deviation > 0.0).then_some((low, high))
    }

    /// Returns the places of the smallest and the largest number, each only if it is far from the others.
    pub(crate) fn extremes(&self) -> (Option<u32>, Option<u32>) {
        let Some((low, high)) = self.bounds() else { return (None, None) };
        let min = self.min.filter(|(min, _)| *min < low || *min > high);
        let max = self.max.filter(|(max, _)| *max < low || *max > high);
        (min.map(|(_, at)| at), max.map(|(_, at)| at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> Numbers {
        let mut seen = Numbers::default();
        numbers.iter().zip(0..).for_each(|(number, at)| seen.add(*number, at));
        seen
    }

    #[test]
    fn what_is_far_from_the_others_is_told_by_its_place() {
        let mut numbers: Vec<f64> = (0..40).map(|n| f64::from(n % 5)).collect();
        assert_eq!(of(&numbers).extremes(), (None, None));
        numbers[7] = 900.0;
        assert_eq!(of(&numbers).extremes(), (None, Some(7)));
        numbers[9] = -2_000.0;
        assert_eq!(of(&numbers).extremes().0, Some(9));
        assert_eq!(of(&numbers).range(), Some((-2_000.0, 900.0)));
    }

    #[test]
    fn equal_numbers_have_no_bounds_and_no_numbers_no_range() {
        assert_eq!(of(&[3.0; 30]).bounds(), None);
        assert_eq!(of(&[]).range(), None);
        assert_eq!((of(&[1.0, 2.0, 2.0, 5.0]).rises, of(&[4.0]).rises), (2, 0));
    }
}
