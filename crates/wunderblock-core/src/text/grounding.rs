//! Grounding: whether the literals that a summary names occur in the content it summarises.
//!
//! A name is known if it occurs in the sources in its normal form, or as a part of a longer name, for example:
//! `src/a.rs` if the sources have `/home/me/src/a.rs`, `Store::open` if they have `crate::store::Store::open`. A
//! quotation is known if each pair of its neighbouring words occurs side by side somewhere in the sources.
//! Punctuation, case and line ends do not matter.
//!
//! Not counted are positions (`#123`), handles (`wb:…`), the numbers of list items, literals given to
//! [`SourceNames::set_aside`], and **counts**, which no source states. A count is written with a times sign before
//! it: `×12`.

use crate::policy::Permille;
use crate::text::literal::{Literal, LiteralKey, LiteralKind, is_letter, literals};
use std::collections::HashSet;

/// Maximum number of unknown literals that are listed.
pub const UNKNOWN_MAX: usize = 20;
/// Maximum number of parts of a name that are known by themselves, counted from its end; earlier parts are known only
/// together with later ones.
const PARTS_MAX: usize = 12;
/// Bits of the word filter for each byte of the sources.
const BITS_PER_BYTE: usize = 8;
/// Minimum number of bits in a word filter.
const BITS_MIN: usize = 1 << 18;
/// Maximum number of bits in a word filter: 64 MiB.
const BITS_MAX: usize = 1 << 29;

/// Names and words in the sources of a summary.
#[derive(Clone, Debug)]
pub struct SourceNames {
    names: HashSet<u64>,
    /// Bloom filter of the sources' words and of the pairs of neighbouring words.
    words: Box<[u64]>,
    aside: HashSet<u64>,
    /// Names and words of the only summary to be checked; others are not stored. `None` if any text may be checked.
    wanted: Option<NameQuery>,
}

/// Names and words of one summary that is to be checked.
#[derive(Clone, Debug)]
struct NameQuery {
    names: HashSet<u64>,
    /// Bloom filter in front of `names`, because most names of a source are not in the summary.
    likely: Box<[u64]>,
    words: Box<[u64]>,
    /// The most recently encountered names, indexed by the lowest bits of their keys, because sources repeat
    /// themselves.
    met: Box<[u64]>,
}

/// Number of recently encountered names that are remembered.
const MET: usize = 1 << 14;

impl NameQuery {
    fn of(summary: &str) -> Self {
        let filter = || vec![0; BITS_MIN / 64].into_boxed_slice();
        let (mut likely, mut asked) = (filter(), filter());
        let names: HashSet<u64> = literals(summary).map(|literal| literal.key()).collect();
        names.iter().for_each(|name| mark(&mut likely, mixed(*name)));
        word_marks(summary).for_each(|hash| mark(&mut asked, hash));
        Self { names, likely, words: asked, met: vec![0; MET].into_boxed_slice() }
    }

    fn has(&self, name: u64) -> bool {
        marked(&self.likely, mixed(name)) && self.names.contains(&name)
    }

    /// Remembers a name, and returns whether it is already among the remembered names.
    fn meet(&mut self, name: u64) -> bool {
        // Only the lowest bits of the key are used, so the truncation is harmless.
        #[allow(clippy::cast_possible_truncation)]
        let place = name as usize & (MET - 1);
        self.met.get_mut(place).is_some_and(|met| std::mem::replace(met, name) == name)
    }
}

/// Result of checking a text against its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounding {
    /// Number of literals in the text, counting each occurrence.
    pub named: u32,
    /// Number of known literals, counting each occurrence.
    pub grounded: u32,
    /// Unknown literals, each once, at most [`UNKNOWN_MAX`].
    pub unknown: Vec<Box<str>>,
    /// Unknown literals that are [unmistakable](Literal::is_unmistakable) names and therefore invented, each once, at
    /// most [`UNKNOWN_MAX`].
    pub invented: Vec<Box<str>>,
}

impl Grounding {
    /// Returns the known fraction of all literals. A text without literals invents nothing, so its score is 1.
    #[must_use]
    pub fn score(&self) -> Permille {
        Permille::ratio(self.grounded.into(), self.named.into())
    }
}

