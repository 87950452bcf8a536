//! Finds secrets: searches for keywords, then applies the rules' regexes to the stretches of text around them.
//!
//! Touching stretches of a rule are joined before its regex runs. No byte is therefore searched twice for one rule,
//! however often its keywords occur.

use super::rule::SecretRule;
use super::{SecretFinding, placeholder};
use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};
use regex_automata::{PatternID, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum length in bytes by which a stretch is extended to end at white space rather than inside a token.
const TAIL: usize = 64 << 10;

/// Name of the group whose match is the secret.
const GROUP: &str = "secret";

/// Number of bytes after which a faster automaton is built: its construction takes as long as the slower one takes for
/// them.
const MANY: usize = 256 << 10;

/// All keywords of all rules, in one automaton.
#[derive(Debug)]
pub(super) struct Keywords {
    automaton: AhoCorasick,
    /// The same as a table, three times as fast, once many bytes have been searched.
    table: OnceLock<Option<AhoCorasick>>,
    words: Vec<String>,
    searched: AtomicUsize,
    /// For every keyword, the rules that have this keyword or a prefix of it.
    rules: Vec<Vec<usize>>,
    /// Rules without keywords.
    always: Vec<usize>,
}

impl Keywords {
    pub(super) fn new(rules: &[SecretRule]) -> Result<Self, BuildError> {
        let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            for word in &rule.spec.keywords {
                words.entry(word.to_ascii_lowercase()).or_default().push(at);
            }
        }
        let of = |word: &String| -> Vec<usize> {
            let prefixes = (1..=word.len()).filter_map(|end| words.get(word.get(..end)?));
            prefixes.flatten().copied().collect::<BTreeSet<usize>>().into_iter().collect()
        };
        let automaton = automaton(words.keys(), AhoCorasickKind::ContiguousNFA)?;
        let always =
            (0..rules.len()).filter(|at| rules.get(*at).is_some_and(|rule| rule.spec.keywords.is_empty()));
        let (rules, always) = (words.keys().map(of).collect(), always.collect());
        let (table, searched) = (OnceLock::new(), AtomicUsize::new(0));
        Ok(Self { automaton, table, words: words.into_keys().collect(), searched, rules, always })
    }

    /// Returns the automaton for a further text.
    fn automaton(&self, text: &str) -> &AhoCorasick {
        if self.searched.fetch_add(text.len(), Ordering::Relaxed) < MANY {
            return &self.automaton;
        }
        let table = self.table.get_or_init(|| automaton(&self.words, AhoCorasickKind::DFA).ok());
        table.as_ref().unwrap_or(&self.automaton)
    }

    /// Returns, for each rule, the stretches of `text` in which it may match.
    fn stretches(&self, rules: &[SecretRule], text: &str) -> Vec<Vec<Range<usize>>> {
        let mut stretches: Vec<Vec<Range<usize>>> = vec![Vec::new(); rules.len()];
        let (automaton, mut from) = (self.automaton(text), 0);
        // The automaton finds the longest keyword at a position; all other keywords at that position are prefixes of
        // it. The next search starts one byte later, because keywords may overlap.
        while let Some(hit) = automaton.find(Input::new(text).range(from..)) {
            from = hit.start() + 1;
            for at in self.rules.get(hit.pattern().as_usize()).into_iter().flatten() {
                if let (Some(rule), Some(mine)) = (rules.get(*at), stretches.get_mut(*at))
                    && rule.may_match(text.as_bytes(), hit.start(), hit.end())
                {
                    join(mine, hit.start().saturating_sub(rule.spec.behind), hit.end() + rule.spec.reach);
                }
            }
        }
        for at in &self.always {
            if let Some(mine) = stretches.get_mut(*at) {
                mine.push(0..text.len());
            }
        }
        stretches
    }
}

fn automaton(
    words: impl IntoIterator<Item = impl AsRef<[u8]>>,
    kind: AhoCorasickKind,
) -> Result<AhoCorasick, BuildError> {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest).kind(Some(kind)).build(words)
}

/// Appends a stretch, or extends the last one if they touch.
fn join(stretches: &mut Vec<Range<usize>>, from: usize, to: usize) {
    match stretches.last_mut() {
        Some(last) if from <= last.end => last.end = last.end.max(to),
        _ => stretches.push(from..to),
    }
}

