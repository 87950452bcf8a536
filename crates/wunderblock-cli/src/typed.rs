//! Parses arguments that are more than a word: formats and ranges.

use crate::args::{DialectArg, FormatArg};
use crate::exit::{Failure, wrong};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Seq;
use wunderblock_wire::transcript::Format;

pub(crate) fn dialect(arg: DialectArg) -> Dialect {
    match arg {
        DialectArg::Neutral => Dialect::Neutral,
        DialectArg::Anthropic => Dialect::Anthropic,
        DialectArg::OpenaiChat => Dialect::OpenaiChat,
        DialectArg::OpenaiResponses => Dialect::OpenaiResponses,
        DialectArg::Gemini => Dialect::Gemini,
    }
}

pub(crate) fn format(arg: FormatArg) -> Option<Format> {
    Some(match arg {
        FormatArg::Auto => return None,
        FormatArg::ClaudeCode => Format::ClaudeCode,
        FormatArg::Codex => Format::Codex,
        FormatArg::Pi | FormatArg::Openclaw => Format::Pi,
        FormatArg::GeminiCli => Format::GeminiCli,
        FormatArg::Copilot => Format::Copilot,
        FormatArg::Droid => Format::Droid,
        FormatArg::Grok => Format::Grok,
        FormatArg::Kimi => Format::Kimi,
        FormatArg::Qwen => Format::Qwen,
        FormatArg::Antigravity => Format::Antigravity,
        FormatArg::Anthropic => Format::Anthropic,
        FormatArg::OpenaiResponses => Format::OpenaiResponses,
        FormatArg::Gemini => Format::Gemini,
        FormatArg::SweAgent => Format::SweAgent,
        FormatArg::TauBench => Format::TauBench,
        FormatArg::OpenaiChat => Format::OpenaiChat,
        FormatArg::Aider => Format::Aider,
        FormatArg::JsonLines => Format::JsonLines,
        FormatArg::Json => Format::JsonDocument,
        FormatArg::Wunderblock => Format::Wunderblock,
    })
}

/// Parses `12` or `12-80`.
pub(crate) fn range(text: &str) -> Result<(u64, u64), Failure> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(wrong(format!("invalid range `{text}`: expected 12 or 12-80"))),
    }
}

pub(crate) fn seqs(text: &str) -> Result<(Seq, Seq), Failure> {
    range(text).map(|(from, to)| (Seq(from), Seq(to)))
}
