//! Tokens and bytes of texts.
//!
//! [`Vocabulary`] counts exactly, [`Class`] classifies a text, [`estimate()`] converts a count for models without a
//! public vocabulary, [`Counter`] combines them for one model, and [`escaped_len`] returns bytes. This module does
//! not know messages: the renderer decides which parts of a request are counted.

mod class;
mod counter;
mod escaped;
mod estimate;

pub use class::Class;
pub use counter::{Counted, Counter, TokenModel};
pub use escaped::escaped_len;
pub use estimate::{Family, certainty, estimate, framing};
pub use wunderblock_tokens::{STRETCH, Vocabulary};
