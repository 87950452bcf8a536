//! Violations of a body.

/// A rule that a body breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the value: `messages[3].content[0].id`. Empty for the body as a whole.
    pub path: String,
    /// Name of the rule, for counting and matching.
    pub rule: &'static str,
    /// Description of the violation.
    pub detail: String,
}

/// Violations of one body.
#[derive(Default)]
pub(super) struct Violations(pub(super) Vec<Violation>);

impl Violations {
    pub(super) fn add(&mut self, path: &str, rule: &'static str, detail: impl Into<String>) {
        self.0.push(Violation { path: path.to_owned(), rule, detail: detail.into() });
    }

    /// Adds the violation unless `holds` is true.
    pub(super) fn demand(&mut self, holds: bool, path: &str, rule: &'static str, detail: &str) {
        if !holds {
            self.add(path, rule, detail);
        }
    }
}

/// Returns whether a name consists of ASCII letters, digits, `_` and `-`, and has 1 to `max` bytes.
pub(super) fn is_name(name: &str, max: usize) -> bool {
    (1..=max).contains(&name.len())
        && name.chars().all(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-'))
}