impl SourceNames {
    /// Collects the names in the texts, in linear time. The names take at most as much memory as the texts, and the
    /// words take at most 64 MiB.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts: Vec<&str> = texts.into_iter().collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let bits = bytes.saturating_mul(BITS_PER_BYTE).clamp(BITS_MIN, BITS_MAX).next_power_of_two();
        let words = vec![0; bits / 64].into_boxed_slice();
        let mut known = Self { names: HashSet::new(), words, aside: HashSet::new(), wanted: None };
        texts.into_iter().for_each(|text| known.learn(text));
        known
    }

    /// Collects only those names in the texts that also occur in `summary`. For `summary`, the result gives the same
    /// answers as a value from [`SourceNames::new`]; the result must not be used for any other text. Memory is needed
    /// only for the summary, and the check is faster.
    pub fn asked<'t>(summary: &str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let words = vec![0; BITS_MIN / 64].into_boxed_slice();
        let wanted = Some(NameQuery::of(summary));
        let mut known = Self { names: HashSet::new(), words, aside: HashSet::new(), wanted };
        texts.into_iter().for_each(|text| known.learn(text));
        known
    }

    /// Adds another text. The filter does not grow, so the text should be a few lines, not another source.
    pub fn learn(&mut self, text: &str) {
        for literal in literals(text) {
            // A quotation is checked by its words, so it is not stored as a name.
            if literal.kind == LiteralKind::Quotation {
                continue;
            }
            let key = literal.key();
            let is_new = match &mut self.wanted {
                Some(wanted) => !wanted.meet(key),
                None => !self.names.contains(&key),
            };
            if is_new {
                self.name(key);
                self.learn_parts(&literal);
            }
        }
        word_marks(text).for_each(|hash| self.mark(hash));
    }

    /// Excludes the literals of a text, such as the headings of a template, from the counts.
    pub fn set_aside(&mut self, text: &str) {
        self.aside.extend(literals(text).map(|literal| literal.key()));
    }

    /// Adds every run of consecutive parts of a name as a separate name.
    fn learn_parts(&mut self, literal: &Literal<'_>) {
        let bytes = literal.normal().as_bytes();
        let splits = |byte: &u8| match literal.kind {
            LiteralKind::Path | LiteralKind::Url => matches!(byte, b'/' | b'\\'),
            LiteralKind::Identifier => matches!(byte, b'.' | b':' | b'@'),
            _ => false,
        };
        if !bytes.iter().any(splits) {
            return;
        }
        let starts: Vec<usize> = std::iter::once(0)
            .chain(bytes.iter().enumerate().filter(|(_, byte)| splits(byte)).map(|(at, _)| at + 1))
            .collect();
        for start in starts.iter().rev().take(PARTS_MAX) {
            let mut key = LiteralKey::default();
            for (at, byte) in bytes.iter().enumerate().skip(*start) {
                if splits(byte) && at > *start {
                    self.name(key.value());
                }
                key.push(*byte);
            }
            self.name(key.value());
        }
    }

    fn name(&mut self, key: u64) {
        if self.wanted.as_ref().is_none_or(|wanted| wanted.has(key)) {
            self.names.insert(key);
        }
    }

    /// Returns whether a literal is known.
    #[must_use]
    pub fn has(&self, literal: &Literal<'_>) -> bool {
        match literal.kind {
            LiteralKind::Quotation => self.has_words(literal.text),
            LiteralKind::Path | LiteralKind::Url => self.names.contains(&literal.key()),
            // A name may occur inside a longer run: `foo_bar` in `a-foo_bar`.
            _ => self.names.contains(&literal.key()) || self.has_words(literal.normal()),
        }
    }

    /// Returns whether each pair of neighbouring words of a text occurs side by side somewhere in the sources.
    #[must_use]
    pub fn has_words(&self, text: &str) -> bool {
        let mut before = None;
        for word in word_hashes(text) {
            if word == GAP {
                before = None;
                continue;
            }
            let known =
                before.map_or_else(|| self.marked(single(word)), |before| self.marked(pair(before, word)));
            if !known {
                return false;
            }
            before = Some(word);
        }
        true
    }

    /// Returns how many literals a text has, and which of them are unknown.
    #[must_use]
    pub fn check(&self, summary: &str) -> Grounding {
        let mut found = Grounding::default();
        let (mut listed, mut made_up) = (HashSet::new(), HashSet::new());
        for literal in literals(summary) {
            if self.is_uncounted(summary, &literal) {
                continue;
            }
            found.named = found.named.saturating_add(1);
            if self.has(&literal) {
                found.grounded = found.grounded.saturating_add(1);
                continue;
            }
            // `*_test.go` and `{a,b}.json` are patterns, not names of files.
            let is_pattern =
                summary.get(..literal.at).is_some_and(|before| before.ends_with(['*', '}', '?']));
            if literal.is_unmistakable()
                && !is_pattern
                && found.invented.len() < UNKNOWN_MAX
                && made_up.insert(literal.key())
            {
                found.invented.push(literal.text.into());
            }
            if found.unknown.len() < UNKNOWN_MAX && listed.insert(literal.key()) {
                found.unknown.push(literal.text.into());
            }
        }
        found
    }

    fn is_uncounted(&self, summary: &str, literal: &Literal<'_>) -> bool {
        let before = summary.get(..literal.at).unwrap_or_default();
        match literal.kind {
            // A single name in quotation marks was already counted as a name.
            LiteralKind::Quotation if !literal.text.contains(char::is_whitespace) => {
                literals(literal.text).next().is_some() || self.aside.contains(&literal.key())
            }
            LiteralKind::Id if literal.text.starts_with("wb:") => true,
            LiteralKind::Number if before.ends_with(['#', '×']) => true,
            LiteralKind::Number if before.is_empty() || before.ends_with('\n') => {
                let after = summary.get(literal.at + literal.text.len()..).unwrap_or_default();
                after.starts_with(". ") || after.starts_with(") ")
            }
            _ => self.aside.contains(&literal.key()),
        }
    }

    fn mark(&mut self, hash: u64) {
        if self.wanted.as_ref().is_none_or(|wanted| marked(&wanted.words, hash)) {
            mark(&mut self.words, hash);
        }
    }

    fn marked(&self, hash: u64) -> bool {
        marked(&self.words, hash)
    }
}

