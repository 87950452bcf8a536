//! Each line of a summary that somebody else wrote, held against its range.
//!
//! ```text
//! line ─ its positions ─► do they share its words? ─► as it is
//!      └─ no ─► does a passage anywhere? ─► with that position
//!                                     └─ no ─► ⟨not found in the range⟩
//! ```
//! A line that commands is put into quotation marks: it is reported, and commands nobody.
//!
//! Words are compared by their first [`STEM`] letters, so that *refactored* is *refactor*. A line in another language than
//! its range is compared by its names and numbers.

use super::order;
use crate::summarize::extract::{each_word, is_wide};
use crate::summarize::task::Material;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use wunderblock_core::literal::literals;
use wunderblock_core::message::Part;
use wunderblock_core::units::Seq;

/// What follows a line that nothing in its range says.
pub(super) const UNFOUND: &str = "⟨not found in the range⟩";
/// Letters that tell words apart. Six hold *compact* and *compaction* together, and few others.
const STEM: usize = 6;
/// Length of a passage, in bytes: a paragraph, a screen of output.
const PASSAGE: usize = 800;
/// A line is from a position if a passage near it shares this part of its words, in percent …
const SHARED_NEAR: usize = 35;
/// … and from any other if that shares this part.
const SHARED: usize = 50;
/// Positions this near to the one given count as given: a call, its result, the answer to it.
const NEAR: u64 = 2;
/// Minimum words of a line that may be from several passages …
const LONG: usize = 12;
/// … and the maximum of those.
const PASSAGES: usize = 3;

/// A summary whose lines were looked at.
pub(super) struct MarkedLines {
    /// Its text, with marks.
    pub(super) text: String,
    /// Lines that say something.
    pub(super) said: usize,
    /// Those of them that nothing in the range says.
    pub(super) unfound: Vec<String>,
}

/// Words that say nothing of what a line is about; what the list is for, `lines.toml` says.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineWords {
    plain: Vec<String>,
}

// That the embedded words can be read is what tests are for.
static PLAIN: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let words: LineWords = toml::from_str(include_str!("lines.toml")).unwrap_or_default();
    words.plain.iter().map(|word| stem(word)).collect()
});

/// Looks at each line of a summary of `material`. Takes time linear in both.
pub(super) fn mark(text: &str, material: &Material<'_>) -> MarkedLines {
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

/// Where a line is from.
enum Found {
    /// It says too little to be looked for.
    Nothing,
    /// Where it says.
    Given,
    /// From there.
    At(Seq),
    /// From nowhere in the range.
    Nowhere,
}

/// The passages of a range, by the words of a summary.
struct Evidence {
    /// The position of each passage, ascending.
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

    /// Takes in a text, passage by passage.
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

    /// By names and numbers, where the words are another language's.
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

/// A word by its beginning.
fn stem(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.chars().flat_map(char::to_lowercase).take(STEM).collect::<String>().hash(&mut hasher);
    hasher.finish()
}

/// The words of a line that say what it is about, by their stems; positions at its end are not looked at.
pub(crate) fn content(line: &str) -> HashSet<u64> {
    let mut found = HashSet::new();
    each_word(split(line).0, |word| {
        let word = stem(word);
        if !PLAIN.contains(&word) {
            found.insert(word);
        }
    });
    found
}

/// Headings, elements, rules, and what says that there is nothing.
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

/// A line without the positions it ends with, and these.
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

/// What marks a line of a list, and what the line says.
fn bullet(line: &str) -> (&str, &str) {
    let plain = line.trim_start_matches([' ', '\t', '-', '*', '•']);
    let plain = plain.strip_prefix("[ ] ").or_else(|| plain.strip_prefix("[x] ")).unwrap_or(plain);
    line.split_at(line.len() - plain.len())
}
