//! Finds sentences by words that reveal their kind, for example `must`, `decided`, `turns out`, `next` and their
//! Chinese equivalents.

use super::plain::cut;
use crate::phrase::stands_alone;
use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use wunderblock_core::literal::literals;

/// Kind of statement that a sentence makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cue {
    /// Prohibition, demand or preference. A sentence of this kind is found by its weight as a standing rule, not by
    /// cue words.
    Constraint,
    /// Decision that was made.
    Decision,
    /// Fact that was found out.
    Finding,
    /// Next step.
    Next,
    /// Completed work.
    Done,
    /// Work that is still to be done.
    Todo,
}

/// Maximum number of bytes of a sentence on either side of its cue. Longer sentences are cut.
const SENTENCE_MAX: usize = 400;
/// Minimum number of characters in a sentence, because shorter ones say nothing.
const SENTENCE_MIN: usize = 4;

struct Cues {
    finder: AhoCorasick,
    kinds: Vec<Cue>,
}

fn cues() -> Option<&'static Cues> {
    static FOUND: OnceLock<Option<Cues>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let words: BTreeMap<Cue, Vec<String>> = toml::from_str(include_str!("cues.toml")).ok()?;
            let finder = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostLongest)
                .build(words.values().flatten())
                .ok()?;
            let kinds =
                words.iter().flat_map(|(cue, words)| std::iter::repeat_n(*cue, words.len())).collect();
            Some(Cues { finder, kinds })
        })
        .as_ref()
}

/// For each sentence that contains a cue, in order, calls `told` once for each kind of cue in the sentence. Ignores
/// cues in code blocks.
pub(in crate::extract) fn sentences<'t>(text: &'t str, mut told: impl FnMut(Cue, &'t str)) {
    let Some(cues) = cues() else { return };
    let fences = fences(text);
    let mut last: HashMap<Cue, usize> = HashMap::new();
    for hit in cues.finder.find_iter(text) {
        let Some(cue) = cues.kinds.get(hit.pattern().as_usize()).copied() else { continue };
        let done = last.entry(cue).or_default();
        if hit.start() < *done || !stands_alone(text, hit.start(), hit.end()) {
            continue;
        }
        if fences.iter().any(|(from, to)| (*from..*to).contains(&hit.start())) {
            continue;
        }
        let (from, to) = around(text, hit.start(), hit.end());
        *done = to;
        let sentence = text.get(from..to).map(bare).unwrap_or_default();
        if sentence.chars().nth(SENTENCE_MIN - 1).is_some() {
            told(cue, sentence);
        }
    }
}

/// Returns the byte range of the sentence that contains `from..to`.
fn around(text: &str, from: usize, to: usize) -> (usize, usize) {
    let ends = |piece: &str, c: char, at: usize| match c {
        '\n' | '。' | '！' | '？' | '；' => true,
        '.' | '!' | '?' => {
            piece.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '"']))
        }
        _ => false,
    };
    let low = text.floor_char_boundary(from.saturating_sub(SENTENCE_MAX));
    let before = text.get(low..from).unwrap_or_default();
    let start = before
        .char_indices()
        .rev()
        .find(|(at, c)| ends(before, *c, *at) && !(*c == '.' && at + 1 == before.len()))
        .map_or_else(
            || if low == 0 { 0 } else { super::plain::cut_after(text, low).min(from) },
            |(at, c)| low + at + c.len_utf8(),
        );
    let high = text.floor_char_boundary(to.saturating_add(SENTENCE_MAX));
    let after = text.get(to..high).unwrap_or_default();
    let end = after.char_indices().find(|(at, c)| ends(after, *c, *at)).map_or_else(
        || if high == text.len() { high } else { cut(text, high).max(to) },
        |(at, c)| to + at + if c == '\n' { 0 } else { c.len_utf8() },
    );
    (start, end)
}

/// Splits a text into sentences. A line break ends a sentence, too.
pub(in crate::extract) fn sentences_of(text: &str) -> Vec<&str> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？');
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((at, c)) = rest.char_indices().find(|(at, c)| {
            let after = rest.get(at + c.len_utf8()..).unwrap_or_default();
            ends(*c) && (c.len_utf8() > 1 || after.starts_with([' ', '"', '*']) || after.is_empty())
        }) {
            let (sentence, more) = rest.split_at(at + c.len_utf8());
            found.push(bare(sentence));
            rest = more;
        }
        found.push(bare(rest));
    }
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

