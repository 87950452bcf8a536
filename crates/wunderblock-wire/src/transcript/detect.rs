//! Detects the format of a file from its beginning.

use super::agents::{aider, claude_code, codex, cursor, event_log, gemini_cli, opencode, pi};
use super::format::{FileShape, Format};
use super::logs::requests::{dialect_of_line, dialect_of_list};
use super::logs::{chat_export, openai_chat, swe_agent, tau_bench};
use super::parsing::object::Object;
use serde_json::value::RawValue;

/// Error for a file that is neither JSON nor an aider history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported file: {found}; {missing}")]
pub struct Unrecognised {
    /// Apparent kind of the file.
    pub found: String,
    /// Requirement that the file does not meet.
    pub missing: String,
}

/// Maximum number of lines that are examined.
const MAX_LINES: usize = 200;

/// Number of votes at which a format is settled.
const ENOUGH: u32 = 12;

/// Detects the format of a file from its name and its first bytes. 64 KiB is enough, and less suffices for most
/// files.
///
/// # Errors
/// Returns an error if the file is binary, in an encoding other than UTF-8, empty, or text that is neither JSON nor
/// an aider history.
pub fn detect(name: &str, head: &[u8]) -> Result<Format, Unrecognised> {
    refuse_other_encodings(head)?;
    let bytes = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(unrecognised("an empty file", "a transcript must have at least one record"));
    }
    let text = String::from_utf8_lossy(bytes);
    if let Some(format) = document(name, &text) {
        return Ok(format);
    }
    if let Some(format) = lines(&text) {
        return Ok(format);
    }
    let stem = name.to_ascii_lowercase();
    let named = stem.contains("aider") && stem.ends_with(".md");
    if text.lines().any(|line| line.starts_with(aider::HEADING)) || named {
        return Ok(Format::Aider);
    }
    // A single line of incomplete JSON is taken for the beginning of a file of lines.
    let broken_json = text.lines().next().is_some_and(|line| line.trim_start().starts_with(['{', '[']));
    if !bytes.contains(&0) && broken_json && text.lines().nth(1).is_none() {
        return Ok(Format::JsonLines);
    }
    refuse(bytes, &text)
}

fn unrecognised(found: &str, missing: &str) -> Unrecognised {
    Unrecognised { found: found.to_owned(), missing: missing.to_owned() }
}

fn refuse_other_encodings(head: &[u8]) -> Result<(), Unrecognised> {
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let first_two = head.get(..2).unwrap_or_default();
    let unmarked = matches!(first_two, [b'{' | b'[' | b'#' | b'"', 0] | [0, b'{' | b'[' | b'#' | b'"']);
    if marked || unmarked {
        return Err(unrecognised("UTF-16 text", "a transcript must be UTF-8: convert the file first"));
    }
    Ok(())
}

fn refuse(bytes: &[u8], text: &str) -> Result<Format, Unrecognised> {
    let known: [(&[u8], &str); 8] = [
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"PK\x03\x04", "a zip archive"),
        (b"%PDF", "a PDF"),
        (b"\x89PNG", "a PNG image"),
        (b"\x7fELF", "a program"),
        (b"\xff\xd8\xff", "a JPEG image"),
    ];
    if let Some((_, found)) = known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        let missing = match found.ends_with("archive") {
            true => "archives are not read: unpack it, and import the files in it",
            false => "a transcript must be JSON, JSON lines or aider's Markdown",
        };
        return Err(unrecognised(found, missing));
    }
    let controls = bytes.iter().filter(|byte| **byte < 9).count();
    if controls > 0 || text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count() * 10 > text.len() {
        return Err(unrecognised("binary data", "a transcript must be JSON, JSON lines or aider's Markdown"));
    }
    let missing = format!("expected JSON or a line that begins with `{}`", aider::HEADING.trim_end());
    Err(unrecognised("text that is not JSON", &missing))
}

