//! The output of decoding: a text, or only a comparison with the text it must equal.

use crate::part::PartOfText;
use std::ops::Range;

/// A text that is written, or compared with an existing one so that no second copy is made.
#[derive(Debug)]
pub(crate) struct TextSink<'e> {
    /// The written text, if it is not compared.
    text: String,
    must: Option<&'e str>,
    len: usize,
    /// Number of bytes that may still be written. The limit is needed because a few bytes of a foreign text can
    /// encode any number of bytes.
    left: usize,
}

impl<'e> TextSink<'e> {
    /// Creates a sink for a text of at most `left` bytes.
    pub(crate) fn new(left: usize) -> Self {
        Self { text: String::new(), must: None, len: 0, left }
    }

    /// Creates a sink that compares the output with a text, and stores nothing.
    pub(crate) fn comparing(text: &'e str) -> Self {
        Self { must: Some(text), ..Self::new(text.len().saturating_mul(16)) }
    }

    /// Creates a sink for an inner text that is first written separately.
    pub(crate) fn inner(&self) -> Self {
        Self::new(self.left)
    }

    /// Subtracts the bytes that an inner text used.
    pub(crate) fn charge(&mut self, inner: &Self) {
        self.left = self.left.min(inner.left);
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn remaining(&self) -> usize {
        self.left
    }

    /// Returns everything that was written.
    pub(crate) fn written(&self) -> &str {
        self.must.map_or(&self.text, |must| must.part(..self.len))
    }

    /// Writes a text. Returns `None` if there is no room, or if the compared text differs.
    pub(crate) fn push(&mut self, part: &str) -> Option<()> {
        self.left = self.left.checked_sub(part.len())?;
        let end = self.len + part.len();
        match self.must {
            Some(must) if must.as_bytes().get(self.len..end) != Some(part.as_bytes()) => return None,
            Some(_) => {}
            None => self.text.push_str(part),
        }
        self.len = end;
        Some(())
    }

    /// Writes a range of the written text again.
    pub(crate) fn repeat(&mut self, span: Range<usize>) -> Option<()> {
        self.written().get(span.clone())?;
        self.left = self.left.checked_sub(span.len())?;
        let end = self.len + span.len();
        match self.must.map(str::as_bytes) {
            Some(must) if must.get(self.len..end) != must.get(span.clone()) => return None,
            Some(_) => {}
            None => self.text.extend_from_within(span),
        }
        self.len = end;
        Some(())
    }

    /// Returns the text, or `None` if the compared text is longer.
    pub(crate) fn finish(self) -> Option<String> {
        self.must.is_none_or(|must| must.len() == self.len).then_some(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_is_what_would_be_written() {
        let write = |mut out: TextSink<'_>| {
            out.push("a shelf\n")?;
            out.push(&" ".repeat(70))?;
            out.repeat(2..8)?;
            out.finish()
        };
        let text = write(TextSink::new(100)).unwrap();
        assert_eq!(text, format!("a shelf\n{}shelf\n", " ".repeat(70)));
        assert_eq!(write(TextSink::comparing(&text)), Some(String::new()));
        assert_eq!(write(TextSink::new(80)), None);
        let other = text.replace("f\n", "f ");
        for wrong in [&text[..20], &(text.clone() + "x"), "", &other] {
            assert_eq!(write(TextSink::comparing(wrong)), None, "{wrong}");
        }
        assert_eq!(TextSink::new(9).repeat(0..1), None);
    }
}
