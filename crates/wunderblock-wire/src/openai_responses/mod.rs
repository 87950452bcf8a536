//! OpenAI responses.
//!
//! One list of items: messages, calls, outputs and reasoning stand side by side, a reply is several of them. All that the
//! model says between two turns of others is one message here; a text in it begins a message item, unless it follows
//! another text of the same item. Reasoning goes back only with what the provider encrypted of it, or to where it came
//! from. Facts are of the responses reference (developers.openai.com/api/reference/resources/responses) and its guides
//! on reasoning, conversation state and compaction.

mod content;
pub(crate) mod decode;
pub(crate) mod encode;
mod order;

use crate::extra::{self, ExtraForm, INNER};
use crate::json::{RawFields, is_null};

/// What stands between the pieces of reasoning, where they are one text.
const BETWEEN: &str = "\n\n";

/// Types of items that stand for what was said before them: encrypted, and only their provider can read them.
const COMPACTIONS: [&str; 4] =
    ["compaction", "compaction_summary", "context_compaction", "compaction_trigger"];

/// Takes what the provider keeps its books with, and what is empty. Neither means anything to another provider.
fn books(fields: &mut RawFields<'_>) -> Option<ExtraForm> {
    let kept =
        fields.take_all(|name, raw| ["id", "status"].contains(&name) || is_null(raw) || raw.get() == "[]");
    extra::object(kept).map(|kept| (INNER, kept))
}
