//! Maps refusals of a provider to failures.

use super::key::ApiKey;
use wunderblock_redact::Redactor;
use wunderblock_summary::CallFailure;
use wunderblock_wire::{ModelReply, ProviderError, ReplyFault, StopReason};

/// Maximum number of characters kept from a provider's message.
const WORDS_MAX: usize = 300;

/// Prepares a provider's message for the record: removes the key and anything that looks like a secret, joins the
/// lines, and cuts the result.
pub(super) struct ErrorText<'a> {
    pub(super) key: Option<&'a ApiKey>,
    pub(super) redactor: &'a Redactor,
}

impl ErrorText<'_> {
    pub(super) fn of(&self, text: &str) -> String {
        let text = self.key.map_or_else(|| text.to_owned(), |key| key.hide(text));
        let text = self.redactor.redact(&text).text;
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.retain(|c| !c.is_control());
        if let Some((end, _)) = words.char_indices().nth(WORDS_MAX) {
            words.truncate(end);
            words.push('…');
        }
        words
    }

    /// Returns the failure for an error status and its body.
    pub(super) fn status(&self, status: u16, retry_after: Option<u64>, body: &[u8]) -> CallFailure {
        let refusal = ProviderError::read(body);
        let is_overflow = refusal.as_ref().is_some_and(ProviderError::is_overflow);
        // Gemini reports an invalid key with status 400, and only the body of the response names the reason.
        let is_key = refusal.as_ref().and_then(ProviderError::status) == Some(401);
        // A delay in the header takes precedence. Gemini states the delay in the body instead.
        let retry_after = retry_after.or(refusal.as_ref().and_then(|refusal| refusal.retry_after));
        let said =
            refusal.map_or_else(|| String::from_utf8_lossy(body).into_owned(), |refusal| refusal.to_string());
        let said = if said.trim().is_empty() { format!("status {status}") } else { self.of(&said) };
        match status {
            401 | 403 => CallFailure::Unauthorised(said),
            400 if is_key => CallFailure::Unauthorised(said),
            408 | 504 => CallFailure::TimedOut,
            413 => CallFailure::TooLarge,
            _ if is_overflow && status < 500 => CallFailure::TooLarge,
            429 => CallFailure::Limited(retry_after),
            500.. => CallFailure::Server(status),
            300..=399 => CallFailure::Refused(format!("it sends us elsewhere, with status {status}")),
            _ => CallFailure::Refused(said),
        }
    }

    /// Returns the reply, or the failure that it contains. `kind` is the content type of the response.
    pub(super) fn reply(&self, reply: ModelReply, kind: &str) -> Result<ModelReply, CallFailure> {
        match &reply.fault {
            None => {}
            Some(ReplyFault::Provider(refusal)) => {
                let status = refusal.status().unwrap_or(400);
                let said = if refusal.is_overflow() { 413 } else { status };
                return Err(match self.status(said, refusal.retry_after, b"") {
                    CallFailure::Refused(_) => CallFailure::Refused(self.of(&refusal.to_string())),
                    CallFailure::Unauthorised(_) => CallFailure::Unauthorised(self.of(&refusal.to_string())),
                    failure => failure,
                });
            }
            Some(ReplyFault::Unreadable { reason }) => {
                let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
                return Err(CallFailure::Broken(self.of(&format!("{reason}{kind}"))));
            }
            Some(fault @ ReplyFault::Unsupported { .. }) => {
                return Err(CallFailure::Refused(fault.to_string()));
            }
            Some(fault @ (ReplyFault::Cut | ReplyFault::TooLong { .. })) => {
                return Err(CallFailure::Broken(fault.to_string()));
            }
        }
        if let Some(words) = reply.refusal() {
            let words = if words.trim().is_empty() { "it declined" } else { words.trim() };
            return Err(CallFailure::Refused(self.of(words)));
        }
        if reply.stop == StopReason::Window { Err(CallFailure::TooLarge) } else { Ok(reply) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_one_failure() {
        let key = ApiKey::new("sk-live-0000");
        let redactor = Redactor::embedded();
        let words = ErrorText { key: Some(&key), redactor: &redactor };
        let said = |message: &str| {
            format!(r#"{{"error":{{"type":"invalid_request_error","message":"{message}"}}}}"#)
        };
        let refused = |text: &str| CallFailure::Refused(text.to_owned());
        let table = [
            (400, said("no such field"), refused("invalid_request_error: no such field")),
            (400, said("prompt is too long: 3 tokens > 2 maximum"), CallFailure::TooLarge),
            (
                401,
                said("bad key sk-live-0000"),
                CallFailure::Unauthorised("invalid_request_error: bad key …".into()),
            ),
            (403, String::new(), CallFailure::Unauthorised("status 403".into())),
            (404, "<html>\n not\there".into(), refused("<html> not here")),
            (408, String::new(), CallFailure::TimedOut),
            (413, String::new(), CallFailure::TooLarge),
            (429, said("slow down"), CallFailure::Limited(Some(7))),
            (500, said("prompt is too long"), CallFailure::Server(500)),
            (504, String::new(), CallFailure::TimedOut),
            (529, String::new(), CallFailure::Server(529)),
            (302, String::new(), refused("it sends us elsewhere, with status 302")),
        ];
        for (status, body, failure) in table {
            assert_eq!(words.status(status, Some(7), body.as_bytes()), failure, "{status} {body}");
        }
        let gemini = |status: &str, detail: &str| {
            format!(r#"{{"error":{{"code":1,"message":"no","status":"{status}","details":[{{{detail}}}]}}}}"#)
        };
        let limited = gemini("RESOURCE_EXHAUSTED", r#""retryDelay":"34.5s""#);
        assert_eq!(words.status(429, None, limited.as_bytes()), CallFailure::Limited(Some(35)));
        let key = gemini("INVALID_ARGUMENT", r#""reason":"API_KEY_INVALID""#);
        let expected = CallFailure::Unauthorised("API_KEY_INVALID: no".to_owned());
        assert_eq!(words.status(400, None, key.as_bytes()), expected);
        let CallFailure::Refused(long) = words.status(400, None, "é".repeat(1_000).as_bytes()) else {
            panic!()
        };
        assert_eq!(long.chars().count(), WORDS_MAX + 1);
    }
}