/// Returns the format of a file that is one JSON value, or the beginning of a value that spans several lines.
fn document(name: &str, text: &str) -> Option<Format> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(trimmed).into_iter::<&RawValue>();
    let whole = match values.next()? {
        Ok(value) if values.next().is_none() => Some(value),
        Ok(_) => return None,
        Err(error) if error.is_eof() => None,
        Err(_) => return None,
    };
    if !trimmed.contains('\n') || whole.is_some_and(|value| !value.get().contains('\n')) {
        // A single line is either a line-based file that has only one line, or a document without line breaks.
        if let Some((format, _)) = vote(trimmed).filter(|(format, _)| *format != Format::JsonLines) {
            return Some(format);
        }
        let lines = [".jsonl", ".ndjson"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        if lines || (whole.is_none() && trimmed.starts_with('{')) {
            return Some(Format::JsonLines);
        }
    }
    let first = trimmed.strip_prefix('[').map_or(trimmed, str::trim_start);
    Some(if let Some(format) = chat_export::conversation_format(first) {
        format
    } else if is_gemini_cli(trimmed) {
        Format::GeminiCli
    } else if opencode::is_line(&Object::parse_head(trimmed).0) {
        Format::OpenCode
    } else if let Some(format) = benchmark(trimmed).or_else(|| requests_in(trimmed)) {
        format
    } else if holds_chat(trimmed) {
        Format::OpenaiChat
    } else {
        Format::JsonDocument
    })
}

/// Returns the format of a benchmark's runs, if a text begins with one.
fn benchmark(text: &str) -> Option<Format> {
    let is_list = text.starts_with('[');
    let is_trajectory = || {
        swe_agent::is_step(&first_element(text, "\"trajectory\""))
            || swe_agent::is_message(&first_element(text, "\"history\""))
    };
    if !is_list && is_trajectory() {
        return Some(Format::SweAgent);
    }
    let run = if is_list { first_element(text, "") } else { Object::parse_head(text).0 };
    tau_bench::is_run(&run).then_some(Format::TauBench)
}

/// Returns the format of requests, if a text begins with one that only one provider accepts, or with a list of them.
fn requests_in(text: &str) -> Option<Format> {
    let list = text.starts_with('[');
    Format::of_requests(if list { dialect_of_list(text) } else { dialect_of_line(text) }?)
}

/// Returns whether a document is a session of Gemini CLI, or a chat that was saved there.
fn is_gemini_cli(text: &str) -> bool {
    let (head, _) = Object::parse_head(text);
    is_gemini_header(&head) || gemini_cli::is_saved(&first_element(text, "\"history\""))
}

/// Returns whether a document contains chat messages, under its key `messages` or as its elements.
fn holds_chat(text: &str) -> bool {
    is_plain_chat(&first_element(text, "\"messages\""))
}

/// Returns the first element of a document: of the array, or of the array under a key, which is given in quotes.
fn first_element<'t>(text: &'t str, key: &str) -> Object<'t> {
    let from = if text.starts_with('[') {
        text.get(1..)
    } else {
        let rest = text.find(key).and_then(|at| text.get(at + key.len()..));
        rest.and_then(|rest| rest.trim_start().strip_prefix(':'))
            .and_then(|rest| rest.trim_start().strip_prefix('['))
    };
    Object::parse_head(from.unwrap_or("").trim_start()).0
}

fn is_gemini_header(object: &Object<'_>) -> bool {
    object.has("sessionId") && object.has("projectHash") && !object.has("uuid")
}

/// Returns whether an object is a chat message without the fields of a richer format.
fn is_plain_chat(object: &Object<'_>) -> bool {
    openai_chat::is_message(object) && !object.has("type") && !object.has("parts")
}

/// Returns the format with the most votes from lines.
fn lines(text: &str) -> Option<Format> {
    let mut votes = [0_u32; Format::ALL.len()];
    let (mut looked_at, mut json) = (0_usize, 0_usize);
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(MAX_LINES) {
        let line = line.trim();
        looked_at += 1;
        if !begins_with_json(line) && !is_cut(text, line) {
            continue;
        }
        json += 1;
        if line.starts_with('[') {
            let other = if holds_chat(line) { Format::OpenaiChat } else { Format::JsonLines };
            add(&mut votes, requests_in(line).unwrap_or(other), 1);
            continue;
        }
        let (format, weight) = vote(line).unwrap_or((Format::JsonLines, 0));
        add(&mut votes, format, weight);
        if votes.iter().any(|votes| *votes >= ENOUGH) {
            break;
        }
    }
    // Other text may contain a line that happens to be JSON, so at least half of the lines must be JSON. For a known
    // format, a tenth of the lines suffices.
    let max = votes.iter().copied().max().unwrap_or(0);
    let winner = Format::ALL.iter().zip(votes).find(|(_, votes)| *votes == max && max > 0);
    let format = winner.map_or(Format::JsonLines, |(format, _)| *format);
    let min = if format == Format::JsonLines { looked_at.div_ceil(2) } else { looked_at.div_ceil(10) };
    (json >= min.max(1)).then_some(format)
}

