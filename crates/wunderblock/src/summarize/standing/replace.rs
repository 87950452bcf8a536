//! Whether a later rule replaces an earlier one: it is about the same thing, and says something else of it.

use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of a rule that say what it is about.
pub(super) struct Content {
    words: HashSet<String>,
    /// Whether it says that something changes.
    changes: bool,
}

/// Words that say nothing of what a rule is about.
const EVERYDAY: &str = "the a an and or of to in on at for with by is are be it its as that this our my your we you i not no so than then \
     them they one any all more most use used using keep new now also but only into from out up never always must should don't";

/// The same in Chinese, by character.
const EVERYDAY_WIDE: &str = "的了是在不要再就只能必须用以后这那和跟都也把被到我你他有个们";

/// Signs of a change.
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "now|instead|actually|from now on|no longer|any ?more|switch(?:ed)?|changed|dead|moved|after all|scrap|forget|rather than|\
                 as of|longer than|new|jetzt|ab sofort|ahora|ya no";
    Regex::new(&format!(r"\b(?:{words})\b|以后|改|不再|就不要|现在|从今天起|废弃|换")).ok()
});

/// Of the words of the shorter rule, the part that both must have where nothing says that something changes.
const SAME: f64 = 0.6;
/// The same where it does.
const CHANGED: f64 = 0.3;
/// The words both must have then.
const WORDS: usize = 2;
/// A Chinese word is taken for each two characters, so that it counts about twice.
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

/// Whether `later` replaces `earlier`. In doubt it does not: both stay, and the later one holds.
pub(super) fn replaces(later: &Content, earlier: &Content) -> bool {
    let both: Vec<&String> = later.words.intersection(&earlier.words).collect();
    let shorter = later.words.len().min(earlier.words.len());
    let is_wide = both.iter().any(|word| word.chars().any(|c| c.len_utf8() >= 3));
    let least = if is_wide { WIDE_WORDS } else { WORDS };
    // Counts of words: small numbers, which floats hold exactly.
    #[allow(clippy::cast_precision_loss)]
    let share = both.len() as f64 / shorter.max(1) as f64;
    both.len() >= least.min(shorter).max(1) && (share >= SAME || later.changes && share >= CHANGED)
}
