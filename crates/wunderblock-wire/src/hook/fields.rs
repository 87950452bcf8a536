//! Reads the fields that several agents have in common.

use crate::hook::call::{
    CompactTrigger, Delegation, HookEvent, SessionSource, ToolOutcome, TurnStop, UsedTool,
};
use crate::json::{RawFields, is_null, is_object, text};
use std::path::PathBuf;
use wunderblock_core::units::Millis;

/// Returns a text that is not empty.
pub(super) fn word(fields: &RawFields<'_>, name: &str) -> Option<String> {
    fields.text(name).filter(|text| !text.is_empty())
}

pub(super) fn path(fields: &RawFields<'_>, name: &str) -> Option<PathBuf> {
    word(fields, name).map(PathBuf::from)
}

pub(super) fn flag(fields: &RawFields<'_>, name: &str) -> bool {
    fields.get(name).is_some_and(|raw| raw.get() == "true")
}

/// Returns the text of a field as a JSON value, unless it is missing or `null`.
fn json<'a>(fields: &RawFields<'a>, name: &str) -> Option<&'a str> {
    fields.get(name).filter(|raw| !is_null(raw)).map(|raw| raw.get())
}

pub(super) fn session_start<'a>(fields: &RawFields<'_>) -> HookEvent<'a> {
    let source = fields.text("source").unwrap_or_default();
    HookEvent::SessionStart(match source.as_str() {
        "startup" => SessionSource::Startup,
        "resume" => SessionSource::Resume,
        "clear" => SessionSource::Clear,
        "compact" => SessionSource::Compact,
        "fork" => SessionSource::Fork,
        _ => SessionSource::Other(source),
    })
}

pub(super) fn prompt<'a>(fields: &RawFields<'_>) -> HookEvent<'a> {
    HookEvent::Prompt(fields.text("prompt").unwrap_or_default())
}

pub(super) fn tool<'a>(fields: &RawFields<'a>) -> UsedTool<'a> {
    UsedTool {
        id: word(fields, "tool_use_id"),
        name: fields.text("tool_name").unwrap_or_default(),
        input: json(fields, "tool_input"),
    }
}

pub(super) fn tool_end<'a>(fields: &RawFields<'a>) -> HookEvent<'a> {
    let duration = fields.get("duration_ms").and_then(|raw| raw.get().parse::<f64>().ok());
    let outcome = ToolOutcome {
        output: json(fields, "tool_response"),
        error: error(fields),
        interrupted: flag(fields, "is_interrupt"),
        // A duration has fractions in some versions; a conversion of floats keeps within the limits of the type.
        duration: duration.filter(|millis| *millis >= 0.0).map(|millis| Millis(millis.round() as i64)),
    };
    HookEvent::ToolEnd(tool(fields), outcome)
}

/// Returns the text of an error: of a string, of an object's `message`, or the JSON of any other value.
pub(super) fn error(fields: &RawFields<'_>) -> Option<String> {
    let raw = fields.get("error").filter(|raw| !is_null(raw))?;
    let message = || RawFields::of(raw).and_then(|object| word(&object, "message"));
    text(raw).or_else(|| is_object(raw).then(message)?).or_else(|| Some(raw.get().to_owned()))
}

pub(super) fn trigger(fields: &RawFields<'_>) -> CompactTrigger {
    let trigger = fields.text("trigger").unwrap_or_default();
    match trigger.as_str() {
        "manual" => CompactTrigger::Manual,
        "auto" => CompactTrigger::Auto,
        _ => CompactTrigger::Other(trigger),
    }
}

pub(super) fn turn_end<'a>(fields: &RawFields<'_>) -> HookEvent<'a> {
    HookEvent::TurnEnd(TurnStop::Finished, word(fields, "last_assistant_message"))
}

/// Reads a turn that an error ended. `error` is a code, and `error_details` describes it.
pub(super) fn turn_failure<'a>(fields: &RawFields<'_>) -> HookEvent<'a> {
    let parts: Vec<String> = error(fields).into_iter().chain(word(fields, "error_details")).collect();
    HookEvent::TurnEnd(TurnStop::Failed(parts.join(": ")), word(fields, "last_assistant_message"))
}

pub(super) fn delegation(fields: &RawFields<'_>) -> Delegation {
    Delegation {
        id: word(fields, "agent_id"),
        kind: word(fields, "agent_type"),
        model: None,
        prompt: None,
        transcript: path(fields, "agent_transcript_path"),
        message: word(fields, "last_assistant_message"),
    }
}

pub(super) fn session_end<'a>(fields: &RawFields<'_>) -> HookEvent<'a> {
    HookEvent::SessionEnd(word(fields, "reason"))
}