/// Returns whether a line is JSON, or begins with an object: programs that lose a line end write two on one line.
fn begins_with_json(line: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(line).into_iter::<&RawValue>();
    matches!(values.next(), Some(Ok(_))) && (line.starts_with('{') || values.next().is_none())
}

/// Returns whether a line is the last one of the text and may be incomplete because the text ends there.
fn is_cut(text: &str, line: &str) -> bool {
    !text.ends_with('\n') && text.trim_end().ends_with(line) && line.starts_with('{')
}

fn add(votes: &mut [u32; Format::ALL.len()], format: Format, weight: u32) {
    let index = Format::ALL.iter().position(|other| *other == format);
    if let Some(votes) = index.and_then(|index| votes.get_mut(index)) {
        *votes += weight;
    }
}

/// Returns the format that a line votes for, and the number of its votes.
fn vote(line: &str) -> Option<(Format, u32)> {
    let (object, cut) = &Object::parse_head(line);
    let has = |key: &str| object.has(key) || cut.as_ref().is_some_and(|cut| cut == key);
    if ["tenant", "stream", "seq", "id", "at", "source"].into_iter().all(has) {
        return Some((Format::Wunderblock, 6));
    }
    let kind = object.text("type").unwrap_or_default();
    let message = object.object("message").unwrap_or_default();
    let chat = chat_export::format_of_line(object);
    let other = benchmark(line).or_else(|| requests_in(line));
    let signs = [
        (is_gemini_header(object) || (kind == "gemini" && has("id")), Format::GeminiCli, 6),
        (has("$set") || has("$rewindTo"), Format::GeminiCli, 2),
        (kind.contains('.') && has("data") && has("id") && has("parentId"), Format::Copilot, 4),
        (opencode::is_line(object), Format::OpenCode, 6),
        (cursor::is_line(object), Format::Cursor, 6),
        (chat.is_some(), chat.unwrap_or(Format::JsonLines), 6),
        // Qwen uses Claude Code's tree with Gemini's parts.
        ((message.has("parts") || has("systemPayload")) && has("uuid"), Format::Qwen, 3),
        (message.has("parts"), Format::JsonLines, 3),
        (codex::ENVELOPED_TYPES.contains(&kind.as_ref()) && has("payload"), Format::Codex, 4),
        (kind == "session_start" && has("id"), Format::Droid, ENOUGH),
        (event_log::is_droid_stream(&kind, &has), Format::Droid, 4),
        (kind == "metadata" && has("protocol_version"), Format::Kimi, ENOUGH),
        (kind.starts_with("context.append_") || kind == "turn.prompt", Format::Kimi, 4),
        (has("step_index") && has("source") && has("status"), Format::Antigravity, 4),
        (event_log::is_grok(&kind, &has), Format::Grok, 4),
        (kind == "session" && has("id") && (has("cwd") || has("version")), Format::Pi, 6),
        (claude_code::is_line(object, &kind, &has), Format::ClaudeCode, 3),
        (pi::is_line(&kind, &message, &has), Format::Pi, 3),
        (kind == "message" && has("id") && has("parentId"), Format::Pi, 1),
        (codex::is_bare_item(object, &kind, &has), Format::Codex, 2),
        (other.is_some(), other.unwrap_or(Format::JsonLines), 6),
        (is_plain_chat(object) || is_conversation(object), Format::OpenaiChat, 2),
        (cut.is_some() || object.iter().next().is_some(), Format::JsonLines, 1),
    ];
    // The first sign that applies decides, so specific formats come before general ones.
    let (_, format, weight) = signs.into_iter().find(|(is_there, ..)| *is_there)?;
    Some((format, weight))
}

/// Returns whether a line is a conversation: `{"messages": […]}`, or a request with its response.
fn is_conversation(object: &Object<'_>) -> bool {
    fn list<'a>(object: &Object<'a>) -> Option<Object<'a>> {
        object.array("messages").and_then(|list| Object::of(list.first()?))
    }
    let request = object.object("request").or_else(|| object.object("body"));
    let first = list(object).or_else(|| list(&request.unwrap_or_default()));
    first.is_some_and(|first| is_plain_chat(&first))
}

/// Returns the shape of an OpenAI chat file. See [`Format::shape`].
pub(super) fn chat_shape(head: &[u8]) -> FileShape {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return FileShape::Lines };
    let whole = serde_json::from_str::<&RawValue>(first).is_ok();
    let only = lines.next().is_none();
    let cut = !whole && only && first.trim_start().starts_with('{') && !text.contains('\n');
    if (whole && !only) || cut { FileShape::Lines } else { FileShape::Document }
}