/// Returns the sentences of a text that say most, in order, in at most `most` bytes: the first that says something,
/// those that state results, reasons or open work, and those with names. `…` replaces the sentences left out between them.
pub(in crate::extract) fn gist_of(text: &str, most: usize) -> String {
    let prose = without_code(text);
    let all = sentences_of(&prose);
    // A list says nothing without the words before it.
    let leads = |place: usize, said: &str| place == 0 && said.ends_with([':', '：']);
    let told =
        all.into_iter().enumerate().filter(|(place, said)| leads(*place, said) || says_something(said));
    let said: Vec<&str> = told.map(|(_, said)| said).take(GIST_LOOK).collect();
    let score = |place: usize, said: &str| {
        let mut kinds = 0;
        sentences(said, |_, _| kinds += 1);
        let names = literals(said).take(3).count();
        (if place == 0 { 6 } else { 0 }) + 2 * kinds.min(2) + names
    };
    let mut best: Vec<(usize, usize)> =
        said.iter().enumerate().map(|(place, said)| (score(place, said), place)).collect();
    best.sort_by_key(|(score, place)| (std::cmp::Reverse(*score), *place));
    let mut chosen: Vec<usize> = Vec::new();
    let mut room = most;
    for (_, place) in best {
        let size = said.get(place).map_or(0, |said| said.len() + GAP.len());
        if size <= room || chosen.is_empty() {
            chosen.push(place);
            room = room.saturating_sub(size);
        }
    }
    chosen.sort_unstable();
    let mut gist = String::new();
    let mut end = 0;
    for said in chosen.into_iter().filter_map(|place| said.get(place)) {
        // Sentences are parts of the prose, in order.
        let start = prose.get(end..).and_then(|rest| rest.find(said)).map_or(end, |at| end + at);
        let between = prose.get(end..start).unwrap_or_default();
        if !gist.is_empty() {
            gist.push_str(if between.chars().all(|c| c == ' ') { " " } else { GAP });
        }
        gist.push_str(said);
        end = start + said.len();
    }
    gist
}

/// Maximum number of sentences among which the most telling ones are chosen.
const GIST_LOOK: usize = 60;
/// Mark between sentences that are not next to each other.
const GAP: &str = " … ";

/// Turns a `<command>` element at the end of a text into a fenced block, so that every reader takes it for code.
pub(in crate::extract) fn fenced(text: Cow<'_, str>) -> Cow<'_, str> {
    let command = text.trim_end().strip_suffix("</command>").and_then(|rest| rest.rsplit_once("<command>"));
    match command {
        Some((before, command)) => Cow::Owned(format!("{before}\n```\n{}\n```", command.trim())),
        None => text,
    }
}

/// Removes blocks of code and any text that only introduces a block, for example "Here's the change:" or a path on
/// its own line.
pub(in crate::extract) fn without_code(text: &str) -> Cow<'_, str> {
    let blocks = fences(text);
    if blocks.is_empty() {
        return Cow::Borrowed(text);
    }
    let begins = std::iter::once(0).chain(blocks.iter().map(|(_, to)| *to));
    let ends = blocks.iter().map(|(from, _)| *from).chain([text.len()]);
    let pieces = begins.zip(ends).filter_map(|(from, to)| text.get(from..to));
    let count = blocks.len();
    let prose =
        pieces.enumerate().map(|(place, piece)| if place < count { before_code(piece) } else { piece });
    let told: Vec<&str> = prose.filter(|piece| !piece.trim().is_empty()).collect();
    Cow::Owned(told.join(" … "))
}

/// Removes a path or an introducing sentence from the end of the prose before a block of code.
fn before_code(prose: &str) -> &str {
    let prose = prose.trim_end();
    let (before, line) = prose.rsplit_once('\n').unwrap_or(("", prose));
    let is_path = !line.contains(char::is_whitespace);
    let prose = if is_path { before.trim_end() } else { prose };
    let line = prose.rsplit('\n').next().unwrap_or_default();
    if !line.ends_with([':', '：']) || is_listed(line) {
        return prose;
    }
    let last = sentences_of(line).last().copied().unwrap_or(line);
    prose.rfind(last).and_then(|begins| prose.get(..begins)).unwrap_or_default()
}

/// Returns whether a sentence says something by itself, unlike "Done.", "There's the problem!", "Let me search", a
/// heading or a question.
pub(in crate::extract) fn says_something(sentence: &str) -> bool {
    let plain = sentence.trim().trim_end_matches(['*', '_', ' ']);
    let lower = plain.to_lowercase();
    let is_talk = TALK.iter().any(|begin| lower.starts_with(begin));
    // A call as text, `[Tool: Grep] {…}`, is a row, too.
    let is_row = plain.starts_with('|')
        || plain.starts_with('[') && plain.ends_with('}')
        || plain.ends_with([':', '：', '?', '？']);
    !is_talk && !is_row && has_content(plain)
}

/// Returns whether a sentence before a change states the purpose of the change, as "Let me use the exported names:"
/// does although it reports nothing.
pub(in crate::extract) fn says_purpose(sentence: &str) -> bool {
    let plain = sentence.trim().trim_end_matches([':', '：', '*', '_', ' ']);
    let is_talk =
        |begin: &&&str| plain.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
    let rest = TALK.iter().find(is_talk).and_then(|begin| plain.get(begin.len()..)).unwrap_or(plain);
    !plain.starts_with('|') && !plain.ends_with(['?', '？']) && has_content(rest)
}