fn mark(filter: &mut [u64], hash: u64) {
    for bit in bits(hash, filter.len()) {
        if let Some(word) = filter.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }
}

fn marked(filter: &[u64], hash: u64) -> bool {
    let is_set = |bit: usize| filter.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0);
    bits(hash, filter.len()).into_iter().all(is_set)
}

// Only some bits of the hash are used, and a `usize` can count all bits of a filter. Its size is a power of two, so
// that a mask selects a bit.
#[allow(clippy::cast_possible_truncation)]
const fn bits(hash: u64, words: usize) -> [usize; 2] {
    let mask = words * 64 - 1;
    [hash as usize & mask, (hash >> 32).wrapping_mul(0x9e37_79b9) as usize & mask]
}

const fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 31)
}

const fn single(word: u64) -> u64 {
    mixed(word)
}

const fn pair(before: u64, word: u64) -> u64 {
    mixed(before.rotate_left(23) ^ word)
}

/// Returns the hashes of a text's words, and of each pair of neighbouring words.
fn word_marks(text: &str) -> impl Iterator<Item = u64> {
    let mut before = None;
    word_hashes(text).flat_map(move |word| {
        let next = Some(word).filter(|word| *word != GAP);
        let joined = before.zip(next).map(|(before, word)| pair(before, word));
        before = next;
        std::iter::once(single(word)).chain(joined)
    })
}

/// Pseudo-word that marks a place where text was left out. The words on either side of a gap are not neighbours.
const GAP: u64 = 0;

/// Returns the hashes of the words in a text, ignoring case. Each character of a script without spaces is a word.
fn word_hashes(text: &str) -> impl Iterator<Item = u64> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at).copied() {
            if word_sign(bytes, at) > 0 {
                let mut key = LiteralKey::default();
                loop {
                    let width = word_sign(bytes, at);
                    let sign = bytes.get(at..at + width).filter(|sign| !sign.is_empty());
                    let Some(sign) = sign else { return Some(key.value()) };
                    sign.iter().for_each(|byte| key.push(byte.to_ascii_lowercase()));
                    at += width;
                }
            }
            if byte == b'\\' {
                at += if matches!(bytes.get(at + 1), Some(b'n' | b't' | b'r')) { 2 } else { 1 };
                continue;
            }
            if matches!(byte, b'[' | b']') {
                at += 1;
                return Some(GAP);
            }
            if byte < 0xE0 {
                at += 1;
                continue;
            }
            let c = text.get(at..).and_then(|rest| rest.chars().next());
            at += c.map_or(1, char::len_utf8);
            match c {
                Some('…') => return Some(GAP),
                Some(c) if c.is_alphanumeric() => {
                    let mut key = LiteralKey::default();
                    u32::from(c).to_le_bytes().into_iter().for_each(|byte| key.push(byte));
                    return Some(key.value());
                }
                _ => {}
            }
        }
        None
    })
}

