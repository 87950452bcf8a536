//! The weight of words in a stretch that are rare in the rest of the text.

use crate::part::PartOfList;

/// Number of counters. Words that share a counter count as the same word, so that memory does not grow with the text.
const COUNTERS: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct WordRarity {
    /// For each counter, the number of stretches with its words, and the last of these stretches.
    counters: Vec<(u32, u32)>,
    stretches: u32,
}

impl Default for WordRarity {
    fn default() -> Self {
        Self { counters: vec![(0, 0); COUNTERS], stretches: 0 }
    }
}

impl WordRarity {
    /// Counts each word of a stretch once.
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

    /// Returns the mean weight of the words of a stretch. The weight of a word is 100 for each time its frequency is
    /// halved, and more if the word is a number or a name. The result is at most 2500.
    pub(super) fn worth(&self, text: &str) -> u16 {
        let (mut sum, mut words) = (0u64, 0u64);
        for_each_word(text, |word, marked| {
            let holding = self.counters.item(word).map_or(1, |(holding, _)| (*holding).max(1));
            let halvings = (u64::from(self.stretches.max(1)) / u64::from(holding)).max(1).ilog2();
            sum += u64::from(halvings) * 100 + if marked { 150 } else { 0 };
            words += 1;
        });
        // A single word may be rare by chance, so three more words are added to the count for the mean.
        u16::try_from((sum / (words + 3)).min(2_500)).unwrap_or(2_500)
    }
}

/// Calls `see` with the counter of each word, and whether the word is a number or begins with a capital.
fn for_each_word(text: &str, mut see: impl FnMut(usize, bool)) {
    let mut hash = 0u32;
    let (mut letters, mut marked) = (0, false);
    for byte in text.bytes().chain([b' ']) {
        // Bytes beyond ASCII count as letters. A word ends after six bytes beyond ASCII, which are two characters in
        // a script without spaces.
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
