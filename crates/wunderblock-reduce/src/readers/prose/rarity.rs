//! The weight of a stretch's words that are rare in the rest of the text.

use crate::part::PartOfList;

/// Number of counters. Words that share one count as the same, so memory does not grow with the text.
const COUNTERS: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct WordRarity {
    /// Of each, the stretches that have it, and the last of them.
    counters: Vec<(u32, u32)>,
    stretches: u32,
}

impl Default for WordRarity {
    fn default() -> Self {
        Self { counters: vec![(0, 0); COUNTERS], stretches: 0 }
    }
}

impl WordRarity {
    /// Takes a stretch into account: each of its words once.
    pub(super) fn count(&mut self, text: &str) {
        self.stretches += 1;
        let stretch = self.stretches;
        for_each_word(text, |word, _| {
            if let Some((holding, last)) = self.counters.item_mut(word)
                && *last != stretch
            {
                (*holding, *last) = (*holding + 1, stretch);
            }
        });
    }

    /// The mean worth of the words of a stretch: 100 for each halving of how common a word is, more for numbers and
    /// names. At most 2500.
    pub(super) fn worth(&self, text: &str) -> u16 {
        let (mut sum, mut words) = (0u64, 0u64);
        for_each_word(text, |word, marked| {
            let holding = self.counters.item(word).map_or(1, |(holding, _)| (*holding).max(1));
            let halvings = (u64::from(self.stretches.max(1)) / u64::from(holding)).max(1).ilog2();
            sum += u64::from(halvings) * 100 + if marked { 150 } else { 0 };
            words += 1;
        });
        // A word alone is rare by chance.
        u16::try_from((sum / (words + 3)).min(2_500)).unwrap_or(2_500)
    }
}

/// Each word's counter, and whether it is a number or begins with a capital.
fn for_each_word(text: &str, mut see: impl FnMut(usize, bool)) {
    let mut hash = 0u32;
    let (mut letters, mut marked) = (0, false);
    for byte in text.bytes().chain([b' ']) {
        // Bytes beyond ASCII count as letters, three to a word: that is a character of a script without spaces.
        let letter = byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'_';
        if letter {
            marked |= letters == 0 && (byte.is_ascii_uppercase() || byte.is_ascii_digit());
            hash = (hash ^ u32::from(byte | 0x20)).wrapping_mul(0x0100_0193);
            letters += 1;
        }
        if letters > 0 && (!letter || (byte >= 0x80 && letters >= 6)) {
            see((hash ^ (hash >> 15)) as usize % COUNTERS, marked);
            (hash, letters, marked) = (0, 0, false);
        }
    }
}
