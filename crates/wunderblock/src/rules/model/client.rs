//! Address, limits and retries of calls to a model.

use super::call::{Arriving, ModelCall, SendOptions, WholeBody};
use super::key::ApiKey;
use super::status::ErrorText;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Bytes, Millis, Tokens};
use wunderblock_redact::Redactor;
use wunderblock_summary::{CallFailure, TOKEN_TIME, writing_time};
use wunderblock_wire::{ModelReply, ReplyReader};

/// Version of the Messages API to request: the only version that exists (see the page "Versions" of its
/// documentation).
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// Base URL of OpenAI's API.
pub(in crate::rules) const OPENAI: &str = "https://api.openai.com/v1";
/// Delay before the first retry. The delay before the second retry is twice as long as before the first.
const BACKOFF: Duration = Duration::from_millis(500);
/// Maximum interval between two calls to `progress`.
const TICK: Duration = Duration::from_millis(50);

/// Address of a model's API, and how to access it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Format of requests and replies: a provider's format, not the neutral one.
    pub dialect: Dialect,
    /// Base URL of the API; empty for the provider's own: `https://api.anthropic.com`, `https://api.openai.com/v1` or
    /// `https://generativelanguage.googleapis.com`.
    pub base_url: String,
    /// API key, if the provider requires one.
    pub key: Option<ApiKey>,
    /// Additional headers, such as `anthropic-beta`. The headers' values may be secrets and are never printed.
    pub headers: Headers,
    /// Address of a proxy, as `http://host:port`.
    pub proxy: Option<String>,
}

/// Names and values of headers. `Debug` prints only the names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Endpoint {
    /// Makes an endpoint at the provider's own address.
    #[must_use]
    pub fn new(dialect: Dialect, key: Option<ApiKey>) -> Self {
        Self { dialect, base_url: String::new(), key, headers: Headers::default(), proxy: None }
    }

    /// Returns the base URL without what surrounds it.
    fn base(&self) -> &str {
        self.base_url.trim().trim_end_matches('/')
    }

    fn url(&self) -> Result<String, EndpointError> {
        let base = self.base();
        let (own, path) = match self.dialect {
            // Base URLs with and without the version of the API are accepted.
            Dialect::Anthropic if base.ends_with("/v1") => ("", "/messages"),
            Dialect::Anthropic => ("https://api.anthropic.com", "/v1/messages"),
            Dialect::OpenaiChat => (OPENAI, "/chat/completions"),
            Dialect::OpenaiResponses => (OPENAI, "/responses"),
            // The model's name is appended for each call.
            Dialect::Gemini if base.ends_with("/v1beta") => ("", "/models/"),
            Dialect::Gemini => ("https://generativelanguage.googleapis.com", "/v1beta/models/"),
            dialect @ Dialect::Neutral => return Err(EndpointError::Dialect(dialect)),
        };
        self.url_of(own, path)
    }

    /// Returns the URL of a path; `own` is the provider's own base URL.
    fn url_of(&self, own: &str, path: &str) -> Result<String, EndpointError> {
        let base = if self.base().is_empty() { own } else { self.base() };
        let has_scheme = base.starts_with("https://") || base.starts_with("http://");
        let url = format!("{base}{path}");
        match url.parse::<ureq::http::Uri>() {
            Ok(parsed) if has_scheme && parsed.host().is_some_and(|host| !host.is_empty()) => Ok(url),
            _ => Err(EndpointError::Url(base.to_owned())),
        }
    }

    fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        if self.dialect == Dialect::Anthropic {
            add("anthropic-version", ANTHROPIC_VERSION.to_owned());
        }
        if let Some(key) = &self.key {
            match self.dialect {
                Dialect::Anthropic => add("x-api-key", key.reveal().to_owned()),
                Dialect::Gemini => add("x-goog-api-key", key.reveal().to_owned()),
                _ => add("authorization", format!("Bearer {}", key.reveal())),
            }
        }
        // A header from the caller replaces our header of the same name.
        headers.retain(|(name, _)| !self.headers.0.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
        headers.extend(self.headers.0.iter().cloned());
        headers
    }
}

/// Reason why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Invalid base URL.
    #[error("invalid address `{0}` of an API: it must begin with https:// or http:// and name a host")]
    Url(String),
    /// Format in which no provider can be called.
    #[error("unsupported dialect `{}`: no model is called in it; use a provider's", .0.name())]
    Dialect(Dialect),
    /// Invalid address of a proxy.
    #[error("invalid proxy `{0}`: expected http://host:port")]
    Proxy(String),
    /// Header whose name or value cannot be sent.
    #[error("invalid header `{0}`: its name or value contains characters that are not allowed")]
    Header(String),
}

