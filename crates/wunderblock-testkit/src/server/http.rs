//! The part of HTTP/1.1 that one request and one response need.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Maximum size of a request body, in bytes; the rest is not read.
const MAX_BODY: u64 = 256 << 20;

/// A request as it was received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The path, with the query.
    pub path: String,
    /// Header names, in lower case, and their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// Value of a header, by its lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether the text occurs anywhere in the request: in the path, a header value or the body.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let in_body = !bytes.is_empty() && self.body.windows(bytes.len()).any(|window| window == bytes);
        in_body || self.path.contains(text) || self.headers.iter().any(|(_, value)| value.contains(text))
    }
}

/// The side of a connection that responds.
pub(super) struct HttpResponse {
    stream: TcpStream,
}

impl HttpResponse {
    /// Reads the request from a connection.
    pub(super) fn to(stream: TcpStream) -> io::Result<(ReceivedRequest, Self)> {
        // Pieces must be sent immediately, so that the client notices the delays between them.
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut request = ReceivedRequest { path, ..ReceivedRequest::default() };
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reader.take(MAX_BODY.min(length)).read_to_end(&mut request.body)?;
        Ok((request, Self { stream }))
    }

    /// Sends a whole response.
    pub(super) fn whole(
        &mut self,
        status: u16,
        kind: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> io::Result<()> {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n{more}connection: close\r\n\r\n",
            body.len()
        );
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(body.as_bytes())
    }

    /// Begins a response that is sent in pieces, with chunked transfer encoding.
    pub(super) fn begin(&mut self, kind: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        self.stream.write_all(head.as_bytes())
    }

    /// Sends a piece. An empty piece is skipped, because an empty chunk would end the response.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.stream.write_all(&chunk)
    }

    /// Ends a response that is sent in pieces.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }
}
