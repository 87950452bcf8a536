//! What the providers refuse, checked on the encoded body.
//!
//! The checker reads the JSON itself and shares nothing with the encoders, so that neither hides a mistake of the
//! other. It opens only the levels it has rules for: tool inputs of any depth and any number pass. Rules are those of
//! the providers' references and of the error texts they answer with; what a provider accepts with a loss is not a
//! violation.

mod anthropic;
mod node;
mod openai_chat;

use node::Node;
use wunderblock_core::message::Dialect;
use wunderblock_core::request::Request;

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
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, path: &str, rule: &'static str, detail: impl Into<String>) {
        self.0.push(Violation { path: path.to_owned(), rule, detail: detail.into() });
    }

    /// Notes the violation unless `holds`.
    fn demand(&mut self, holds: bool, path: &str, rule: &'static str, detail: &str) {
        if !holds {
            self.add(path, rule, detail);
        }
    }
}

/// Checks an encoded request. Empty: the provider has no reason in its form to refuse it.
#[must_use]
pub fn validate(dialect: Dialect, bytes: &[u8]) -> Vec<Violation> {
    let mut findings = Findings::default();
    match dialect {
        Dialect::Anthropic | Dialect::OpenaiChat => match Node::document(bytes) {
            Ok(body) if dialect == Dialect::Anthropic => anthropic::check(&body, &mut findings),
            Ok(body) => openai_chat::check(&body, &mut findings),
            Err(reason) => findings.add("", "json", reason),
        },
        Dialect::Neutral => {
            if let Err(error) = serde_json::from_slice::<Request>(bytes) {
                findings.add("", "json", error.to_string());
            }
        }
        Dialect::OpenaiResponses | Dialect::Gemini => {
            findings.add(
                "",
                "unsupported",
                "this dialect has no checker; anthropic, openai-chat and neutral have",
            );
        }
    }
    findings.0
}

/// Whether a name is of letters, digits, `_`, `-` and at most so long.
fn is_name(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len())
        && name.chars().all(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-'))
}