/// Limits on the time and size of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// Maximum time to resolve the provider's address and connect to it, including TLS.
    pub connect: Millis,
    /// Maximum time from the connection to the first byte of the answer.
    pub first_byte: Millis,
    /// Maximum time between two pieces of the answer.
    pub idle: Millis,
    /// Maximum time for the whole call, including retries but excluding the time for writing the answer.
    pub total: Millis,
    /// Time added to `total` for each token that the answer may have. The default is [`TOKEN_TIME`].
    pub per_token: Millis,
    /// Maximum size of the answer in bytes.
    pub response: Bytes,
    /// Maximum number of retries in cases where a retry may help: after too many calls, a failure of the provider, or
    /// a failed connection. Values above 2 count as 2.
    pub retries: u32,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            connect: Millis(10_000),
            first_byte: Millis(90_000),
            idle: Millis(60_000),
            total: Millis(120_000),
            per_token: TOKEN_TIME,
            response: Bytes(16 << 20),
            retries: 2,
        }
    }
}

/// Upper bound of [`ModelLimits::retries`].
const RETRIES_MAX: u32 = 2;

/// Client of one endpoint. Calls block, so use a separate thread for them.
#[derive(Clone)]
pub struct Client {
    dialect: Dialect,
    key: Option<ApiKey>,
    ask: SendOptions,
    limits: ModelLimits,
    redactor: Arc<Redactor>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.ask.url)
            .field("key", &self.key)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client without making any call. `redactor` removes secrets from the provider's error messages.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn new(
        endpoint: &Endpoint,
        limits: ModelLimits,
        redactor: Arc<Redactor>,
    ) -> Result<Self, EndpointError> {
        Self::of_url(endpoint.url()?, endpoint, limits, redactor)
    }

    /// Creates a client for a path that no dialect has, called with the headers of the endpoint's dialect. `own` is the
    /// provider's own base URL.
    pub(in crate::rules) fn of_path(
        endpoint: &Endpoint,
        [own, path]: [&str; 2],
        limits: ModelLimits,
        redactor: Arc<Redactor>,
    ) -> Result<Self, EndpointError> {
        Self::of_url(endpoint.url_of(own, path)?, endpoint, limits, redactor)
    }

    fn of_url(
        url: String,
        endpoint: &Endpoint,
        limits: ModelLimits,
        redactor: Arc<Redactor>,
    ) -> Result<Self, EndpointError> {
        let ask = SendOptions::new(url, endpoint.headers(), endpoint.proxy.as_deref())?;
        Ok(Self { dialect: endpoint.dialect, key: endpoint.key.clone(), ask, limits, redactor })
    }

    /// Returns the format of requests and replies.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the client for a model. For Gemini, the URL contains the model and the streaming mode.
    fn addressed(&self, model: &str) -> Result<Self, CallFailure> {
        let mut client = self.clone();
        if self.dialect == Dialect::Gemini {
            let model = model.strip_prefix("models/").unwrap_or(model);
            if !is_path(model) {
                return Err(CallFailure::Refused(format!("`{model}` is not a model's name")));
            }
            client.ask.url = format!("{}{model}:streamGenerateContent?alt=sse", client.ask.url);
        }
        Ok(client)
    }

    /// Sends a body to a model and reads the reply, which has at most `most` tokens. Returns the reply and the number
    /// of calls it took. `progress` receives the number of bytes of the current reply, even while no bytes arrive,
    /// and returns whether to continue.
    ///
    /// # Errors
    /// See [`CallFailure`]. A reply with a fault is a failure, and so is one in which the model declined.
    pub fn ask(
        &self,
        model: &str,
        body: &[u8],
        most: Tokens,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(ModelReply, u32), CallFailure> {
        let end =
            Instant::now() + millis(self.limits.total) + millis(writing_time(self.limits.per_token, most));
        let max = usize::try_from(self.limits.response.0).unwrap_or(usize::MAX);
        let reading = || ReplyReader::new(self.dialect, max);
        self.addressed(model)?.ask_until(end, body, reading, progress)
    }

    /// Sends a body, and returns the whole body of the answer. See [`Client::ask`].
    pub(in crate::rules) fn ask_whole(
        &self,
        body: &[u8],
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<u8>, CallFailure> {
        let end = Instant::now() + millis(self.limits.total);
        let reading = || WholeBody { body: Vec::new(), max: self.limits.response };
        Ok(self.ask_until(end, body, reading, progress)?.0)
    }

    /// Sends a body until there is an answer, no retry may help, or the time is over. Returns the number of calls, too.
    fn ask_until<A: Arriving>(
        &self,
        end: Instant,
        body: &[u8],
        reading: impl Fn() -> A,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(A::Answer, u32), CallFailure> {
        let words = ErrorText { key: self.key.as_ref(), redactor: &self.redactor };
        let body: Arc<[u8]> = body.into();
        let mut calls = 0;
        loop {
            calls += 1;
            let call = ModelCall { limits: &self.limits, end, words: &words };
            let failure = match call.make(&self.ask, Arc::clone(&body), reading(), progress) {
                Ok(reply) => return Ok((reply, calls)),
                Err(failure) => failure,
            };
            let wait = match &failure {
                CallFailure::Limited(Some(seconds)) => Duration::from_secs(*seconds),
                CallFailure::Limited(None) | CallFailure::Server(_) | CallFailure::Unreachable(_) => {
                    BACKOFF * 2_u32.pow(calls - 1)
                }
                _ => return Err(failure),
            };
            let has_time = Instant::now().checked_add(wait).is_some_and(|then| then < end);
            if calls > self.limits.retries.min(RETRIES_MAX) || !has_time {
                return Err(failure);
            }
            pause(wait, progress)?;
        }
    }
}

/// Returns whether a model's name can be part of a URL without being escaped.
fn is_path(model: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:@/".contains(c);
    !model.is_empty() && model.chars().all(plain) && !model.contains("..")
}

/// Waits, and lets the caller stop the wait through `progress`.
fn pause(wait: Duration, progress: &mut dyn FnMut(usize) -> bool) -> Result<(), CallFailure> {
    let end = Instant::now() + wait;
    loop {
        if !progress(0) {
            return Err(CallFailure::Stopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(TICK));
    }
}

/// Converts a time to a [`Duration`]; negative times become zero.
pub(super) fn millis(time: Millis) -> Duration {
    Duration::from_millis(u64::try_from(time.0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_put_together_and_wrong_ones_refused() {
        let url = |dialect, base: &str| {
            let endpoint = Endpoint { base_url: base.to_owned(), ..Endpoint::new(dialect, None) };
            endpoint.url().map_err(|error| error.to_string())
        };
        let table = [
            (Dialect::Anthropic, "", "https://api.anthropic.com/v1/messages"),
            (Dialect::Anthropic, "http://127.0.0.1:80/", "http://127.0.0.1:80/v1/messages"),
            (Dialect::Anthropic, "https://gate.example/x/v1/", "https://gate.example/x/v1/messages"),
            (Dialect::OpenaiChat, "", "https://api.openai.com/v1/chat/completions"),
            (Dialect::OpenaiResponses, "", "https://api.openai.com/v1/responses"),
            (Dialect::OpenaiResponses, "http://localhost:80/v1", "http://localhost:80/v1/responses"),
            (Dialect::Gemini, "http://localhost:80/v1beta/", "http://localhost:80/v1beta/models/"),
            (
                Dialect::OpenaiChat,
                " http://localhost:11434/v1 ",
                "http://localhost:11434/v1/chat/completions",
            ),
        ];
        for (dialect, base, expected) in table {
            assert_eq!(url(dialect, base).unwrap(), expected);
        }
        let asked = |model: &str| {
            let endpoint = Endpoint::new(Dialect::Gemini, Some(ApiKey::new("k")));
            assert!(endpoint.headers().contains(&("x-goog-api-key".to_owned(), "k".to_owned())));
            let client =
                Client::new(&endpoint, ModelLimits::default(), Arc::new(Redactor::embedded())).unwrap();
            client.addressed(model).map(|client| client.ask.url).map_err(|failure| failure.to_string())
        };
        let expected =
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse";
        assert_eq!(asked("gemini-x").unwrap(), expected);
        assert_eq!(asked("models/gemini-x").unwrap(), expected);
        for wrong in ["", "a?b", "a b", "../x"] {
            assert!(asked(wrong).unwrap_err().contains("not a model's name"), "{wrong}");
        }
        for wrong in ["api.example.com", "ftp://x.example", "https://", "https://a b"] {
            assert!(url(Dialect::OpenaiChat, wrong).unwrap_err().contains("invalid address"), "{wrong}");
        }
        assert!(url(Dialect::Neutral, "").unwrap_err().contains("neutral"));
    }

    #[test]
    fn nothing_secret_is_printed() {
        let endpoint = Endpoint {
            headers: Headers(vec![("x-gate".into(), "hush".into())]),
            ..Endpoint::new(Dialect::Anthropic, Some(ApiKey::new("sk-secret")))
        };
        let client = Client::new(&endpoint, ModelLimits::default(), Arc::new(Redactor::embedded())).unwrap();
        for shown in [format!("{endpoint:?}"), format!("{client:?}")] {
            assert!(!shown.contains("sk-secret") && !shown.contains("hush"), "{shown}");
        }
    }
}
