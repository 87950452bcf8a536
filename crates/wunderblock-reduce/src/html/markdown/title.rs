//! The title of a page.

use super::{Sort, Writer};
use crate::html::token::Token;

/// The title of a page stands at its head, wherever the page is read from.
#[derive(Default)]
pub(super) struct Title {
    open: bool,
    seen: bool,
}

impl Title {
    pub(super) fn takes(&mut self, token: &Token<'_>, writer: &mut Writer<'_>, at: usize) -> bool {
        match token {
            Token::Open { name, .. } if !self.seen && name.eq_ignore_ascii_case("title") => {
                (self.open, self.seen) = (true, true);
            }
            Token::Text(said) if self.open => writer.text(said, at),
            Token::Close(name) if self.open && name.eq_ignore_ascii_case("title") => {
                self.open = false;
                writer.flush(Sort::Title);
            }
            // A title that is not closed ends with the first thing that cannot be in it.
            _ if self.open => {
                self.open = false;
                writer.flush(Sort::Title);
                return false;
            }
            _ => return false,
        }
        true
    }
}
