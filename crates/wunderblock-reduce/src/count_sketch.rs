//! How often things come, among very many of which most come once.

/// Counts that are never too low: one byte for all hashes that share a place. A map of all things would take as much
/// memory as the text.
pub(crate) struct CountSketch(Vec<u8>);

impl CountSketch {
    /// A sketch for about this number of different things.
    pub(crate) fn of(things: usize) -> Self {
        Self(vec![0; (things * 4).next_power_of_two().clamp(1 << 10, 1 << 24)])
    }

    fn place(&self, hash: u64) -> usize {
        (hash ^ (hash >> 29)) as usize & (self.0.len() - 1)
    }

    pub(crate) fn count(&mut self, hash: u64) {
        let at = self.place(hash);
        if let Some(count) = self.0.get_mut(at) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether a thing may have come this number of times, of at most 255.
    pub(crate) fn may_reach(&self, hash: u64, times: u32) -> bool {
        self.0.get(self.place(hash)).is_some_and(|count| u32::from(*count) >= times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_count_is_too_low() {
        let mut sketch = CountSketch::of(10);
        let hash = |thing: u64| thing.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for thing in 0..3_000u64 {
            (0..thing % 7).for_each(|_| sketch.count(hash(thing)));
        }
        assert!((0..3_000).all(|thing| sketch.may_reach(hash(thing), (thing % 7) as u32)));
        assert!(!CountSketch::of(10).may_reach(7, 1));
    }
}
