//! Parses arguments that are more than a word: dialects and ranges.

use crate::args::DialectArg;
use crate::output::exit::{Failure, wrong};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Seq;
use wunderblock_settings::lookup;

pub(crate) fn dialect(arg: DialectArg) -> Dialect {
    match arg {
        DialectArg::Neutral => Dialect::Neutral,
        DialectArg::Anthropic => Dialect::Anthropic,
        DialectArg::OpenaiChat => Dialect::OpenaiChat,
        DialectArg::OpenaiResponses => Dialect::OpenaiResponses,
        DialectArg::Gemini => Dialect::Gemini,
    }
}

/// Parses `12` or `12-80`.
pub(crate) fn range(text: &str) -> Result<(u64, u64), Failure> {
    lookup::range(text).ok_or_else(|| wrong(format!("invalid range `{text}`: expected 12 or 12-80")))
}

pub(crate) fn seqs(text: &str) -> Result<(Seq, Seq), Failure> {
    range(text).map(|(from, to)| (Seq(from), Seq(to)))
}
