//! Checks an encoded body against the rules of the providers.
//!
//! The checker reads the JSON itself and shares no code with the encoders, so a mistake in an encoder is not hidden
//! by the same mistake in the checker. The checker opens only the levels that have rules, so it accepts tool inputs
//! of any depth and with any numbers. The rules come from the providers' references and from their error messages.
//! Content that a provider accepts although some of it is lost is not a violation.

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

/// Checks an encoded request. An empty result means that the provider has no formal reason to refuse the request.
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
