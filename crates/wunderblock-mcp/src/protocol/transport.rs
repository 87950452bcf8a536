//! Messages as lines: one thread reads them, and one writes them.
//!
//! The transport bounds what a client can ask for: the length of a line, the number of requests in progress, and the
//! number of answers that wait to be written. It answers what is not a request, so that no input ends the server.

use super::message::{Refusal, decode, refusal};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Maximum length of a line in bytes.
const LINE: usize = 16 << 20;
/// Maximum number of lines that wait to be handled.
const LINES: usize = 16;
/// Maximum number of requests in progress.
const REQUESTS: usize = 64;
/// Maximum number of answers that wait to be written.
const ANSWERS: usize = 64;
/// Maximum time that requests in progress have after the end of the input: a client may write them all, and close.
const GRACE: Duration = Duration::from_secs(2);
/// Time in which the last answers reach the thread that writes them.
const ANSWERED: Duration = Duration::from_millis(100);
/// Maximum time to wait at the end for a client that does not read its answers.
const UNREAD: Duration = Duration::from_secs(1);
/// Code of an error that JSON-RPC leaves to servers: too many requests.
const TOO_MANY: ErrorCode = ErrorCode(-32000);

/// A line of input.
enum IncomingLine {
    Whole(Vec<u8>),
    TooLong,
}

/// Transport over two streams of lines.
pub(super) struct LineTransport {
    lines: mpsc::Receiver<IncomingLine>,
    /// `None` once the transport is closed.
    answers: Option<mpsc::Sender<Vec<u8>>>,
    /// Ready when the last answer has been written.
    written: Option<oneshot::Receiver<()>>,
    slots: Arc<Semaphore>,
    has_begun: bool,
    stop: CancellationToken,
}

impl LineTransport {
    /// Starts the threads. `stop` is cancelled when the input has ended or the output cannot be written.
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        let (read, lines) = mpsc::channel(LINES);
        let (answers, to_write) = mpsc::channel(ANSWERS);
        let (done, written) = oneshot::channel();
        let gone = stop.clone();
        std::thread::Builder::new().name("mcp input".to_owned()).spawn(move || read_lines(input, &read))?;
        std::thread::Builder::new().name("mcp output".to_owned()).spawn(move || {
            if write_lines(output, to_write).is_err() {
                gone.cancel();
            }
            let _ = done.send(());
        })?;
        let slots = Arc::new(Semaphore::new(REQUESTS));
        let (answers, written) = (Some(answers), Some(written));
        Ok(Self { lines, answers, written, slots, has_begun: false, stop })
    }

    /// Returns the message of a line, or the error that answers a line without a message for the server. Neither is
    /// returned for a line that needs no answer.
    fn admit(&mut self, line: IncomingLine) -> Result<ClientJsonRpcMessage, Option<Refusal>> {
        let line = match line {
            IncomingLine::Whole(line) => line,
            IncomingLine::TooLong => {
                let why = format!("a message may have at most {LINE} bytes");
                return Err(refusal(None, ErrorData::invalid_request(why, None)));
            }
        };
        if line.trim_ascii().is_empty() {
            return Err(None);
        }
        let mut message = decode(&line)?;
        match &mut message {
            JsonRpcMessage::Request(asked) => {
                let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
                    let why =
                        format!("{REQUESTS} requests are in progress; wait for an answer, then try again");
                    let error = ErrorData::new(TOO_MANY, why, None);
                    return Err(refusal(Some(asked.id.clone()), error));
                };
                self.has_begun = true;
                // The slot is free again when the request and its context are dropped.
                asked.request.extensions_mut().insert(Arc::new(slot));
            }
            // A client that has asked for nothing yet has nothing to say.
            _ if !self.has_begun => return Err(None),
            _ => {}
        }
        Ok(message)
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answers = self.answers.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::NotConnected);
            let line = encoded(&message)?;
            answers.ok_or_else(closed)?.send(line).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Nothing is read while the client does not take its answers.
            let room = self.answers.as_ref()?.clone().reserve_owned().await.ok()?;
            let Some(line) = self.lines.recv().await else {
                let (stop, slots) = (self.stop.clone(), Arc::clone(&self.slots));
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(GRACE, slots.acquire_many(REQUESTS as u32)).await;
                    tokio::time::sleep(ANSWERED).await;
                    stop.cancel();
                });
                return None;
            };
            match self.admit(line) {
                Ok(message) => return Some(message),
                Err(None) => {}
                Err(Some(refusal)) => {
                    let (id, error) = *refusal;
                    drop(room.send(encoded(&ServerJsonRpcMessage::error(error, id)).ok()?));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.answers = None;
        if let Some(written) = self.written.take() {
            let _ = tokio::time::timeout(UNREAD, written).await;
        }
        Ok(())
    }
}

fn encoded(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn read_lines(input: impl Read, lines: &mpsc::Sender<IncomingLine>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let line = if line.len() > LINE && !line.ends_with(b"\n") {
            if input.skip_until(b'\n').is_err() {
                return;
            }
            IncomingLine::TooLong
        } else {
            IncomingLine::Whole(line)
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn write_lines(mut output: impl Write, mut lines: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(line) = lines.blocking_recv() {
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}
