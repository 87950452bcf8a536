//! Faults of a reply, and the errors that providers send.

use crate::json::{self, RawFields, text};
use wunderblock_core::message::Dialect;

/// Fault of a reply. The reply still holds everything that came before the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyFault {
    /// The stream ended before the model finished.
    #[error("incomplete reply: the stream ended before the model did")]
    Cut,
    /// The provider sent an error, instead of a reply or in the middle of one.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The reply exceeds the size limit.
    #[error("the reply exceeds the maximum of {max} bytes")]
    TooLong {
        /// Maximum size in bytes.
        max: usize,
    },
    /// The reply is neither JSON nor events, or does not have the dialect's shape.
    #[error("invalid reply: {reason}")]
    Unreadable {
        /// Mismatch between the reply and the expected shape.
        reason: String,
    },
    /// Replies of this dialect are not supported.
    #[error("unsupported dialect of the reply: `{}`", dialect.name())]
    Unsupported {
        /// Dialect of the reply.
        dialect: Dialect,
    },
}

/// Error that a provider sends instead of a reply: `{"error": {…}}`, in any dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{message}", kind, if kind.is_empty() || message.is_empty() { "" } else { ": " })]
pub struct ProviderError {
    /// Kind of the error in the provider's spelling. Anthropic: `error.type`. OpenAI: `error.code`, or else
    /// `error.type`. Gemini: `error.status`, or `API_KEY_INVALID`, which the status does not show.
    pub kind: String,
    /// Message of the error.
    pub message: String,
    /// Number of seconds after which a retry may succeed, if the body states it (Gemini's `retryDelay`).
    pub retry_after: Option<u64>,
}

/// Gemini's reason for rejecting a key. The status shows only an invalid request.
const INVALID_KEY: &str = "API_KEY_INVALID";

impl ProviderError {
    /// Reads the body of an error response, or the data of an error event. `None` if it is neither. Gemini sends a
    /// list with one error if no events were requested.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let document = json::document(body).ok()?;
        let body = json::list(document).and_then(|list| list.first().copied()).unwrap_or(document);
        Self::of(&RawFields::of(body)?)
    }

    pub(crate) fn of(fields: &RawFields<'_>) -> Option<Self> {
        let raw = fields.get("error").filter(|raw| !json::is_null(raw))?;
        let Some(error) = RawFields::of(raw) else {
            return Some(Self { message: text(raw)?, ..Self::default() });
        };
        let details: Vec<RawFields<'_>> = error
            .get("details")
            .and_then(json::list)
            .into_iter()
            .flatten()
            .filter_map(RawFields::of)
            .collect();
        let reason = details.iter().find_map(|detail| detail.text("reason"));
        let said = || ["code", "type", "status"].into_iter().find_map(|name| error.text(name));
        let kind = reason.filter(|reason| reason == INVALID_KEY).or_else(said).unwrap_or_default();
        let retry_after = details.iter().find_map(|detail| seconds(&detail.text("retryDelay")?));
        Some(Self { kind, message: error.text("message").unwrap_or_default(), retry_after })
    }

    /// Returns whether the error means that the request was too long.
    ///
    /// OpenAI's code is `context_length_exceeded`. Anthropic's error kinds do not show that a request was too long
    /// (`request_too_large` concerns bytes, and `invalid_request_error` can mean anything), so Anthropic's messages
    /// are searched for phrases: "prompt is too long", "exceed context limit". Gemini's error kinds do not show an
    /// overflow either, so its messages are searched for "exceeds the maximum number of tokens allowed". The other
    /// phrases come from servers compatible with OpenAI.
    #[must_use]
    pub fn is_overflow(&self) -> bool {
        const KINDS: [&str; 2] = ["context_length_exceeded", "request_too_large"];
        const WORDS: [&str; 8] = [
            "prompt is too long",
            "exceed context limit",
            "maximum context length",
            "context length exceeded",
            "exceeds the context window",
            "context window of",
            "exceed_context_size",
            "exceeds the maximum number of tokens allowed",
        ];
        let message = self.message.to_lowercase();
        KINDS.contains(&self.kind.as_str()) || WORDS.iter().any(|words| message.contains(words))
    }

    /// Returns the HTTP status that an error's kind represents. An error in the middle of a stream has no HTTP status
    /// of its own.
    ///
    /// Sources: Anthropic's page "Errors", OpenAI's guide "Error codes", and Gemini's page
    /// "Troubleshooting".
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        Some(match self.kind.as_str() {
            "invalid_request_error" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
            "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" | INVALID_KEY => 401,
            "billing_error" => 402,
            "permission_error" | "PERMISSION_DENIED" => 403,
            "not_found_error" | "model_not_found" | "NOT_FOUND" => 404,
            "request_too_large" => 413,
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED" => 429,
            "api_error" | "server_error" | "INTERNAL" => 500,
            "UNAVAILABLE" => 503,
            "timeout_error" | "DEADLINE_EXCEEDED" => 504,
            "overloaded_error" => 529,
            _ => return None,
        })
    }
}

/// Parses a duration as Google's APIs write it (`34.07s`) into whole seconds, rounded up.
fn seconds(span: &str) -> Option<u64> {
    let (whole, part) = span.strip_suffix('s')?.split_once('.').unwrap_or((span.strip_suffix('s')?, ""));
    let more = part.bytes().any(|digit| digit != b'0');
    Some(whole.parse::<u64>().ok()?.saturating_add(u64::from(more)))
}

/// Creates the fault of an unreadable reply, with a reason of at most 300 characters.
pub(super) fn unreadable(reason: impl std::fmt::Display) -> ReplyFault {
    ReplyFault::Unreadable { reason: reason.to_string().chars().take(300).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_providers_say_is_read() {
        let table = [
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"r"}"#,
                "invalid_request_error: prompt is too long: 210000 tokens > 200000 maximum",
                true,
                Some(400),
            ),
            (
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
                "context_length_exceeded: This model's maximum context length is 8192 tokens.",
                true,
                None,
            ),
            (
                r#"{"error":{"message":"No.","type":"server_error","param":null,"code":null}}"#,
                "server_error: No.",
                false,
                Some(500),
            ),
            (r#"{"error":"model is loading"}"#, "model is loading", false, None),
            (r#"{"error":{}}"#, "", false, None),
            (
                r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                "INVALID_ARGUMENT: The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
                true,
                Some(400),
            ),
            (
                r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
                "UNAVAILABLE: The model is overloaded.",
                false,
                Some(503),
            ),
        ];
        for (body, words, overflow, status) in table {
            let refusal = ProviderError::read(body.as_bytes()).unwrap();
            assert_eq!((refusal.to_string(), refusal.is_overflow()), (words.to_owned(), overflow));
            assert_eq!(refusal.status(), status, "{body}");
        }
        let limited = r#"[{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}]"#;
        let limited = ProviderError::read(limited.as_bytes()).unwrap();
        assert_eq!((limited.status(), limited.retry_after), (Some(429), Some(35)));
        for (span, expected) in [("7s", Some(7)), ("0.0s", Some(0)), ("7", None), ("s", None), ("-1s", None)]
        {
            assert_eq!(seconds(span), expected, "{span}");
        }
        let key = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        assert_eq!(ProviderError::read(key.as_bytes()).unwrap().status(), Some(401));
        for body in ["", "<html>", "[]", "{}", r#"{"error":null}"#, r#"{"error":7}"#] {
            assert_eq!(ProviderError::read(body.as_bytes()), None, "{body}");
        }
    }
}
