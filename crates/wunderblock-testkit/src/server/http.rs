//! As much of HTTP/1.1 as one request and one answer need.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The largest request that is taken.
const MAX_BODY: u64 = 256 << 20;

/// A request as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The path.
    pub path: String,
    /// Names, in lower case, and values of its headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Whether it says this anywhere.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let in_body = !bytes.is_empty() && self.body.windows(bytes.len()).any(|window| window == bytes);
        in_body || self.path.contains(text) || self.headers.iter().any(|(_, value)| value.contains(text))
    }
}

/// The answering half of a connection.
pub(super) struct HttpResponse {
    stream: TcpStream,
}

impl HttpResponse {
    /// Reads the request.
    pub(super) fn to(stream: TcpStream) -> io::Result<(ReceivedRequest, Self)> {
        // Pieces go out as they are written.
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

    /// Answers at once.
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

    /// Begins to answer in pieces.
    pub(super) fn begin(&mut self, kind: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        self.stream.write_all(head.as_bytes())
    }

    /// A piece.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.stream.write_all(&chunk)
    }

    /// No more pieces.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }
}
