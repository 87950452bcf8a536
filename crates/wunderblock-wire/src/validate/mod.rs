//! What the providers refuse, checked on the encoded body.
//!
//! The checker reads the JSON itself and shares nothing with the encoders, so that neither hides a mistake of the
//! other. It opens only the levels it has rules for: tool inputs of any depth and any number pass. Rules are those of
//! the providers' references and of the error texts they answer with; what a provider accepts with a loss is not a
//! violation.

mod anthropic;
mod findings;
mod gemini;
mod node;
mod openai_chat;
mod openai_responses;

pub use findings::Violation;

use findings::Violations;
use node::ValueNode;
use wunderblock_core::message::Dialect;
use wunderblock_core::request::Request;

/// Checks an encoded request. Empty: the provider has no reason in its form to refuse it.
#[must_use]
pub fn validate(dialect: Dialect, bytes: &[u8]) -> Vec<Violation> {
    let mut findings = Violations::default();
    let check = match dialect {
        Dialect::Anthropic => anthropic::check,
        Dialect::OpenaiChat => openai_chat::check,
        Dialect::OpenaiResponses => openai_responses::check,
        Dialect::Gemini => gemini::check,
        Dialect::Neutral => {
            if let Err(error) = serde_json::from_slice::<Request>(bytes) {
                findings.add("", "json", error.to_string());
            }
            return findings.0;
        }
    };
    match ValueNode::document(bytes) {
        Ok(body) => check(&body, &mut findings),
        Err(reason) => findings.add("", "json", reason),
    }
    findings.0
}
