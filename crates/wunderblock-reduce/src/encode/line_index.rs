//! The places of lines in a growing text.

/// The starts of the lines of a growing text.
#[derive(Debug, Default)]
pub(in crate::encode) struct LineIndex {
    ends: Vec<usize>,
    scanned: usize,
}

impl LineIndex {
    /// The bytes of the lines `first..=last`, from 1, without the last newline.
    pub(in crate::encode) fn lines(
        &mut self,
        text: &str,
        first: usize,
        last: usize,
    ) -> Option<std::ops::Range<usize>> {
        let new = text.as_bytes().get(self.scanned..)?;
        self.ends.extend(memchr::memchr_iter(b'\n', new).map(|at| self.scanned + at));
        self.scanned = text.len();
        let start = if first == 1 { 0 } else { self.ends.get(first.checked_sub(2)?)? + 1 };
        Some(start..*self.ends.get(last.checked_sub(1)?)?)
    }
}
