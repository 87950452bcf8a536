//! OpenAI responses.
//!
//! One list of items: messages, calls, outputs and reasoning stand side by side, a reply is several of them. All that the
//! model says between two turns of others is one message here; a text in it begins a message item, unless it follows
//! another text of the same item. Reasoning goes back only with what the provider encrypted of it, or to where it came
//! from.
//!
//! A request of ours has no ids of items: the API takes reasoning without one where it is encrypted, and looks up what has
//! one among what it stored, which may be nothing, or more than is sent ("Item … not found", "provided without its required
//! reasoning item"). Text of the model is a string there, the form the reference has for messages without an id. Facts are of the responses reference (developers.openai.com/api/reference/resources/responses) and its guides
//! on reasoning, conversation state and compaction.

mod content;
pub(crate) mod decode;
pub(crate) mod encode;
mod order;

use crate::extra::{self, ExtraForm, INNER, MESSAGE};
use crate::json::{ObjectWriter, RawFields, is_null};
use wunderblock_core::message::{Dialect, Extra};

/// What stands between the pieces of reasoning, where they are one text.
const BETWEEN: &str = "\n\n";

/// How closely an image is looked at, unless it says otherwise.
const DETAIL: &str = "auto";

/// Types of items that stand for what was said before them: encrypted, and only their provider can read them.
const COMPACTIONS: [&str; 4] =
    ["compaction", "compaction_summary", "context_compaction", "compaction_trigger"];

/// The field of a message that says whether the model comments on its work or answers. It goes back with each text: without
/// it answers get worse (the reference, on messages of the assistant).
const PHASE: &str = "phase";

/// The extra of a text that begins a message of this phase.
pub(crate) fn phased(text: &Extra, phase: &str) -> Extra {
    let message = ObjectWriter::default().text(PHASE, phase).finish();
    extra::with_hint(Dialect::OpenaiResponses, text, (MESSAGE, message))
}

/// Whether an item that we have no form for is a call that its reader has to answer.
pub(crate) fn is_asked(raw: &str) -> bool {
    matches!(order::ItemKind::of(raw), order::ItemKind::Call { waits: true, .. })
}

/// Fields that Codex records of items, and that the public API does not take.
const RECORDED: [&str; 2] = ["internal_chat_message_metadata_passthrough", "metadata"];

/// Takes what the provider keeps its books with, and what is empty. Neither means anything to another provider.
fn books(fields: &mut RawFields<'_>) -> Option<ExtraForm> {
    let is_book = |name: &str| ["id", "status"].contains(&name) || RECORDED.contains(&name);
    let kept = fields.take_all(|name, raw| is_book(name) || is_null(raw) || raw.get() == "[]");
    extra::object(kept).map(|kept| (INNER, kept))
}
