//! The title of a page.

use super::markdown_writer::MarkdownWriter;
use super::page_block::HtmlBlockKind;
use crate::html::tokens::HtmlToken;

/// The title of a page stands at its head, wherever the page is read from.
#[derive(Default)]
pub(super) struct TitleState {
    open: bool,
    seen: bool,
}

impl TitleState {
    pub(super) fn takes(
        &mut self,
        token: &HtmlToken<'_>,
        writer: &mut MarkdownWriter<'_>,
        at: usize,
    ) -> bool {
        match token {
            HtmlToken::Open { name, .. } if !self.seen && name.eq_ignore_ascii_case("title") => {
                (self.open, self.seen) = (true, true);
            }
            HtmlToken::Text(said) if self.open => writer.text(said, at),
            HtmlToken::Close(name) if self.open && name.eq_ignore_ascii_case("title") => {
                self.open = false;
                writer.flush(HtmlBlockKind::Title);
            }
            // A title that is not closed ends with the first thing that cannot be in it.
            _ if self.open => {
                self.open = false;
                writer.flush(HtmlBlockKind::Title);
                return false;
            }
            _ => return false,
        }
        true
    }
}
