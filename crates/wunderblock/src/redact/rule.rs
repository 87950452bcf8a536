//! Rules that describe secrets, as data.

use crate::limits::MAX_SECRET_RULES;
use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// Maximum size in bytes of a rule's compiled regex.
const REGEX_SIZE: usize = 4 << 20;

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
    /// There are more than [`MAX_SECRET_RULES`] rules.
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
    allow: OnceLock<Vec<Regex>>,
}

impl SecretRule {
    pub(super) fn new(spec: Spec) -> Self {
        Self { id: spec.id.as_str().into(), spec, regex: OnceLock::new(), allow: OnceLock::new() }
    }

    /// Returns the compiled regex. The regex exists for every rule: additional rules are checked when they are
    /// loaded, and embedded rules by a test.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(&self.spec.regex).ok()).as_ref()
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
            compile(pattern).map_err(|error| RuleError::Regex { rule: rule(), error: Box::new(error) })?;
        }
        Ok(())
    }

    /// Returns whether a match is a secret: random enough, not made up, and not allowed.
    pub(super) fn accepts(&self, secret: &str) -> bool {
        if secret.is_empty() || entropy(secret) < self.spec.entropy {
            return false;
        }
        let (digits, letters) = secret.bytes().fold((false, false), |(digits, letters), byte| {
            (digits | byte.is_ascii_digit(), letters | byte.is_ascii_alphabetic())
        });
        if self.spec.digit && !(digits && letters) {
            return false;
        }
        let allow =
            self.allow.get_or_init(|| self.spec.allow.iter().filter_map(|one| compile(one).ok()).collect());
        !is_made_up(secret) && !allow.iter().any(|allowed| allowed.is_match(secret))
    }
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(REGEX_SIZE).build()
}

fn is_made_up(secret: &str) -> bool {
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let words = WORDS.get_or_init(|| AhoCorasick::builder().ascii_case_insensitive(true).build(MADE_UP).ok());
    words.as_ref().is_some_and(|words| words.is_match(secret))
}

/// Returns the Shannon entropy in bits per byte: 0 for one byte repeated, at most 4 for hexadecimal, and about 5 for
/// forty characters of base64.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
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
            assert!((entropy(text) - bits).abs() < 1e-9, "{text}");
        }
    }
}
