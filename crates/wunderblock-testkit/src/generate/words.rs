//! Vocabulary of generated sessions: a few thousand words, with frequencies like those of real text.

use super::random::Random;
use std::sync::LazyLock;

const FREQUENT: &str = include_str!("frequent.txt");
const STEMS: &str = include_str!("stems.txt");
const ENDINGS: &str = " s ed er ing able _id _len _count _key _map _error _test _path _state _config _ref";

const CHINESE: &str = include_str!("chinese.txt");

/// Number of equal parts into which the frequency distribution is divided.
const SLOTS: usize = 1 << 14;

struct WordFrequencies {
    words: Vec<String>,
    /// Number of common words at the start of the list that cannot be used as names.
    plain: usize,
    /// Index of a word for each slot; frequent words have many slots.
    slots: Vec<u16>,
    chinese: Vec<&'static str>,
}

static FREQUENCIES: LazyLock<WordFrequencies> = LazyLock::new(|| {
    let mut words: Vec<String> = FREQUENT.split_whitespace().map(str::to_owned).collect();
    let plain = words.len();
    // The list has all stems with one ending, then all stems with the next ending, so that plain stems are more
    // frequent than those with an ending.
    for ending in ENDINGS.split(' ') {
        words.extend(STEMS.split_whitespace().map(|stem| format!("{stem}{ending}")));
    }
    // Zipf's law: the share of the word of rank r is proportional to 1 / r. Adding 2.7 flattens the top, as in real
    // text.
    let weight = |rank: usize| 1.0 / (rank as f64 + 2.7);
    let total: f64 = (0..words.len()).map(weight).sum();
    let mut slots = Vec::with_capacity(SLOTS);
    let mut sum = 0.0;
    for rank in 0..words.len() {
        sum += weight(rank) / total;
        let upto = ((sum * SLOTS as f64) as usize).clamp(slots.len(), SLOTS);
        slots.resize(upto, u16::try_from(rank).unwrap_or(0));
    }
    // Rounding may leave slots at the end; they go to the most frequent word.
    slots.resize(SLOTS, 0);
    WordFrequencies { words, plain, slots, chinese: CHINESE.split_whitespace().collect() }
});

/// Returns a random word, chosen with the frequency of its rank.
pub(super) fn word(random: &mut Random) -> &'static str {
    let vocabulary = &*FREQUENCIES;
    let slot = random.below(SLOTS);
    let rank = vocabulary.slots.get(slot).copied().map_or(0, usize::from);
    vocabulary.words.get(rank).map_or("", String::as_str)
}

/// Returns a word that can serve as a name. All are equally frequent.
pub(super) fn name(random: &mut Random) -> &'static str {
    let WordFrequencies { words, plain, .. } = &*FREQUENCIES;
    let rank = random.between(*plain, words.len());
    words.get(rank).map_or("", String::as_str)
}

/// Returns about `bytes` bytes of words separated by spaces.
pub(super) fn words(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 16);
    while out.len() < bytes {
        out.push_str(word(random));
        out.push(' ');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns sentences of about `bytes` bytes, with names, paths and numbers among the words.
pub(crate) fn prose(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 64);
    while out.len() < bytes {
        out.push_str(&words(random, 30));
        out.push_str(&match random.below(8) {
            0 => format!(" `{}::{}`", name(random), name(random)),
            1 => format!(" {}:{}", path(random), random.between(1, 2000)),
            2 => format!(" {:09x}", random.next_u64() & 0xf_ffff_ffff),
            _ => String::new(),
        });
        out.push_str(random.pick(&[". ", ", ", " — ", ". ", ".\n\n", ": "]));
    }
    out.truncate(out.trim_end_matches([' ', '\n', ',', ':', '—']).len());
    out
}

/// Returns Chinese text of about `bytes` bytes.
pub(super) fn chinese(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 64);
    let mut since = 0;
    while out.len() < bytes {
        out.push_str(random.pick(&FREQUENCIES.chinese));
        since += 1;
        if random.chance(8) {
            out.push_str(name(random));
        }
        if since > 7 {
            out.push_str(random.pick(&["，", "。", "，"]));
            since = 0;
        }
    }
    out.push('。');
    out
}

/// Returns the path of a source file.
pub(super) fn path(random: &mut Random) -> String {
    let root = random.pick(&["crates/", "src/", "tests/", "packages/", "lib/"]);
    let package = name(random);
    let inner = if random.chance(60) { format!("src/{}/", name(random)) } else { String::new() };
    let end = [".rs", ".rs", ".ts", ".py", ".toml"];
    format!("{root}{package}/{inner}{}{}", name(random), random.pick(&end))
}
