//! What a provider's refusals amount to.

use super::key::ApiKey;
use crate::redact::Redactor;
use crate::summarize::task::Failure;
use wunderblock_wire::{ModelReply, ProviderError, ReplyFault, StopReason};

/// So many characters of a provider's words are kept.
const WORDS_MAX: usize = 300;

/// Makes a provider's words fit to be recorded: without the key, without what looks like a secret, on one line, cut.
pub(super) struct Words<'a> {
    pub(super) key: Option<&'a ApiKey>,
    pub(super) redactor: &'a Redactor,
}

impl Words<'_> {
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

    /// What an answer with this status, not a good one, is.
    pub(super) fn status(&self, status: u16, retry_after: Option<u64>, body: &[u8]) -> Failure {
        let refusal = ProviderError::read(body);
        let is_overflow = refusal.as_ref().is_some_and(ProviderError::is_overflow);
        let said =
            refusal.map_or_else(|| String::from_utf8_lossy(body).into_owned(), |refusal| refusal.to_string());
        let said = if said.trim().is_empty() { format!("status {status}") } else { self.of(&said) };
        match status {
            401 | 403 => Failure::Unauthorised(said),
            408 | 504 => Failure::TimedOut,
            413 => Failure::TooLarge,
            _ if is_overflow && status < 500 => Failure::TooLarge,
            429 => Failure::Limited(retry_after),
            500.. => Failure::Server(status),
            300..=399 => Failure::Refused(format!("it sends us elsewhere, with status {status}")),
            _ => Failure::Refused(said),
        }
    }

    /// What is wrong with a reply, if anything is. `kind` is what it said its content was.
    pub(super) fn reply(&self, reply: ModelReply, kind: &str) -> Result<ModelReply, Failure> {
        match &reply.fault {
            None => {}
            Some(ReplyFault::Provider(refusal)) => {
                let status = refusal.status().unwrap_or(400);
                let said = if refusal.is_overflow() { 413 } else { status };
                return Err(match self.status(said, None, b"") {
                    Failure::Refused(_) => Failure::Refused(self.of(&refusal.to_string())),
                    Failure::Unauthorised(_) => Failure::Unauthorised(self.of(&refusal.to_string())),
                    failure => failure,
                });
            }
            Some(ReplyFault::Unreadable { reason }) => {
                let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
                return Err(Failure::Broken(self.of(&format!("{reason}{kind}"))));
            }
            Some(fault @ ReplyFault::Unsupported { .. }) => return Err(Failure::Refused(fault.to_string())),
            Some(fault @ (ReplyFault::Cut | ReplyFault::TooLong { .. })) => {
                return Err(Failure::Broken(fault.to_string()));
            }
        }
        if let Some(words) = reply.refusal() {
            let words = if words.trim().is_empty() { "it declined" } else { words.trim() };
            return Err(Failure::Refused(self.of(words)));
        }
        if reply.stop == StopReason::Window { Err(Failure::TooLarge) } else { Ok(reply) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_one_failure() {
        let key = ApiKey::new("sk-live-0000");
        let redactor = Redactor::embedded();
        let words = Words { key: Some(&key), redactor: &redactor };
        let said = |message: &str| {
            format!(r#"{{"error":{{"type":"invalid_request_error","message":"{message}"}}}}"#)
        };
        let refused = |text: &str| Failure::Refused(text.to_owned());
        let table = [
            (400, said("no such field"), refused("invalid_request_error: no such field")),
            (400, said("prompt is too long: 3 tokens > 2 maximum"), Failure::TooLarge),
            (
                401,
                said("bad key sk-live-0000"),
                Failure::Unauthorised("invalid_request_error: bad key …".into()),
            ),
            (403, String::new(), Failure::Unauthorised("status 403".into())),
            (404, "<html>\n not\there".into(), refused("<html> not here")),
            (408, String::new(), Failure::TimedOut),
            (413, String::new(), Failure::TooLarge),
            (429, said("slow down"), Failure::Limited(Some(7))),
            (500, said("prompt is too long"), Failure::Server(500)),
            (504, String::new(), Failure::TimedOut),
            (529, String::new(), Failure::Server(529)),
            (302, String::new(), refused("it sends us elsewhere, with status 302")),
        ];
        for (status, body, failure) in table {
            assert_eq!(words.status(status, Some(7), body.as_bytes()), failure, "{status} {body}");
        }
        let Failure::Refused(long) = words.status(400, None, "é".repeat(1_000).as_bytes()) else { panic!() };
        assert_eq!(long.chars().count(), WORDS_MAX + 1);
    }
}
