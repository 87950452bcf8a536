//! A copy of a text in which some stretches are replaced.

use crate::part::PartOfText;
use std::ops::Range;

use super::token_estimate;

/// A copy of a text, written from start to end.
pub(in crate::encode) struct Rewrite<'t> {
    text: &'t str,
    out: String,
    /// Position in the text up to which `out` is complete.
    kept: usize,
    any: bool,
}

impl<'t> Rewrite<'t> {
    pub(in crate::encode) fn of(text: &'t str) -> Self {
        Self { text, out: String::new(), kept: 0, any: false }
    }

    /// Replaces a stretch, which must follow all stretches replaced so far.
    pub(in crate::encode) fn replace(&mut self, span: Range<usize>, write: impl FnOnce(&mut String)) {
        self.copy_until(span.start);
        write(&mut self.out);
        (self.kept, self.any) = (span.end, true);
    }

    /// Replaces a stretch if `write` succeeds and its output saves enough tokens.
    pub(in crate::encode) fn replace_if_worthwhile(
        &mut self,
        span: Range<usize>,
        write: impl FnOnce(&mut String) -> Option<()>,
    ) {
        self.copy_until(span.start);
        let before = self.out.len();
        let written = write(&mut self.out).is_some();
        let tokens = |text: Option<&str>| token_estimate::estimate_tokens(text.unwrap_or(""));
        if written
            && token_estimate::is_worthwhile(
                tokens(self.text.get(span.clone())),
                tokens(self.out.get(before..)),
            )
        {
            (self.kept, self.any) = (span.end, true);
        } else {
            self.out.truncate(before);
        }
    }

    /// Copies the text unchanged, up to a position.
    fn copy_until(&mut self, until: usize) {
        self.out.push_str(self.text.part(self.kept..until));
        self.kept = until;
    }

    /// Returns the copy, or `None` if nothing was replaced.
    pub(in crate::encode) fn finish(mut self) -> Option<String> {
        if !self.any {
            return None;
        }
        self.copy_until(self.text.len());
        // The copy may be kept in memory while another target is tried.
        self.out.shrink_to_fit();
        Some(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_pay_or_cannot_be_said_stays_as_it_was() {
        let text = "one long line of many words, and more of them | two | three | four";
        let mut instead = Rewrite::of(text);
        instead.replace_if_worthwhile(0..46, |out| {
            out.push_str("1 ");
            Some(())
        });
        instead.replace_if_worthwhile(48..51, |out| {
            out.push_str("a much longer way to say the same thing");
            Some(())
        });
        instead.replace_if_worthwhile(54..59, |out| {
            out.push('3');
            None
        });
        instead.replace(62..66, |out| out.push_str("vier"));
        assert_eq!(instead.finish().as_deref(), Some("1 | two | three | vier"));
        assert_eq!(Rewrite::of(text).finish(), None);
    }
}
