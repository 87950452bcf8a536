//! What a raw record states about the author of its text. The readers take the text; the record says who sent it.

use super::Format;
use super::parsing::object::Object;
use wunderblock_core::author::Author;

/// Returns the author that a raw record states for its text in the user's role. `None` if it states nothing.
#[must_use]
pub fn stated_author(format: Format, record: &[u8]) -> Option<Author> {
    let record = std::str::from_utf8(record).ok()?;
    match format {
        Format::ClaudeCode => of_claude_code(&Object::parse(record).ok()?),
        Format::Copilot => of_copilot(&Object::parse(record).ok()?),
        Format::Wunderblock => Author::named(&Object::parse(record).ok()?.text("author")?),
        _ => None,
    }
}

/// Claude Code names the origin of a prompt since version 2.1; earlier versions mark what no person typed.
fn of_claude_code(record: &Object<'_>) -> Option<Author> {
    let attached = record.object("attachment");
    let origin = record.object("origin").or_else(|| attached?.object("origin"));
    let from_system = record.text("promptSource").is_some_and(|source| source == "system");
    match origin.as_ref().and_then(|origin| origin.text("kind")).as_deref() {
        Some("human") if !from_system => return Some(Author::Person),
        Some("hook") => return Some(Author::Hook),
        Some("agent" | "coordinator" | "peer" | "teammate") => return Some(Author::Peer),
        // A notice of a task, or a kind that later versions add.
        Some(_) => return Some(Author::Harness),
        None => {}
    }
    if from_system || record.flag("isMeta") || record.flag("isCompactSummary") {
        return Some(Author::Harness);
    }
    // The parent of a sub-agent writes its prompts.
    record.flag("isSidechain").then_some(Author::Peer)
}

/// Copilot names the source of every message that the person did not type.
fn of_copilot(record: &Object<'_>) -> Option<Author> {
    let source = record.object("data")?.text("source")?.into_owned();
    Some(match source.as_str() {
        "user" => Author::Person,
        source if source.starts_with("agent-") => Author::Peer,
        source if source.starts_with("hook") => Author::Hook,
        _ => Author::Harness,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_states_who_sent_its_text() {
        for (format, record, author) in [
            (Format::ClaudeCode, r#"{"type":"user","origin":{"kind":"human"}}"#, Some(Author::Person)),
            (Format::ClaudeCode, r#"{"type":"user","origin":{"kind":"hook"}}"#, Some(Author::Hook)),
            (Format::ClaudeCode, r#"{"origin":{"kind":"peer"},"promptSource":"system"}"#, Some(Author::Peer)),
            (
                Format::ClaudeCode,
                r#"{"origin":{"kind":"human"},"promptSource":"system"}"#,
                Some(Author::Harness),
            ),
            (Format::ClaudeCode, r#"{"origin":{"kind":"carrier-pigeon"}}"#, Some(Author::Harness)),
            (Format::ClaudeCode, r#"{"attachment":{"origin":{"kind":"human"}}}"#, Some(Author::Person)),
            (Format::ClaudeCode, r#"{"isMeta":true}"#, Some(Author::Harness)),
            (Format::ClaudeCode, r#"{"isSidechain":true}"#, Some(Author::Peer)),
            (Format::ClaudeCode, r#"{"isSidechain":false,"userType":"external"}"#, None),
            (Format::Copilot, r#"{"data":{"content":"x","source":"agent-1"}}"#, Some(Author::Peer)),
            (Format::Copilot, r#"{"data":{"content":"x","source":"skill-plan"}}"#, Some(Author::Harness)),
            (Format::Copilot, r#"{"data":{"content":"x"}}"#, None),
            (Format::Codex, r#"{"origin":{"kind":"hook"}}"#, None),
            (Format::ClaudeCode, "not JSON", None),
        ] {
            assert_eq!(stated_author(format, record.as_bytes()), author, "{record}");
        }
    }
}
