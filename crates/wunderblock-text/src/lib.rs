//! Reads command lines and the encodings of texts. The crate does no I/O.
//!
//! [`shell`] splits a command line into words and operators, as a shell does. [`encoding`] decodes bytes as text. Both
//! are in a separate crate because a reduction needs them as much as the programs that start commands and the readers of
//! files, which need no reduction.

pub mod encoding;
pub mod shell;
