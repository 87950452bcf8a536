//! Checks each line of a summary written by somebody else against the range of that summary.
//!
//! ```text
//! line ─ its positions ─► do they share its words? ─► as it is
//!      └─ no ─► does a passage anywhere? ─► with that position
//!                                     └─ no ─► ⟨not found in the range⟩
//! ```
//! A line that gives an order is put into quotation marks, so that it reports the order instead of giving it.
//!
//! Words are compared by their first [`STEM`] letters, so that *refactored* matches *refactor*. A line in a different
//! script from its range, for example a Chinese line about an English session, is compared by its names and numbers.

use super::order;
use crate::extract::{each_word, is_wide};
use crate::task::Material;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use wunderblock_core::literal::literals;
use wunderblock_core::message::Part;
use wunderblock_core::units::Seq;

/// Mark after a line that nothing in its range supports.
pub(super) const UNFOUND: &str = "⟨not found in the range⟩";
/// Number of letters that are compared in each word. With six letters, *compact* matches *compaction*, and few
/// unrelated words match each other.
const STEM: usize = 6;
/// Maximum number of bytes in a passage, which is about a paragraph or a screen of output.
const PASSAGE: usize = 800;
/// Minimum percentage of a line's words that must occur in passages near its cited positions.
const SHARED_NEAR: usize = 35;
/// Minimum percentage of a line's words that must occur in passages elsewhere.
const SHARED: usize = 50;
/// Maximum distance at which a passage counts as cited. This distance covers a call, its result, and the answer to
/// the result.
const NEAR: u64 = 2;
/// Minimum number of words in a line that may draw on several passages.
const LONG: usize = 12;
/// Maximum number of passages that a long line may draw on.
const PASSAGES: usize = 3;

/// A summary whose lines were checked.
pub(super) struct MarkedLines {
    /// Text of the summary, with marks.
    pub(super) text: String,
    /// Number of lines that say enough to be checked.
    pub(super) said: usize,
    /// Checked lines that nothing in the range supports.
    pub(super) unfound: Vec<String>,
}

/// Words that say nothing about the subject of a line; `lines.toml` explains the list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineWords {
    plain: Vec<String>,
}

// Tests check that the embedded words parse.
static PLAIN: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let words: LineWords = toml::from_str(include_str!("lines.toml")).unwrap_or_default();
    words.plain.iter().map(|word| stem(word)).collect()
});

/// Checks each line of a summary of `material`. Takes time linear in the length of the summary and of the material.
pub(super) fn mark(text: &str, material: &Material<'_>) -> MarkedLines {
    // Only words of the summary are indexed, because a range may contain far more.
    let mut wanted: HashSet<u64> = HashSet::new();
    text.lines().for_each(|line| wanted.extend(content(line)));
    let evidence = Evidence::of(material, &wanted);
    let mut marked =
        MarkedLines { text: String::with_capacity(text.len() + 64), said: 0, unfound: Vec::new() };
    let mut fenced = false;
    for line in text.lines() {
        if !marked.text.is_empty() {
            marked.text.push('\n');
        }
        fenced ^= line.trim_start().starts_with("```");
        if fenced || is_frame(line) {
            marked.text.push_str(line);
            continue;
        }
        marked.line(line, &evidence);
    }
    marked
}

impl MarkedLines {
    fn line(&mut self, line: &str, evidence: &Evidence) {
        let words = content(line);
        let given = positions(line);
        let found = evidence.find(line, &words, &given);
        self.said += usize::from(!matches!(found, Found::Nothing));
        let (body, refs) = split(line);
        if order::commands(body) {
            let (mark, said) = bullet(body);
            self.text.push_str(&format!("{mark}\"{}\"{refs}", said.replace('"', "'")));
        } else {
            self.text.push_str(line.trim_end());
        }
        match found {
            Found::Given | Found::Nothing => {}
            Found::At(seq) => self.text.push_str(&format!(" #{seq}")),
            Found::Nowhere => {
                self.text.push(' ');
                self.text.push_str(UNFOUND);
                self.unfound.push(line.trim().to_owned());
            }
        }
    }
}

/// Origin of a line.
enum Found {
    /// The line was not checked because it says too little.
    Nothing,
    /// The positions that the line cites.
    Given,
    /// Another position of the range.
    At(Seq),
    /// No position of the range.
    Nowhere,
}

/// Passages of a range, indexed by the words of a summary.
struct Evidence {
    /// Position of each passage.
    passages: Vec<Seq>,
    by_word: HashMap<u64, Vec<usize>>,
    names: HashMap<u64, Seq>,
    is_wide: bool,
}

impl Evidence {
    fn of(material: &Material<'_>, wanted: &HashSet<u64>) -> Self {
        let mut evidence =
            Self { passages: Vec::new(), by_word: HashMap::new(), names: HashMap::new(), is_wide: false };
        let (mut wide, mut all) = (0_usize, 0_usize);
        let mut take = |seq: Seq, text: &str| {
            evidence.take(seq, text, wanted);
            all += text.len();
            wide += if is_wide(text) { text.len() } else { 0 };
        };
        for earlier in &material.earlier {
            for line in earlier.text.lines() {
                take(positions(line).first().copied().unwrap_or(earlier.from), line);
            }
        }
        for entry in &material.entries {
            for part in &entry.message.parts {
                if let Part::ToolCall { name, gist, .. } = part {
                    take(entry.seq, &format!("{name} {}", gist.as_deref().unwrap_or_default()));
                }
                for text in part.bodies().into_iter().filter_map(|body| material.bodies.of(body)) {
                    take(entry.seq, text);
                }
            }
        }
        evidence.is_wide = wide * 2 > all;
        evidence
    }

