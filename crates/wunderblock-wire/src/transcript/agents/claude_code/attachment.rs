//! Attachments: content that Claude Code adds to the conversation.
//!
//! For each kind of attachment, the harness writes a text for the model. Of the kinds known here, the text in the record
//! is taken, preceded by a line with the file name, if there is one: earlier versions do not record what they wrote. Of
//! other kinds, the text that was written is taken, if the record has it (2.1.332).

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::Blocks;
use crate::transcript::parsing::object::Object;
use serde_json::value::RawValue;
use wunderblock_core::message::Part;

/// Kinds whose text was sent to the model. All other kinds steer the harness or the display.
const SENT: [&str; 36] = [
    "agent_listing_delta",
    "async_hook_response",
    "batching_reminder_sent",
    "compact_file_reference",
    "critical_system_reminder",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "directory",
    "dynamic_skill",
    "edited_image_file",
    "edited_text_file",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_success",
    "invoked_skills",
    "mcp_instructions_delta",
    "mcp_resource",
    "nested_memory",
    "opened_file_in_ide",
    "output_style",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "queued_command",
    "read_truncation_notice",
    "relevant_memories",
    "selected_lines_in_ide",
    "silent_turn_reminder",
    "skill_listing",
    "task_reminder",
    "task_status",
    "todo_reminder",
    "total_tokens_reminder",
];

/// Fields that hold text, in the order in which they are read.
pub(super) const TEXTS: [&str; 23] = [
    "content",
    "text",
    "prompt",
    "snippet",
    "file",
    "message",
    "memories",
    "skills",
    "addedLines",
    "addedBlocks",
    "removedNames",
    "newDate",
    "subject",
    "description",
    "status",
    "deltaSummary",
    "output",
    "blockingError",
    "plan",
    "planContent",
    "diagnostics",
    "files",
    "value",
];

/// Fields that name the source of the text.
const NAMES: [&str; 6] = ["displayPath", "filename", "filePath", "path", "planFilePath", "name"];

/// Returns the parts of an attachment that were sent to the model. Empty if none were.
pub(super) fn parts(kind: &str, attached: &Object<'_>, blocks: &mut Blocks<'_>) -> Vec<Part> {
    if !SENT.contains(&kind) {
        return Vec::new();
    }
    let prompt = attached.get("prompt").filter(|prompt| prompt.get().starts_with('['));
    if let Some(prompt) = prompt {
        return blocks.content(Some(prompt));
    }
    let image = attached.object("content").filter(|content| content.text("type").as_deref() == Some("image"));
    if let Some(part) = image.and_then(|content| image_part(&content.object("file")?)) {
        return vec![part];
    }
    let mut text = String::new();
    generic::gather_fields(attached, &TEXTS, &mut text);
    if text.is_empty() {
        return Vec::new();
    }
    let name = NAMES.iter().find_map(|key| attached.word(key));
    match name {
        Some(name) => vec![Part::text(format!("{name}\n{text}"))],
        None => vec![Part::text(text)],
    }
}

/// Returns the texts that the harness wrote for the model. Empty if the record has none.
pub(super) fn rendered(record: &Object<'_>) -> Vec<Part> {
    let texts = record.array("rendered").unwrap_or_default();
    let text = |value: &RawValue| Some(Part::text(Object::of(value)?.text("content")?.into_owned()));
    texts.into_iter().filter_map(text).collect()
}

fn image_part(file: &Object<'_>) -> Option<Part> {
    Some(Part::Media {
        mime: file.word("type").unwrap_or_default(),
        form: wunderblock_core::message::MediaForm::Base64,
        body: file.text("base64")?.into_owned().into(),
        extra: None,
    })
}
