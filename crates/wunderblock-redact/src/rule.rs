//! Rules that describe secrets, as data.

use aho_corasick::AhoCorasick;
use memchr::memmem;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// Maximum number of rules in a redactor. A regex of a rule is compiled when the rule first needs it.
pub(crate) const MAX_SECRET_RULES: usize = 500;
/// Maximum size in bytes of a rule's compiled regex.
const REGEX_SIZE: usize = 4 << 20;
/// Place at which a word begins in a text or in a string of JSON, a URL or a terminal, in which the letters and digits
/// of an escape may touch the word: `\nghp_…`, `%3Dghp_…`, `[32mghp_…`.
const WORD_START: &str =
    r"(?-u:\b|\\[abefnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,16}m)";
/// Maximum length in bytes of what [`WORD_START`] matches.
const ESCAPE: usize = 18;
/// Number of bytes after a keyword's start, in addition to the keyword, that contain one of the strings in `near`.
const NEAR: usize = 28;
/// Maximum length in bytes of a secret that words can show to be made up. A longer one may have them by chance.
const MADE_UP_BYTES: usize = 400;

/// Words that occur only in made-up secrets.
const MADE_UP: [&str; 13] = [
    "example",
    "your",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "dummy",
    "redacted",
    "xxxx",
    "****",
    "....",
    "insert",
    "<",
];

/// Reason why a rule is invalid.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The text is not TOML, or has an unknown field or an invalid value.
    #[error("the redaction rules cannot be read: {0}")]
    Form(#[from] toml::de::Error),
    /// A regex does not compile, or becomes too large.
    #[error("redaction rule `{rule}`: {error}")]
    Regex {
        /// Id of the rule.
        rule: String,
        /// Error of the regex.
        error: Box<regex::Error>,
    },
    /// A rule has an invalid value.
    #[error("redaction rule `{rule}`: {what}")]
    Rule {
        /// Id of the rule.
        rule: String,
        /// Description of the problem.
        what: &'static str,
    },
    /// The keywords of all rules do not fit into one automaton.
    #[error("the keywords of the redaction rules cannot be searched for: {0}")]
    Keywords(#[from] aho_corasick::BuildError),
    /// There are more than 500 rules.
    #[error("too many redaction rules: {0}, the maximum is {MAX_SECRET_RULES}")]
    TooMany(usize),
}

/// A rule as written in TOML.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub(super) id: String,
    regex: String,
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    digit: bool,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    near: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default = "default_reach")]
    pub(super) reach: usize,
    #[serde(default = "default_behind")]
    pub(super) behind: usize,
}

const fn default_reach() -> usize {
    256
}

// One preceding byte is enough for a word boundary at the keyword to be checked.
const fn default_behind() -> usize {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default)]
    rule: Vec<Spec>,
}

/// Parses rules in the form of `rules.toml`.
pub(super) fn parse(toml_text: &str) -> Result<Vec<Spec>, RuleError> {
    Ok(toml::from_str::<RulesFile>(toml_text)?.rule)
}

/// A rule, ready to use. The rule's regexes are compiled at first use, because most texts need none of them.
#[derive(Debug)]
pub(super) struct SecretRule {
    pub(super) id: Arc<str>,
    pub(super) spec: Spec,
    regex: OnceLock<Option<Regex>>,
    allow: OnceLock<Option<Regex>>,
}

impl SecretRule {
    pub(super) fn new(mut spec: Spec) -> Self {
        if spec.word {
            spec.regex = if spec.regex.contains("(?<secret>") {
                format!("{WORD_START}(?:{})", spec.regex)
            } else {
                format!("{WORD_START}(?<secret>{})", spec.regex)
            };
            spec.behind += ESCAPE;
        }
        Self { id: spec.id.as_str().into(), spec, regex: OnceLock::new(), allow: OnceLock::new() }
    }

