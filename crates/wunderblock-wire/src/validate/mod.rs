//! What the providers refuse, checked on the encoded body.
//!
//! The checker reads the JSON itself and shares nothing with the encoders, so that neither hides a mistake of the
//! other. It opens only the levels it has rules for: tool inputs of any depth and any number pass. Rules are those of
//! the providers' references and of the error texts they answer with; what a provider accepts with a loss is not a
//! violation.

mod anthropic;
mod findings;
mod node;
mod openai_chat;

pub use findings::Violation;

use findings::Violations;
use node::ValueNode;
use wunderblock_core::message::Dialect;
use wunderblock_core::request::Request;

/// Checks an encoded request. Empty: the provider has no reason in its form to refuse it.
#[must_use]
pub fn validate(dialect: Dialect, bytes: &[u8]) -> Vec<Violation> {
    let mut findings = Violations::default();
    match dialect {
        Dialect::Anthropic | Dialect::OpenaiChat => match ValueNode::document(bytes) {
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
