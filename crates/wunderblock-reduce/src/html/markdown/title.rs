//! Finds the title of a page.

use super::markdown_writer::MarkdownWriter;
use super::page_block::HtmlBlockKind;
use crate::html::tokens::HtmlToken;

/// State of the search for the title, which may be before the main part of the page.
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
            // A title without an end tag ends at the first token that cannot be part of it.
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
