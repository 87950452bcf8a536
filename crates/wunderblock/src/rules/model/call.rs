//! One call to a model.
//!
//! A separate thread reads the connection and does nothing else, so the caller can stop waiting at any time, even
//! while no bytes arrive. An abandoned thread ends when it receives the next byte, or at its time limit at the
//! latest.

use super::client::{EndpointError, ModelLimits, millis};
use super::status::ErrorText;
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use ureq::http::{HeaderName, HeaderValue, Response};
use ureq::{Agent, Body};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Bytes;
use wunderblock_summary::CallFailure;
use wunderblock_wire::{ModelReply, ReplyReader};

/// Maximum number of bytes read from a response with an error status.
const REFUSAL_BYTES: u64 = 64 << 10;
/// Number of bytes per read of the response.
const PIECE_BYTES: usize = 16 << 10;
/// Maximum number of pieces that wait to be processed. When the queue is full, the connection's thread waits.
const PIECES: usize = 64;
/// Maximum interval between two calls to `progress`.
const TICK: Duration = Duration::from_millis(50);

/// Address, headers and proxy of a request.
#[derive(Clone)]
pub(super) struct SendOptions {
    pub(super) url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    proxy: Option<ureq::Proxy>,
}

impl SendOptions {
    pub(super) fn new(
        url: String,
        headers: Vec<(String, String)>,
        proxy: Option<&str>,
    ) -> Result<Self, EndpointError> {
        let header = |(name, value): (String, String)| {
            let parsed = (HeaderName::try_from(&name), HeaderValue::try_from(&value));
            let (Ok(parsed_name), Ok(mut parsed_value)) = parsed else {
                return Err(EndpointError::Header(name));
            };
            parsed_value.set_sensitive(true);
            Ok((parsed_name, parsed_value))
        };
        let headers = headers.into_iter().map(header).collect::<Result<_, _>>()?;
        let proxy =
            proxy.map(|proxy| ureq::Proxy::new(proxy).map_err(|_| EndpointError::Proxy(proxy.to_owned())));
        Ok(Self { url, headers, proxy: proxy.transpose()? })
    }

    /// Makes an agent for one call. Calls do not share an agent, because the time left differs from call to call.
    fn agent(&self, limits: &ModelLimits, left: Duration) -> Agent {
        let (connect, first, idle) = (millis(limits.connect), millis(limits.first_byte), millis(limits.idle));
        let config = Agent::config_builder()
            // By default, the client would read the proxy from the environment.
            .proxy(self.proxy.clone())
            // Redirects are not followed, so that the key reaches only the address it is meant for.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_recv_response(Some(first))
            // The agent has one limit for all reads. `follow` enforces the limit of each phase.
            .timeout_per_read(Some(first.max(idle)))
            .timeout_global(Some(left))
            .build();
        config.new_agent()
    }

    fn send(&self, agent: &Agent, body: &[u8]) -> Result<Response<Body>, ureq::Error> {
        let mut request = agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.send(body)
    }
}

/// A message from the connection's thread.
enum News {
    /// The response begins.
    Head { status: u16, retry_after: Option<u64>, kind: String },
    /// A piece of the response body.
    Piece(Vec<u8>),
    /// The response is complete.
    End,
    /// The call failed, and no more messages follow.
    Failed(CallFailure),
}

/// An answer that arrives in pieces.
pub(super) trait Arriving {
    /// The whole answer.
    type Answer;

    fn push(&mut self, piece: &[u8]);

    /// Returns the number of bytes that have arrived.
    fn bytes(&self) -> usize;

    /// Returns whether no further piece is wanted.
    fn is_done(&self) -> bool;

    /// Returns the answer. `kind` is its content type.
    fn end(self, kind: &str, words: &ErrorText<'_>) -> Result<Self::Answer, CallFailure>;
}

impl Arriving for ReplyReader {
    type Answer = ModelReply;

    fn push(&mut self, piece: &[u8]) {
        self.push(piece);
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn end(self, kind: &str, words: &ErrorText<'_>) -> Result<ModelReply, CallFailure> {
        words.reply(self.finish(), kind)
    }
}

/// An answer that is read as a whole, up to a maximum.
pub(super) struct WholeBody {
    pub(super) body: Vec<u8>,
    pub(super) max: Bytes,
}

impl Arriving for WholeBody {
    type Answer = Vec<u8>;

    fn push(&mut self, piece: &[u8]) {
        self.body.extend_from_slice(piece);
    }

    fn bytes(&self) -> usize {
        self.body.len()
    }

    fn is_done(&self) -> bool {
        Bytes(self.body.len() as u64) > self.max
    }

