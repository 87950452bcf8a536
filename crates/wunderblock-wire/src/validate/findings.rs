//! The violations of a body.

/// One rule that a body breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: `messages[3].content[0].id`. Empty for the body as a whole.
    pub path: String,
    /// The rule's name, to be counted and matched.
    pub rule: &'static str,
    /// What is wrong there.
    pub detail: String,
}

/// The violations found so far.
#[derive(Default)]
pub(super) struct Violations(pub(super) Vec<Violation>);

impl Violations {
    pub(super) fn add(&mut self, path: &str, rule: &'static str, detail: impl Into<String>) {
        self.0.push(Violation { path: path.to_owned(), rule, detail: detail.into() });
    }

    /// Notes the violation unless `holds`.
    pub(super) fn demand(&mut self, holds: bool, path: &str, rule: &'static str, detail: &str) {
        if !holds {
            self.add(path, rule, detail);
        }
    }
}

/// Whether a name is of letters, digits, `_`, `-` and at most so long.
pub(super) fn is_name(name: &str, max: usize) -> bool {
    (1..=max).contains(&name.len())
        && name.chars().all(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-'))
}