/// Returns whether a text has enough words that are not everyday words.
fn has_content(text: &str) -> bool {
    let wide = text.chars().filter(|c| c.is_alphabetic() && c.len_utf8() >= 3).count();
    let content = |word: &&str| word.chars().count() >= 3 && !EVERYDAY.contains(word);
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(content).count();
    let names = text.contains('`') || literals(text).next().is_some();
    let is_path = !text.contains(char::is_whitespace) && wide == 0;
    !is_path && (words >= WORDS_MIN || names && words >= 2 || wide >= WIDE_MIN)
}

/// Returns whether a sentence says something of the code and the paths in it, unlike "`src/a.rs:4` - `parse()`".
pub(in crate::extract) fn says_of_names(sentence: &str) -> bool {
    let prose =
        sentence.split('`').step_by(2).flat_map(str::split_whitespace).filter(|word| !word.contains('/'));
    let content = |word: &&str| word.chars().count() >= 3 && !EVERYDAY.contains(word);
    let lower = prose.collect::<Vec<_>>().join(" ").to_lowercase();
    let wide = lower.chars().filter(|c| c.is_alphabetic() && c.len_utf8() >= 3).count();
    wide >= WIDE_MIN || lower.split(|c: char| !c.is_alphanumeric()).filter(content).count() >= 2
}

/// Returns whether a sentence reports a fault or says how to correct it.
pub(in crate::extract) fn names_fault(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    FAULTS.iter().any(|words| lower.contains(words))
}

/// Words that report a fault.
const FAULTS: [&str; 9] = [
    "the problem",
    "the issue",
    "the bug",
    "the fix",
    "the error",
    "root cause",
    "the culprit",
    "问题在于",
    "根因",
];
/// Beginnings of sentences that only accompany the work.
const TALK: [&str; 34] = [
    "let me",
    "lets ",
    "now let me",
    "let's see",
    "let's start",
    "let's look",
    "let's check",
    "let's run",
    "let's find",
    "let's fix",
    "let's try",
    "let's search",
    "let's review",
    "now let's",
    "now, let's",
    "now i'll",
    "first, i'll",
    "first, let",
    "next, i'll",
    "please ",
    "would you",
    "could you",
    "do you",
    "if you",
    "feel free",
    "i'll now",
    "i'll help",
    "i'm sorry",
    "i apologize",
    "i understand",
    "让我",
    "我来",
    "请",
    "如果你",
];
/// Words that say nothing by themselves.
const EVERYDAY: [&str; 28] = [
    "the", "and", "was", "were", "that", "this", "these", "for", "with", "now", "are", "has", "have", "had",
    "can", "will", "you", "your", "actually", "let", "there", "here", "then", "but", "not", "all", "should",
    "wait",
];
/// Minimum number of content words in a text that says something without naming anything.
const WORDS_MIN: usize = 4;
/// Minimum number of characters in a text that says something in a script without blanks.
const WIDE_MIN: usize = 6;

/// Returns whether a line is a list item, a heading or a table row.
pub(in crate::extract) fn is_listed(line: &str) -> bool {
    let plain = line.trim();
    bare(plain).len() < plain.trim_end_matches(['*', ' ']).len() || plain.starts_with('|')
}

/// Strips the marks of a list item or a heading.
pub(in crate::extract) fn bare(sentence: &str) -> &str {
    let mut text = sentence.trim();
    while let Some(rest) = text.strip_prefix(['-', '*', '#', '>', '•', '–']) {
        // `#b5bd68` is a colour and `--since` is a flag, so neither begins with a mark.
        let is_mark = !text.starts_with(['-', '#']) || rest.trim_start_matches('#').starts_with(' ');
        if !is_mark {
            break;
        }
        text = rest.trim_start();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let listed =
        text.get(digits..).and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")));
    let text = if (1..=2).contains(&digits) { listed.unwrap_or(text) } else { text };
    text.trim().trim_end_matches(['*', ' '])
}

/// Returns the byte ranges of code blocks, with their fences. A block without an end extends to the end of the text.
fn fences(text: &str) -> Vec<(usize, usize)> {
    let (open, close) = ELEMENTS.iter().find(|(open, _)| text.contains(open)).unwrap_or(&("```", "```"));
    let mut found = Vec::new();
    let mut at = 0;
    // The number of blocks is limited to bound the time, because all blocks are searched for each cue. Blocks beyond
    // the limit count as prose.
    while found.len() < 256
        && let Some(from) = text.get(at..).and_then(|rest| rest.find(open))
    {
        let inner = at + from + open.len();
        let end = text.get(inner..).and_then(|rest| rest.find(close));
        let to = end.map_or(text.len(), |end| inner + end + close.len());
        found.push((at + from, to));
        at = to;
    }
    found
}

/// Elements that aider puts around code that contains fences.
const ELEMENTS: [(&str, &str); 2] = [("\n<source>", "\n</source>"), ("\n<code>", "\n</code>")];