/// Returns all secrets in `text`, in order and without overlaps.
pub(super) fn secrets(rules: &[SecretRule], keywords: Option<&Keywords>, text: &str) -> Vec<SecretFinding> {
    let everywhere = || rules.iter().map(|_| std::iter::once(0..text.len()).collect()).collect();
    let stretches = keywords.map_or_else(everywhere, |keywords| keywords.stretches(rules, text));
    let present = placeholder::find(text);
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, (rule, mine)) in rules.iter().zip(&stretches).enumerate() {
        let mut mine = mine.iter().map(|stretch| fit(text, stretch)).peekable();
        while let Some(mut stretch) = mine.next() {
            // Stretches that did not touch before may touch once they have been extended to white space.
            while let Some(next) = mine.next_if(|next| next.start <= stretch.end) {
                stretch.end = stretch.end.max(next.end);
            }
            found.extend(matches(rule, text, stretch, &present).into_iter().map(|secret| (secret, at)));
        }
    }
    merge(rules, found)
}

/// Aligns a stretch with character boundaries, and extends it to white space within [`TAIL`] bytes.
fn fit(text: &str, stretch: &Range<usize>) -> Range<usize> {
    let (from, to) = (text.floor_char_boundary(stretch.start), stretch.end);
    if to >= text.len() {
        return from..text.len();
    }
    let tail = text.as_bytes().get(to..).unwrap_or_default();
    let more = tail.iter().take(TAIL).position(u8::is_ascii_whitespace).unwrap_or(TAIL.min(tail.len()));
    from..text.ceil_char_boundary(to + more)
}

/// Returns the secrets that a rule finds in a stretch. A match that overlaps a placeholder is ignored: a placeholder
/// is not a secret, and its words must not count as the context of a secret. A match in which the group `secret` takes
/// no part is ignored, too: with it, a rule names what it must not find.
fn matches(
    rule: &SecretRule,
    text: &str,
    stretch: Range<usize>,
    present: &[Range<usize>],
) -> Vec<Range<usize>> {
    let part = text.as_bytes().get(stretch.clone()).unwrap_or_default();
    if !rule.may_match_in(part) {
        return Vec::new();
    }
    let Some(regex) = rule.regex() else { return Vec::new() };
    let group = regex.group_info().to_index(PatternID::ZERO, GROUP).unwrap_or_default();
    // A caller's rule may match a part of a character.
    let in_text = |found: Span| {
        let (from, to) = (stretch.start + found.start, stretch.start + found.end);
        text.floor_char_boundary(from)..text.ceil_char_boundary(to)
    };
    regex
        .captures_iter(part)
        .filter_map(|captures| {
            let (whole, secret) = (captures.get_group(0)?, captures.get_group(group)?);
            let fits = rule.accepts(part.get(secret.range())?) && !touches(present, &in_text(whole));
            fits.then(|| in_text(secret))
        })
        .collect()
}

/// Returns whether a match overlaps any of the placeholders, which are in order.
fn touches(present: &[Range<usize>], found: &Range<usize>) -> bool {
    let at = present.partition_point(|one| one.end <= found.start);
    present.get(at).is_some_and(|one| one.start < found.end)
}

/// Joins overlapping secrets into one, named after the earliest rule, so that no part of either remains.
fn merge(rules: &[SecretRule], mut found: Vec<(Range<usize>, usize)>) -> Vec<SecretFinding> {
    found.sort_unstable_by_key(|(secret, rule)| (secret.start, *rule));
    let mut merged: Vec<(Range<usize>, usize)> = Vec::new();
    for (secret, rule) in found {
        match merged.last_mut() {
            Some((last, by)) if secret.start < last.end => {
                last.end = last.end.max(secret.end);
                *by = rule.min(*by);
            }
            _ => merged.push((secret, rule)),
        }
    }
    merged
        .into_iter()
        .filter_map(|(secret, rule)| {
            let rule = rules.get(rule)?.id.clone();
            Some(SecretFinding { rule, from_byte: secret.start, to_byte: secret.end })
        })
        .collect()
}