    /// Adds a text, passage by passage.
    fn take(&mut self, seq: Seq, text: &str, wanted: &HashSet<u64>) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.floor_char_boundary(PASSAGE);
            let end = match rest.get(..end).and_then(|head| head.rfind('\n')) {
                Some(line) if end < rest.len() => line + 1,
                _ => end,
            };
            let (passage, more) = rest.split_at(end);
            let place = self.passages.len();
            self.passages.push(seq);
            each_word(passage, |word| {
                let word = stem(word);
                if wanted.contains(&word) {
                    let places = self.by_word.entry(word).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            });
            literals(passage).for_each(|literal| {
                self.names.entry(literal.key()).or_insert(seq);
            });
            rest = more;
        }
    }

    fn find(&self, line: &str, words: &HashSet<u64>, given: &[Seq]) -> Found {
        if is_wide(line) != self.is_wide {
            return self.by_names(line, given);
        }
        if words.len() < 2 {
            return Found::Nothing;
        }
        let mut shared: HashMap<usize, HashSet<u64>> = HashMap::new();
        for word in words {
            for place in self.by_word.get(word).into_iter().flatten() {
                shared.entry(*place).or_default().insert(*word);
            }
        }
        let is_near = |seq: Seq| given.iter().any(|at| at.0.abs_diff(seq.0) <= NEAR);
        let seq = |place: usize| self.passages.get(place).copied().unwrap_or_default();
        // Passages near the cited positions count together, because a line may sum up a call, its result and the
        // answer.
        let near = shared.iter().filter(|(place, _)| is_near(seq(**place)));
        let near: HashSet<u64> = near.flat_map(|(_, words)| words.iter().copied()).collect();
        if near.len() * 100 >= words.len() * SHARED_NEAR {
            return Found::Given;
        }
        let mut best: Vec<(usize, HashSet<u64>)> = shared.into_iter().collect();
        best.sort_by_key(|(place, words)| (std::cmp::Reverse(words.len()), *place));
        let Some(first) = best.first().map(|(place, _)| seq(*place)) else { return Found::Nowhere };
        let several = if words.len() >= LONG { PASSAGES } else { 1 };
        let all: HashSet<u64> = best.into_iter().take(several).flat_map(|(_, words)| words).collect();
        if all.len() * 100 >= words.len() * SHARED { Found::At(first) } else { Found::Nowhere }
    }

    /// Finds the origin of a line in a different script by the names and numbers in the line.
    fn by_names(&self, line: &str, given: &[Seq]) -> Found {
        let (body, _) = split(line);
        let names: Vec<u64> = literals(body).map(|literal| literal.key()).collect();
        let found: Vec<Seq> = names.iter().filter_map(|name| self.names.get(name).copied()).collect();
        match found.first() {
            Some(_) if !given.is_empty() => Found::Given,
            Some(first) => Found::At(*first),
            None if content(line).len() < 2 => Found::Nothing,
            None => Found::Nowhere,
        }
    }
}

/// Returns a hash of the first letters of a word, in lower case.
fn stem(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.chars().flat_map(char::to_lowercase).take(STEM).collect::<String>().hash(&mut hasher);
    hasher.finish()
}

/// Returns the stems of a line's content words. Positions at the end of the line are ignored.
pub fn content(line: &str) -> HashSet<u64> {
    let mut found = HashSet::new();
    each_word(split(line).0, |word| {
        let word = stem(word);
        if !PLAIN.contains(&word) {
            found.insert(word);
        }
    });
    found
}

/// Returns whether a line only structures the text, as blank lines, headings, elements and rules do.
fn is_frame(line: &str) -> bool {
    let plain = line.trim();
    let numbered = plain.starts_with(|c: char| c.is_ascii_digit()) && plain.ends_with(':');
    let is_element = plain.starts_with('<') && plain.ends_with('>');
    plain.is_empty()
        || plain.starts_with('#') && plain.contains("# ")
        || numbered
        || is_element
        || plain.starts_with("---")
}

/// Splits a line into its text and the positions at its end.
fn split(line: &str) -> (&str, &str) {
    let mut end = line.trim_end().len();
    while let Some(before) = line.get(..end) {
        let digits = before.trim_end_matches([')', ',', '.', ' ', '(']);
        let plain = digits.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '–');
        match plain.strip_suffix('#') {
            Some(rest) if plain.len() < digits.len() => end = rest.trim_end_matches(['(', ' ']).len(),
            _ => break,
        }
    }
    line.split_at(end)
}

fn positions(line: &str) -> Vec<Seq> {
    let digits = |piece: &str| piece.chars().take_while(char::is_ascii_digit).collect::<String>();
    split(line).1.split('#').skip(1).filter_map(|piece| digits(piece).parse().ok()).map(Seq).collect()
}

/// Splits a line into its list marker and its text.
fn bullet(line: &str) -> (&str, &str) {
    let plain = line.trim_start_matches([' ', '\t', '-', '*', '•']);
    let plain = plain.strip_prefix("[ ] ").or_else(|| plain.strip_prefix("[x] ")).unwrap_or(plain);
    line.split_at(line.len() - plain.len())
}