    fn end(self, _: &str, _: &ErrorText<'_>) -> Result<Vec<u8>, CallFailure> {
        let is_long = self.is_done();
        if is_long {
            return Err(CallFailure::Broken(format!("it has more than {} bytes", grouped(self.max.0))));
        }
        Ok(self.body)
    }
}

/// A call and its limits.
pub(super) struct ModelCall<'a> {
    pub(super) limits: &'a ModelLimits,
    pub(super) end: Instant,
    pub(super) words: &'a ErrorText<'a>,
}

impl ModelCall<'_> {
    /// Sends the request, and reads until the answer is complete.
    pub(super) fn make<A: Arriving>(
        &self,
        ask: &SendOptions,
        body: Arc<[u8]>,
        reading: A,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<A::Answer, CallFailure> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CallFailure::TimedOut);
        }
        let agent = ask.agent(self.limits, left);
        let ask = ask.clone();
        let (sender, news) = mpsc::sync_channel(PIECES);
        std::thread::spawn(move || connection(&ask, &agent, &body, &sender));
        self.follow(&news, reading, progress)
    }

    fn follow<A: Arriving>(
        &self,
        news: &Receiver<News>,
        mut reading: A,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<A::Answer, CallFailure> {
        let mut head: Option<(u16, Option<u64>, String)> = None;
        let mut refusal = Vec::new();
        // The agent enforces separate limits for resolving and connecting, so the total is twice `connect`.
        let mut patience = millis(self.limits.connect) * 2 + millis(self.limits.first_byte);
        let mut since = Instant::now();
        loop {
            if !progress(reading.bytes()) {
                return Err(CallFailure::Stopped);
            }
            let now = Instant::now();
            let until = (since + patience).min(self.end);
            if now >= until {
                return Err(CallFailure::TimedOut);
            }
            match news.recv_timeout((until - now).min(TICK)) {
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(broken_off()),
                Ok(News::Failed(CallFailure::Unreachable(why))) => {
                    return Err(CallFailure::Unreachable(self.words.of(&why)));
                }
                Ok(News::Failed(failure)) => return Err(failure),
                Ok(News::Head { status, retry_after, kind }) => {
                    head = Some((status, retry_after, kind));
                    // Providers send headers immediately, but they send the first event only when the model begins to
                    // write.
                    patience = millis(self.limits.first_byte);
                }
                Ok(News::Piece(piece)) => {
                    patience = millis(self.limits.idle);
                    match &head {
                        Some((200..=299, ..)) => reading.push(&piece),
                        _ => refusal.extend(piece),
                    }
                    if reading.is_done() {
                        break;
                    }
                }
                Ok(News::End) => break,
            }
            since = Instant::now();
        }
        match head {
            Some((200..=299, _, kind)) => reading.end(&kind, self.words),
            Some((status, retry_after, _)) => Err(self.words.status(status, retry_after, &refusal)),
            None => Err(broken_off()),
        }
    }
}

fn broken_off() -> CallFailure {
    CallFailure::Broken("the connection ended".to_owned())
}

/// Sends a request and passes on the response. Ends as soon as the receiver is gone.
fn connection(ask: &SendOptions, agent: &Agent, body: &[u8], news: &SyncSender<News>) {
    let mut response = match ask.send(agent, body) {
        Ok(response) => response,
        Err(error) => return drop(news.send(News::Failed(failure(&error)))),
    };
    let status = response.status().as_u16();
    let word =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = word("content-type").chars().take(60).collect();
    // OpenAI also states the delay in milliseconds. The second form of `retry-after`, a date, is not read, because no
    // provider is known to send it.
    let number = |name: &str| word(name).trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    let retry_after = number("retry-after-ms").map(|millis| millis / 1e3).or_else(|| number("retry-after"));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let retry_after = retry_after.map(|seconds| seconds.ceil() as u64);
    if news.send(News::Head { status, retry_after, kind }).is_err() {
        return;
    }
    let most = if (200..=299).contains(&status) { u64::MAX } else { REFUSAL_BYTES };
    let mut reader = response.body_mut().as_reader().take(most);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let told = match reader.read(&mut piece) {
            Ok(0) => return drop(news.send(News::End)),
            Ok(read) => news.send(News::Piece(piece.get(..read).unwrap_or_default().to_vec())),
            // The bytes that have arrived may still be a complete reply. If not, the reply reader reports the fault.
            Err(error) => match failure(&ureq::Error::from(error)) {
                CallFailure::TimedOut => return drop(news.send(News::Failed(CallFailure::TimedOut))),
                _ => return drop(news.send(News::End)),
            },
        };
        if told.is_err() {
            return;
        }
    }
}

/// Maps an error of the HTTP client to a failure.
fn failure(error: &ureq::Error) -> CallFailure {
    use ureq::{Error, Timeout};
    match error {
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            CallFailure::Unreachable("connecting took too long".to_owned())
        }
        Error::Timeout(_) => CallFailure::TimedOut,
        Error::Protocol(_) | Error::LargeResponseHeader(..) => {
            CallFailure::Broken(format!("it does not speak HTTP: {error}"))
        }
        _ => CallFailure::Unreachable(error.to_string()),
    }
}