    /// Returns the compiled regex. The regex exists for every rule: additional rules are checked when they are
    /// loaded, and embedded rules by a test.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(std::slice::from_ref(&self.spec.regex))).as_ref()
    }

    /// Returns whether the rule may match at a keyword that begins at `from` and ends at `to`, judged by the strings
    /// of which one must follow.
    pub(super) fn may_match(&self, text: &[u8], from: usize, to: usize) -> bool {
        let near = || text.get(from..text.len().min(to + NEAR)).unwrap_or_default();
        self.spec.near.is_empty() || has_one(near(), &self.spec.near)
    }

    /// Returns whether a stretch has one of the strings without which the rule matches nothing.
    pub(super) fn may_match_in(&self, stretch: &[u8]) -> bool {
        self.spec.also.is_empty() || has_one(stretch, &self.spec.also)
    }

    /// Checks that the rule's values are valid and that its regexes compile.
    pub(super) fn check(&self) -> Result<(), RuleError> {
        let rule = || self.spec.id.clone();
        let id_fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let what = if self.id.is_empty() || self.id.len() > 40 || !self.id.bytes().all(id_fits) {
            "the id must be 1 to 40 lower-case letters, digits and hyphens"
        } else if self.spec.keywords.iter().any(|keyword| keyword.len() < 2 || !keyword.is_ascii()) {
            "a keyword must be at least two ASCII characters"
        } else if !(0.0..=8.0).contains(&self.spec.entropy) {
            "`entropy` must be between 0 and 8 bits per character"
        } else if self.spec.reach > 1 << 20 || self.spec.behind > 4096 {
            "`reach` must be at most 1048576 bytes, and `behind` at most 4096"
        } else {
            ""
        };
        if !what.is_empty() {
            return Err(RuleError::Rule { rule: rule(), what });
        }
        for pattern in self.spec.allow.iter().chain([&self.spec.regex]) {
            // This error shows the place in the pattern.
            regex::bytes::RegexBuilder::new(pattern)
                .size_limit(REGEX_SIZE)
                .build()
                .map_err(|error| RuleError::Regex { rule: rule(), error: Box::new(error) })?;
        }
        if self.regex().is_none() || compile(&self.spec.allow).is_none() {
            return Err(RuleError::Rule { rule: rule(), what: "its regexes are too large together" });
        }
        Ok(())
    }

    /// Returns whether a match is a secret: random enough, not made up, and not allowed.
    pub(super) fn accepts(&self, secret: &[u8]) -> bool {
        if secret.is_empty() || entropy(secret) < self.spec.entropy {
            return false;
        }
        let (digits, letters) = secret.iter().fold((false, false), |(digits, letters), byte| {
            (digits | byte.is_ascii_digit(), letters | byte.is_ascii_alphabetic())
        });
        if (self.spec.digit && !(digits && letters)) || is_made_up(secret) {
            return false;
        }
        // Most matches have been decided before this, and most rules never compile these regexes.
        let allow = self.allow.get_or_init(|| compile(&self.spec.allow));
        !allow.as_ref().is_some_and(|allow| allow.is_match(secret))
    }
}

/// Compiles regexes over bytes, which match if one of them does. A repeated Unicode class would take an automaton of
/// UTF-8 for each repetition. The search for literals, which is left out, takes longer than everything else, and gains
/// nothing: the keywords have found the place already.
fn compile(patterns: &[String]) -> Option<Regex> {
    let config = Regex::config().auto_prefilter(false).utf8_empty(false).nfa_size_limit(Some(REGEX_SIZE));
    Regex::builder().configure(config).syntax(syntax::Config::new().utf8(false)).build_many(patterns).ok()
}

fn has_one(bytes: &[u8], wanted: &[String]) -> bool {
    wanted.iter().any(|one| memmem::find(bytes, one.as_bytes()).is_some())
}

fn is_made_up(secret: &[u8]) -> bool {
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let words = WORDS.get_or_init(|| AhoCorasick::builder().ascii_case_insensitive(true).build(MADE_UP).ok());
    secret.len() <= MADE_UP_BYTES && words.as_ref().is_some_and(|words| words.is_match(secret))
}

/// Returns the Shannon entropy in bits per byte: 0 for one byte repeated, at most 4 for hexadecimal, and about 5 for
/// forty characters of base64.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_per_character() {
        for (text, bits) in [("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0), ("0123456789abcdef", 4.0)] {
            assert!((entropy(text.as_bytes()) - bits).abs() < 1e-9, "{text}");
        }
    }
}
