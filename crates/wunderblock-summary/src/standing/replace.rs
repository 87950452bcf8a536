//! Decides whether a later rule replaces an earlier one, which is the case if both have the same subject but the
//! later one says something different about it.

use regex::Regex;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// The words of a rule that name its subject.
pub(super) struct Content {
    words: HashSet<String>,
    /// Whether the rule states that something changes.
    changes: bool,
}

/// English words that say nothing about the subject of a rule.
const EVERYDAY: &str = "the a an and or of to in on at for with by is are be it its as that this our my your we you i not no so than then \
     them they one any all more most use used using keep new now also but only into from out up never always must should don't";

/// Chinese characters that say nothing about the subject of a rule.
const EVERYDAY_WIDE: &str = "的了是在不要再就只能必须用以后这那和跟都也把被到我你他有个们";

/// Words that state a change.
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "now|instead|actually|from now on|no longer|any ?more|switch(?:ed)?|changed|dead|moved|after all|scrap|forget|rather than|\
                 as of|longer than|new|jetzt|ab sofort|ahora|ya no";
    Regex::new(&format!(r"\b(?:{words})\b|以后|改|不再|就不要|现在|从今天起|废弃|换")).ok()
});

/// Minimum share of the shorter rule's words that both rules must have in common.
const SAME: f64 = 0.6;
/// Minimum share of common words if the later rule states a change.
const CHANGED: f64 = 0.3;
/// Minimum words in common.
const WORDS: usize = 2;
/// Minimum number of words in common if one of the words is Chinese. Each pair of characters counts as a word, so a
/// Chinese word counts about twice.
const WIDE_WORDS: usize = 3;

impl Content {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let mut words = HashSet::new();
        for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '.' | '/')))
        {
            let word = word.trim_matches(['.', '-', '\'', '/']);
            if word.chars().all(|c| c.len_utf8() < 3) {
                let is_plural = word.len() > 3 && word.ends_with('s');
                let word = if is_plural { &word[..word.len() - 1] } else { word };
                if word.len() > 1 && !EVERYDAY.split_whitespace().any(|everyday| everyday == word) {
                    words.insert(word.to_owned());
                }
            } else {
                let chars: Vec<char> = word.chars().collect();
                let pairs = chars.windows(2).filter(|pair| !pair.iter().any(|c| EVERYDAY_WIDE.contains(*c)));
                words.extend(pairs.map(|pair| pair.iter().collect::<String>()));
            }
        }
        Self { words, changes: CHANGE.as_ref().is_some_and(|change| change.is_match(&text)) }
    }
}

/// Number of words that two rules share, and whether one of them is Chinese.
#[derive(Clone, Copy, Default)]
struct Shared {
    count: usize,
    is_wide: bool,
}

/// Returns the indices of the rules that a later rule replaces. Takes time linear in the number of words that the
/// rules share.
pub(super) fn replaced(rules: &[Content]) -> BTreeSet<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut gone = BTreeSet::new();
    for (later, rule) in rules.iter().enumerate() {
        let mut shared: HashMap<usize, Shared> = HashMap::new();
        for word in &rule.words {
            let is_wide = word.chars().any(|c| c.len_utf8() >= 3);
            for earlier in places.get(word.as_str()).into_iter().flatten() {
                let both = shared.entry(*earlier).or_default();
                both.count += 1;
                both.is_wide |= is_wide;
            }
            places.entry(word).or_default().push(later);
        }
        shared.remove(&later);
        let is_gone =
            |earlier: &usize, both| rules.get(*earlier).is_some_and(|old| replaces(rule, old, both));
        gone.extend(
            shared.into_iter().filter(|(earlier, both)| is_gone(earlier, *both)).map(|(earlier, _)| earlier),
        );
    }
    gone
}

/// Returns whether `later` replaces `earlier`. If in doubt, returns false, so that both rules stay and the later one
/// applies.
fn replaces(later: &Content, earlier: &Content, both: Shared) -> bool {
    let shorter = later.words.len().min(earlier.words.len());
    let least = if both.is_wide { WIDE_WORDS } else { WORDS };
    // Counts of words are small numbers, which floats represent exactly.
    #[allow(clippy::cast_precision_loss)]
    let share = both.count as f64 / shorter.max(1) as f64;
    both.count >= least.min(shorter).max(1) && (share >= SAME || later.changes && share >= CHANGED)
}
