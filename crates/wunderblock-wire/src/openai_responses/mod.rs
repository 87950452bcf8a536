//! OpenAI Responses.
//!
//! A request is one list of items: messages, calls, outputs and reasoning are separate items, and a reply consists of
//! several. In the neutral form, everything that the model says between two turns of others is one message. A text in
//! that message begins a new message item, unless it follows another text of the same item. Reasoning is sent back
//! only to this provider and, in a request that we build, only if it is encrypted.
//!
//! A request that we build has no item ids. The API accepts encrypted reasoning without an id. The API looks up an
//! item that has an id among the items it stored, and may find nothing or require more than is sent ("Item … not
//! found", "provided without its required reasoning item"). In a request that we build, model text is a string, which
//! is the reference's form for a message without an id. Sources: the responses reference
//! (developers.openai.com/api/reference/resources/responses) and its guides on reasoning, conversation state and
//! compaction.

mod content;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod order;

use crate::extra::{self, ExtraForm, INNER, MESSAGE};
use crate::json::{ObjectWriter, RawFields, is_null};
use wunderblock_core::message::{Dialect, Extra};

/// Separator between pieces of reasoning that are stored as one text.
const BETWEEN: &str = "\n\n";

/// Default detail of an image.
const DETAIL: &str = "auto";

/// Types of items that replace earlier items with an encrypted form. Only the provider that made these items can read
/// them.
const COMPACTIONS: [&str; 4] =
    ["compaction", "compaction_summary", "context_compaction", "compaction_trigger"];

/// Field of a message that says whether the model comments on its work or answers. The phase is sent back with each
/// text, because answers get worse without it (see the reference on assistant messages).
const PHASE: &str = "phase";

/// Returns the extra of a text that begins a message of this phase.
pub(crate) fn phased(text: &Extra, phase: &str) -> Extra {
    let message = ObjectWriter::default().text(PHASE, phase).finish();
    extra::with_hint(Dialect::OpenaiResponses, text, (MESSAGE, message))
}

/// Returns whether an item without a neutral form is a call that the reader of the item has to answer.
pub(crate) fn is_asked(raw: &str) -> bool {
    matches!(order::ItemKind::of(raw), order::ItemKind::Call { waits: true, .. })
}

/// Fields that Codex records with items and that the public API does not accept.
const RECORDED: [&str; 2] = ["internal_chat_message_metadata_passthrough", "metadata"];

/// Removes the provider's bookkeeping fields and empty fields, and returns them as a form. Other providers have no
/// use for these fields.
fn books(fields: &mut RawFields<'_>) -> Option<ExtraForm> {
    let is_book = |name: &str| ["id", "status"].contains(&name) || RECORDED.contains(&name);
    let kept = fields.take_all(|name, raw| is_book(name) || is_null(raw) || raw.get() == "[]");
    extra::object(kept).map(|kept| (INNER, kept))
}
