//! Weighs how likely a sentence is a standing rule.

use crate::phrase::stands_alone;
use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Lists {
    clause: String,
    list: Vec<List>,
    form: Vec<Form>,
}

/// Phrases of equal weight. At most [`OF_A_LIST`] matches from each list are counted.
#[derive(Deserialize)]
struct List {
    weight: i32,
    phrases: Vec<String>,
}

/// A sentence form and its weight.
#[derive(Deserialize)]
struct Form {
    weight: i32,
    pattern: String,
}

struct Scales {
    finder: AhoCorasick,
    /// Index of the list that each pattern belongs to.
    lists: Vec<usize>,
    weights: Vec<i32>,
    forms: Vec<(i32, Regex)>,
    /// Beginning of an order within a sentence, in one of its groups.
    clause: Regex,
}

/// Maximum number of matches from one list that are counted.
const OF_A_LIST: i32 = 2;
/// Minimum number of words in a rule; shorter sentences are usually answers. Two Chinese characters count as one
/// word.
const WORDS_MIN: usize = 4;
/// Minimum weight of phrases with which a short sentence is more than an answer: "never push".
const ORDER: i32 = 4;
/// Weight added to sentences with too few words.
const TOO_SHORT: i32 = -3;

static SCALES: LazyLock<Option<Scales>> = LazyLock::new(|| {
    let lists: Lists = toml::from_str(include_str!("words.toml")).ok()?;
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        // The longest phrase wins, so that a phrase of weight 0 hides a shorter one within it.
        .match_kind(MatchKind::LeftmostLongest)
        .build(lists.list.iter().flat_map(|list| &list.phrases))
        .ok()?;
    let places = lists.list.iter().enumerate();
    let forms = lists.form.iter().map(|form| Some((form.weight, Regex::new(&form.pattern).ok()?)));
    Some(Scales {
        finder,
        lists: places.flat_map(|(index, list)| list.phrases.iter().map(move |_| index)).collect(),
        weights: lists.list.iter().map(|list| list.weight).collect(),
        forms: forms.collect::<Option<_>>()?,
        clause: Regex::new(&lists.clause).ok()?,
    })
});

/// Minimum weight of a sentence that is a rule, as far as can be judged by its words.
const RULE: i32 = 3;

/// Returns the rule that a sentence states, with its offset and its weight. If the sentence begins with something else,
/// the rule is the order that follows.
pub(super) fn rule(sentence: &str) -> Option<(usize, i32)> {
    let text = sentence.to_lowercase();
    let order = SCALES.as_ref().and_then(|scales| scales.clause.captures(&text));
    // Lower case may change the length of a text in some scripts.
    let order = order.filter(|_| text.len() == sentence.len()).and_then(|found| {
        let at = found.iter().skip(1).flatten().next()?.start();
        Some((found.get(0)?.start(), at))
    });
    if let Some((before, at)) = order
        && weight(sentence) > i32::MIN
        && weight(sentence.get(..before)?) < RULE
    {
        let own = weight(sentence.get(at..)?);
        if own >= RULE {
            return Some((at, own));
        }
    }
    Some((0, weight(sentence))).filter(|(_, weight)| *weight >= RULE)
}

/// Returns the weight of a sentence, or [`i32::MIN`] for a question.
fn weight(sentence: &str) -> i32 {
    let Some(scales) = SCALES.as_ref().filter(|_| !sentence.ends_with(['?', '？'])) else { return i32::MIN };
    let text = without_quotations(sentence);
    let mut counts = vec![0; scales.weights.len()];
    for hit in scales.finder.find_iter(&text) {
        let list = scales.lists.get(hit.pattern().as_usize()).and_then(|list| counts.get_mut(*list));
        if let Some(count) = list.filter(|_| stands_alone(&text, hit.start(), hit.end())) {
            *count += 1;
        }
    }
    let phrases: i32 =
        counts.iter().zip(&scales.weights).map(|(count, weight)| weight * OF_A_LIST.min(*count)).sum();
    let forms: i32 =
        scales.forms.iter().filter(|(_, form)| form.is_match(&text)).map(|(weight, _)| weight).sum();
    let wide = text.chars().filter(|c| c.len_utf8() >= 3).count();
    let is_order = counts.iter().zip(&scales.weights).any(|(count, weight)| *count > 0 && *weight >= ORDER);
    let is_short = text.split_whitespace().count() + wide / 2 < WORDS_MIN && !is_order;
    phrases + forms + if is_short { TOO_SHORT } else { 0 }
}

/// Returns a sentence in lower case, without quotations of 12 characters or more.
fn without_quotations(sentence: &str) -> String {
    static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("\"[^\"]{12,}\"|“[^”]{12,}”").ok());
    let text = sentence.to_lowercase();
    QUOTED.as_ref().map_or_else(|| text.clone(), |quoted| quoted.replace_all(&text, " ").into_owned())
}