/// Returns the length in bytes of the character at `at` if it belongs to a word, otherwise 0. ASCII letters, digits
/// and the underscore take one byte; letters of most other scripts with spaces take two.
fn word_sign(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at).copied() {
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => 1,
        Some(lead @ 0xC3..=0xDF) if is_letter(lead, bytes.get(at + 1).copied().unwrap_or_default()) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "I changed /home/me/app/src/store.rs:10-40 so that crate::store::Store::open takes 250ms. \
        error[E0308] in \"a-foo_bar\".\nNever touch the\nconfig file. 请不要修改配置文件 config/app.toml。";

    fn check(summary: &str) -> Grounding {
        let found = SourceNames::new([SOURCE]).check(summary);
        assert_eq!(SourceNames::asked(summary, [SOURCE]).check(summary), found, "{summary}");
        found
    }

    #[test]
    fn what_stands_in_the_sources_in_any_form_is_known() {
        for summary in [
            "src/store.rs and ./app/src/store.rs:77, app/src",
            "Store::open took 250 ms (E0308), foo_bar",
            "The user said \"never touch the config file\".",
            "“请不要修改配置文件” in config/app.toml",
            "\"Never touch … config file\"",
            "nothing named at all",
            "seen #4711 (wb:3f9c1a7be2d04c58#12-80), ×1200",
            "10. a list\n11. goes on",
        ] {
            let found = check(summary);
            assert_eq!((found.score(), found.unknown), (Permille::ONE, vec![]), "{summary}");
        }
    }

    #[test]
    fn a_name_that_nobody_can_have_meant_otherwise_is_made_up() {
        for (summary, invented) in [
            ("src/ledger.rs", "src/ledger.rs"),
            ("`crates/src/store.rs:12`", "crates/src/store.rs:12"),
            ("<files>ledger.rs</files>", "ledger.rs"),
            ("/etc/unheard/of", "/etc/unheard/of"),
            ("../up/there", "../up/there"),
            ("C:\\temp\\new", "C:\\temp\\new"),
            ("toolu_01AbCdEf0123456789abcd", "toolu_01AbCdEf0123456789abcd"),
            ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ] {
            assert_eq!(check(summary).invented, [invented.into()], "{summary}");
        }
        for summary in [
            "read/write/execute",
            "*.test.ts, .toml, src/*_test.go, src/{a,b}_x.rs",
            "the /compact command",
            "commit 3f9c1a7be2",
            "\"always touch the config file\"",
            "Store::close took 300ms, E0425, UTF-16",
            "src/store.rs, ./app/src/store.rs:77, config/app.toml",
        ] {
            assert_eq!(check(summary).invented, [], "{summary}");
        }
    }

    #[test]
    fn what_does_not_is_named() {
        for (summary, unknown) in [
            ("src/ledger.rs", "src/ledger.rs"),
            ("crates/src/store.rs", "crates/src/store.rs"),
            ("Store::close", "Store::close"),
            ("it took 300ms", "300ms"),
            ("E0425", "E0425"),
            ("\"always touch the config file\"", "always touch the config file"),
            ("“请修改数据库文件”", "请修改数据库文件"),
        ] {
            assert_eq!(check(summary).unknown, [unknown.into()], "{summary}");
            assert_eq!(check(summary).score(), Permille::ZERO, "{summary}");
        }
        let half = check("src/store.rs and src/none.rs");
        assert_eq!((half.named, half.grounded, half.score()), (2, 1, Permille(500)));
    }

    #[test]
    fn a_heading_is_set_aside() {
        let mut known = SourceNames::new([SOURCE]);
        known.set_aside("key_knowledge");
        assert_eq!(known.check("<key_knowledge>\nsrc/store.rs\n</key_knowledge>").named, 1);
    }

    #[test]
    fn the_list_of_what_is_unknown_is_short() {
        let many: String = (100..400).map(|n| format!("file_{n} ")).collect();
        let found = check(&many);
        assert_eq!((found.named, found.grounded, found.unknown.len()), (300, 0, UNKNOWN_MAX));
    }

    proptest::proptest! {
        #[test]
        fn a_text_is_grounded_in_itself(text in "([a-zA-Z0-9_/.: \n\"`@~#×“”中文é-]|\\PC){0,160}") {
            let found = SourceNames::new([text.as_str()]).check(&text);
            proptest::prop_assert_eq!(found.score(), Permille::ONE, "{:?}", found.unknown);
            let asked = SourceNames::asked(&text, [text.as_str()]).check(&text);
            proptest::prop_assert_eq!(asked, found);
        }

        #[test]
        fn asking_for_one_summary_finds_no_more_than_asking_for_any(
            text in "([a-cA_/.: \n\"#×“”中-]|[a-c]{2}/[a-c]{2}\\.rs |[a-c]{3}_[a-c]){0,80}", other in "([a-cA_/.: \n\"#×“”中-]|[a-c]{2}/[a-c]{2}\\.rs |[a-c]{3}_[a-c]){0,80}",
        ) {
            let sources = [other.as_str(), "aa/bb.rs"];
            let (asked, any) = (SourceNames::asked(&text, sources).check(&text), SourceNames::new(sources).check(&text));
            // A fuller filter finds more words by chance.
            proptest::prop_assert!(asked.named == any.named && asked.grounded <= any.grounded);
        }
    }
}
