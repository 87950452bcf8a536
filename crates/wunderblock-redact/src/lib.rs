//! Removes secrets from texts before they are indexed or summarised, or handed to an agent.
//!
//! Rules are data: `rules.toml`, and additional rules from a caller. One pass searches for the keywords of all rules,
//! and a rule's regex is tried only near its keywords. A match is replaced by a visible placeholder if it is random
//! enough and not obviously made up. The running time is proportional to the length of the text times the number of
//! rules whose keywords occur.
//!
//! Redaction is best effort: a secret without a recognisable form is not found. Redaction never changes what is
//! recorded. Originals remain exact, and protecting them is a separate task.

mod placeholder;
mod rule;
mod scan;
#[cfg(test)]
mod tests;

pub use placeholder::PLACEHOLDER_WORD;
pub use rule::RuleError;

use rule::{MAX_SECRET_RULES, SecretRule};
use scan::Keywords;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

const EMBEDDED: &str = include_str!("rules.toml");

/// A secret found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// Id of the rule that found the secret.
    pub rule: Arc<str>,
    /// Byte offset of the secret's start in the original text.
    pub from_byte: usize,
    /// Byte offset of the secret's end in the original text.
    pub to_byte: usize,
}

/// A text without secrets, and the secrets that were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// Redacted text; borrowed from the original if no secret was found.
    pub text: Cow<'t, str>,
    /// Secrets found, in order and without overlaps.
    pub found: Vec<SecretFinding>,
}

/// A set of rules. Share one redactor: preparing the rules, which happens with the first text, costs more than
/// redacting a short text.
#[derive(Debug)]
pub struct Redactor(OnceLock<PreparedRules>);

/// Rules, ready to use.
#[derive(Debug)]
struct PreparedRules {
    rules: Vec<SecretRule>,
    /// Automaton of all keywords. `None` only if the automaton cannot be built; in that case, every rule is tried on
    /// every text.
    keywords: Option<Keywords>,
}

impl PreparedRules {
    fn embedded() -> Self {
        // A test ensures that the embedded rules parse and compile.
        let rules: Vec<SecretRule> =
            rule::parse(EMBEDDED).unwrap_or_default().into_iter().map(SecretRule::new).collect();
        let keywords = Keywords::new(&rules).ok();
        Self { rules, keywords }
    }
}

impl Redactor {
    /// Creates a redactor with the rules embedded in the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self(OnceLock::new())
    }

    /// Creates a redactor with the embedded rules and additional ones, in the form of `rules.toml`. A rule with the
    /// id of an embedded rule replaces it; a new rule takes precedence over all embedded rules. A rule without
    /// keywords is tried on every text.
    ///
    /// # Errors
    /// Returns a [`RuleError`] that names the invalid rule and its problem.
    pub fn with_rules(extra_toml: &str) -> Result<Self, RuleError> {
        let mut embedded = rule::parse(EMBEDDED)?;
        let mut rules: Vec<SecretRule> = Vec::new();
        for spec in rule::parse(extra_toml)? {
            embedded.retain(|old| old.id != spec.id);
            let rule = SecretRule::new(spec);
            rule.check()?;
            if rules.iter().any(|other| other.id == rule.id) {
                return Err(RuleError::Rule {
                    rule: rule.id.to_string(),
                    what: "another rule has the same id",
                });
            }
            rules.push(rule);
        }
        rules.extend(embedded.into_iter().map(SecretRule::new));
        if rules.len() > MAX_SECRET_RULES {
            return Err(RuleError::TooMany(rules.len()));
        }
        let keywords = Some(Keywords::new(&rules)?);
        Ok(Self(PreparedRules { rules, keywords }.into()))
    }

    /// Returns `text` without secrets. Placeholders contain only the rule's id, because an unkeyed hash would allow
    /// guesses to be verified.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        self.replace(text, None)
    }

    /// Returns `text` without secrets. Under the same key, the same secret always gets the same placeholder.
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

/// A text for an agent, without secrets. Only a [`Redactor`] makes one, so nothing reaches an agent around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushedText(String);

impl PushedText {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Redactor {
    /// Returns a text that may be handed to an agent: the text without secrets.
    #[must_use]
    pub fn push(&self, text: &str) -> PushedText {
        PushedText(self.redact(text).text.into_owned())
    }

    /// Returns a text with each byte of a secret replaced by `*`, except line ends. All places in the text stay the
    /// same, so a part of the text can be cut afterwards without cutting a secret.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.redact(text).found;
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for secret in found {
            out.push_str(text.get(done..secret.from_byte).unwrap_or_default());
            let bytes = text.as_bytes().get(secret.from_byte..secret.to_byte).unwrap_or_default();
            out.extend(bytes.iter().map(|byte| if *byte == b'\n' { '\n' } else { '*' }));
            done = secret.to_byte;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Returns a part that was cut from a text, with the secrets of the whole text masked. `None` if the text does not
    /// contain the part.
    #[must_use]
    pub fn mask_part(&self, text: &str, part: &str) -> Option<String> {
        let masked = self.mask(text);
        let shown = text.match_indices(part).filter_map(|(at, _)| masked.get(at..at + part.len()));
        // The part may occur several times: also in a secret, and outside of one.
        shown.max_by_key(|shown| shown.bytes().filter(|byte| *byte == b'*').count()).map(str::to_owned)
    }
}
