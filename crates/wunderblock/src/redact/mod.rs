//! Secrets out of texts before they are indexed or summarised.
//!
//! Rules are data (`rules.toml`, and a caller's own). One pass looks for the rules' keywords; only around a keyword is a
//! rule's regex tried, and only what is random enough and not made up is replaced, by a visible placeholder. The work
//! is linear in the text, times the number of rules whose keywords it contains.
//!
//! This is a net, not a proof: a secret that looks like nothing in particular passes. It never touches what is recorded;
//! originals stay exact and are somebody else's to guard.

mod placeholder;
mod rule;
mod scan;
#[cfg(test)]
mod tests;

pub use rule::{MAX_RULES, RuleError};

use rule::SecretRule;
use scan::Keywords;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

const EMBEDDED: &str = include_str!("rules.toml");

/// One secret that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// The id of the rule that found it.
    pub rule: Arc<str>,
    /// Where it starts in the original text, in bytes.
    pub from_byte: usize,
    /// Where it ends in the original text, in bytes.
    pub to_byte: usize,
}

/// A text without secrets, and what was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text; borrowed if nothing was found.
    pub text: Cow<'t, str>,
    /// What was found, in order, without overlaps.
    pub found: Vec<SecretFinding>,
}

/// A set of rules. Share one: making it ready, which the first text waits for, costs more than using it on a short text.
#[derive(Debug)]
pub struct Redactor(OnceLock<PreparedRules>);

/// Rules, ready to use.
#[derive(Debug)]
struct PreparedRules {
    rules: Vec<SecretRule>,
    /// None only if no automaton can be built; then every rule is tried on every text.
    keywords: Option<Keywords>,
}

impl PreparedRules {
    fn embedded() -> Self {
        // That the embedded rules parse and compile is what a test is for.
        let rules: Vec<SecretRule> =
            rule::parse(EMBEDDED).unwrap_or_default().into_iter().map(SecretRule::new).collect();
        let keywords = Keywords::new(&rules).ok();
        Self { rules, keywords }
    }
}

impl Redactor {
    /// The rules that are part of the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self(OnceLock::new())
    }

    /// The embedded rules and the caller's, in the form of `rules.toml`. A rule with an embedded rule's id replaces it,
    /// a new one comes before all embedded ones. A rule without keywords is tried on every text.
    ///
    /// # Errors
    /// [`RuleError`] names the rule and what is wrong with it.
    pub fn with_rules(extra_toml: &str) -> Result<Self, RuleError> {
        let mut embedded = rule::parse(EMBEDDED)?;
        let mut rules: Vec<SecretRule> = Vec::new();
        for spec in rule::parse(extra_toml)? {
            embedded.retain(|old| old.id != spec.id);
            let rule = SecretRule::new(spec);
            rule.check()?;
            if rules.iter().any(|other| other.id == rule.id) {
                return Err(RuleError::Rule { rule: rule.id.to_string(), what: "the id is there twice" });
            }
            rules.push(rule);
        }
        rules.extend(embedded.into_iter().map(SecretRule::new));
        if rules.len() > MAX_RULES {
            return Err(RuleError::TooMany(rules.len()));
        }
        let keywords = Some(Keywords::new(&rules)?);
        Ok(Self(PreparedRules { rules, keywords }.into()))
    }

    /// `text` without secrets. Placeholders only name the rule: without a key, a hash of a guessable secret would give
    /// it away.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        self.replace(text, None)
    }

    /// `text` without secrets; the same secret has the same placeholder under the same key.
    #[must_use]
    pub fn redact_keyed<'t>(&self, key: &[u8; 32], text: &'t str) -> Redacted<'t> {
        self.replace(text, Some(key))
    }

    fn replace<'t>(&self, text: &'t str, key: Option<&[u8; 32]>) -> Redacted<'t> {
        let PreparedRules { rules, keywords } = self.0.get_or_init(PreparedRules::embedded);
        let found = scan::secrets(rules, keywords.as_ref(), text);
        if found.is_empty() {
            return Redacted { text: Cow::Borrowed(text), found };
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for finding in &found {
            out.push_str(text.get(done..finding.from_byte).unwrap_or_default());
            let secret = text.get(finding.from_byte..finding.to_byte).unwrap_or_default();
            placeholder::write(&mut out, &finding.rule, secret, key);
            done = finding.to_byte;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Redacted { text: Cow::Owned(out), found }
    }
}
