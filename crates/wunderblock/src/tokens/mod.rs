//! Tokens and bytes of texts.
//!
//! [`Vocabulary`] counts exactly, [`Class`] says what kind of text a text is, [`estimate()`] carries a count over to
//! models without a public vocabulary, [`Counter`] does what one model needs, and [`escaped_len`] gives the bytes.
//! Nothing here knows messages: what parts of a request are counted is decided by who renders it.

mod class;
mod counter;
mod escaped;
mod estimate;

pub use class::Class;
pub use counter::{Counted, Counter, TokenModel};
pub use escaped::escaped_len;
pub use estimate::{Family, certainty, estimate, framing};
pub use wunderblock_tokens::{STRETCH, Vocabulary};
