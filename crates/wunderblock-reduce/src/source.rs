//! The text as a reader of it would see it: bytes that are no text and terminal controls set aside, and said to be.

use std::borrow::Cow;

use crate::mark::{Gap, Measure, Told};

/// A text to be reduced, and what was set aside to get it.
#[derive(Debug)]
pub(crate) struct Source<'b> {
    pub(crate) text: Cow<'b, str>,
    /// A gap for each thing that was set aside all over the text. They stand at its head.
    pub(crate) losses: Vec<Gap>,
}

/// The bytes as text. What is not UTF-8 is shown as U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> Source<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Source { text: Cow::Borrowed(text), losses: Vec::new() },
        Err(_) => {
            let bad: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
            let text = String::from_utf8_lossy(bytes);
            let loss = everywhere(bytes.len(), bad as u64, "not UTF-8, shown as \u{fffd}");
            Source { text, losses: vec![loss] }
        }
    }
}

impl Source<'_> {
    /// Without terminal controls: colours gone, and of a line that was written over and over (`\r`) its last state.
    /// The number of lines stays the same, so places in marks are those of the bytes.
    pub(crate) fn plain(mut self) -> Self {
        if memchr::memchr2(0x1b, b'\r', self.text.as_bytes()).is_none() {
            return self;
        }
        let (text, gone) = crate::read::terminal::plain(&self.text);
        if gone == 0 {
            return self;
        }
        self.losses.push(everywhere(self.text.len(), gone, "terminal controls and overwritten text"));
        self.text = Cow::Owned(text);
        self
    }

    /// The marks of what was set aside, a line each.
    pub(crate) fn heads(&self, handle: Option<&str>) -> String {
        self.losses.iter().map(|loss| loss.mark(handle) + "\n").collect()
    }
}

/// A gap that is not in one place: `count` bytes of the whole text.
fn everywhere(len: usize, count: u64, what: &str) -> Gap {
    let told = vec![Told { count: Some(count), what: what.into() }];
    Gap { span: 0..len, measure: Measure::Bytes, first: 1, last: len as u64, within: None, told }
}
