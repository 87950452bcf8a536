//! Server-sent events, read piece by piece as in the WHATWG HTML standard (section "Server-sent events").
//!
//! Lines end with LF, CR or CR LF, even if a piece ends between CR and LF. A byte order mark at the very beginning,
//! comments and unknown fields are ignored. One rule is more lenient than the standard: an event still counts if the
//! stream ends after it without a blank line. Reconnection fields (`id`, `retry`) are ignored, because replies do not
//! need them.

use memchr::memchr2;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Value of the `event` field, or empty if the field is missing.
    pub name: String,
    /// Values of the `data` fields, joined by line feeds.
    pub data: String,
}

/// Reader of a stream of events.
#[derive(Clone, Debug)]
pub struct Events {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// Whether the last byte was CR. An LF that follows belongs to the same line end.
    after_return: bool,
    at_start: bool,
    max: usize,
    is_over: bool,
}

impl Events {
    /// Creates a reader. An event of more than `max` bytes ends the reading.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_return: false,
            at_start: true,
            max,
            is_over: false,
        }
    }

    /// Returns whether an event was too long. Nothing is read after it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads a piece and returns the events that are now complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !self.is_over {
            if std::mem::take(&mut self.after_return) {
                match rest {
                    [b'\n', more @ ..] => rest = more,
                    [] => self.after_return = true,
                    _ => {}
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else { break };
            let (line, after) = rest.split_at(end);
            self.after_return = after.first() == Some(&b'\r');
            rest = after.get(1..).unwrap_or_default();
            self.take(line);
            events.extend(self.end_line());
        }
        self.take(rest);
        events
    }

    /// Ends the stream. Returns the last event if only its blank line is missing.
    #[must_use]
    pub fn finish(mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            let _ = self.end_line();
        }
        (self.has_data && !self.is_over).then_some(self.event)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.is_over {
            return;
        }
        if self.line.len() + bytes.len() + self.event.data.len() > self.max {
            self.is_over = true;
            self.line = Vec::new();
            return;
        }
        self.line.extend_from_slice(bytes);
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        if self.is_over {
            return None;
        }
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::take(&mut self.at_start) {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line)
        } else {
            &line
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => line.split_at(colon),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut events = Events::new(1 << 20);
        let mut found: Vec<SseEvent> = pieces.iter().flat_map(|piece| events.push(piece)).collect();
        found.extend(events.finish());
        found.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn streams_are_read_as_the_standard_has_it() {
        let table: [(&str, &[(&str, &str)]); 14] = [
            ("data: a\n\n", &[("", "a")]),
            ("data:a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]),
            ("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            ("data: a\r\ndata: b\r\n\r\n", &[("", "a\nb")]),
            ("data: a\rdata: b\r\r", &[("", "a\nb")]),
            ("\u{feff}data: a\n\n", &[("", "a")]),
            ("data: a\ndata:  b\ndata\n\n", &[("", "a\n b\n")]),
            (": a comment\nevent: ping\ndata: {}\n\n", &[("ping", "{}")]),
            ("event: nothing\n\ndata: a\n\n", &[("", "a")]),
            ("id: 7\nretry: 10\nwhat: ever\ndata: a\n\n", &[("", "a")]),
            ("data: a", &[("", "a")]),
            ("data: a\n", &[("", "a")]),
            ("data\n\n", &[("", "")]),
            ("\n\n\r\n", &[]),
        ];
        for (stream, expected) in table {
            let found = read(&[stream.as_bytes()]);
            let found: Vec<(&str, &str)> = found.iter().map(|(name, data)| (&**name, &**data)).collect();
            assert_eq!(found, expected, "{stream:?}");
        }
    }

    #[test]
    fn an_event_without_end_ends_the_reading() {
        let mut events = Events::new(100);
        assert_eq!(events.push(b"data: small\n\n").len(), 1);
        for _ in 0..1_000 {
            assert_eq!(events.push(b"data: 0123456789\n"), []);
        }
        assert!(events.is_over() && events.line.capacity() < 1_000);
        assert_eq!(events.push(b"\n\ndata: late\n\n"), []);
        assert_eq!(events.finish(), None);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            stream in "(data|event|:|: |é|汉|\r|\n|\r\n|\n\n|\u{feff}|[a-z]){0,60}",
            cuts in proptest::collection::vec(0_usize..200, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
