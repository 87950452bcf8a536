//! Ids of a written transcript.

use std::fmt::Write;

/// Ids of one session's records in one format.
pub(in super::super) struct EntryIds<'a> {
    format: &'a str,
    session: &'a str,
}

impl<'a> EntryIds<'a> {
    pub(in super::super) fn new(format: &'a str, session: &'a str) -> Self {
        Self { format, session }
    }

    /// Returns the id of the session.
    pub(in super::super) fn session(&self) -> String {
        self.uuid("", "session")
    }

    /// Returns the id of a record. `what` distinguishes the records of one event.
    pub(in super::super) fn uuid(&self, event: &str, what: &str) -> String {
        let mut hex = self.digits(event, what, 32);
        // Version 8 and the variant of RFC 9562: the other bits are ours.
        hex.replace_range(12..13, "8");
        hex.replace_range(16..17, "8");
        for at in [20, 16, 12, 8] {
            hex.insert(at, '-');
        }
        hex
    }

    /// Returns a shorter id for a record, for formats whose ids are unique only within the session.
    pub(in super::super) fn short(&self, event: &str, what: &str) -> String {
        self.digits(event, what, 16)
    }

    fn digits(&self, event: &str, what: &str, count: usize) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in [self.format, self.session, event, what] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let mut digits = String::with_capacity(count);
        for byte in hasher.finalize().as_bytes().iter().take(count / 2) {
            let _written = write!(digits, "{byte:02x}");
        }
        digits
    }
}
