//! Order of items, and items that the provider would refuse in their position.
//!
//! Reasoning has to be followed by the item it led to ("provided without its required following item"). A client
//! answers some calls with an item that has no neutral form. A call of this kind needs its answer, and the answer
//! needs its call.

use super::{COMPACTIONS, RECORDED};
use crate::json::{ObjectWriter, RawFields, is_null, text};
use crate::writing::Writing;
use std::collections::{HashSet, VecDeque};
use wunderblock_core::budget::Reason;

/// Types of items and content that have neutral forms. An opaque item of a type that has a neutral form is
/// incomplete; otherwise it would have been decoded.
const OWN_FORMS: [&str; 13] = [
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "input_text",
    "output_text",
    "refusal",
    "input_image",
    "input_file",
    "summary_text",
    "reasoning_text",
    "text",
];

/// Types of items that other items refer to by id, or that no known client sends without an id.
const NAMED: [&str; 10] = [
    "code_interpreter_call",
    "computer_call",
    "file_search_call",
    "image_generation_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
];

/// Role of an item among its neighbours.
pub(crate) enum ItemKind {
    /// Item of the model that reasoning may lead to.
    Spoken,
    Reasoning,
    /// Call whose answer is an item that has the same id and a type without a neutral form.
    Call {
        id: String,
        /// Whether the call has to be answered.
        waits: bool,
    },
    /// Answer without a neutral form, with the id of its call.
    Answer(String),
    Heard,
}

impl ItemKind {
    /// Returns the kind of an item from its JSON.
    pub(super) fn of(raw: &str) -> Self {
        let Ok(fields) = RawFields::parse(raw) else { return Self::Spoken };
        let kind = fields.text("type").unwrap_or_default();
        let call = || fields.text("call_id");
        let found = match kind.as_str() {
            "reasoning" => return Self::Reasoning,
            "additional_tools" | "configuration_update" => return Self::Heard,
            "program" => call().map(|id| Self::Call { id, waits: false }),
            "mcp_approval_request" => fields.text("id").map(|id| Self::Call { id, waits: false }),
            "mcp_approval_response" => fields.text("approval_request_id").map(Self::Answer),
            // This type names its call in `id`.
            "local_shell_call_output" => call().or_else(|| fields.text("id")).map(Self::Answer),
            kind if kind.ends_with("_output") => call().map(Self::Answer),
            kind if kind.ends_with("_call") => call().map(|id| Self::Call { id, waits: true }),
            _ => None,
        };
        found.unwrap_or(Self::Spoken)
    }
}

/// Returns an item without bookkeeping fields: nulls, including those in its action, are removed, and so is its id
/// unless its type needs one.
pub(super) fn unbooked(raw: &str) -> String {
    let Ok(mut fields) = RawFields::parse(raw) else { return raw.to_owned() };
    let is_named = fields.text("type").is_some_and(|kind| NAMED.contains(&kind.as_str()));
    fields.take_all(|name, value| is_null(value) || RECORDED.contains(&name) || (name == "id" && !is_named));
    let mut object = ObjectWriter::default();
    for (name, value) in fields.rest() {
        let action = RawFields::of(value).filter(|_| name == "action").map(|mut action| {
            action.take_all(|_, value| is_null(value));
            action.written()
        });
        object = object.raw(&name, action.as_deref().unwrap_or(value.get()));
    }
    object.finish()
}

/// Returns the reason why a request that we build cannot contain an item of the model, or `None` if it can.
pub(crate) fn broken(raw: &str) -> Option<&'static str> {
    let fields = RawFields::parse(raw).ok();
    match fields.as_ref().and_then(|item| item.text("type")).as_deref() {
        None => Some("an item without a type"),
        Some(kind) if COMPACTIONS.contains(&kind) => {
            Some("the provider's own compaction: what it stands for is in the ledger")
        }
        Some("tool_search_call" | "tool_search_output") if !fields.as_ref().is_some_and(is_search) => {
            Some("a search for tools of a kind that the API does not have")
        }
        Some("item_reference") => Some("a reference to what only the provider keeps"),
        Some("reasoning") => {
            let sealed = fields.and_then(|item| item.text("encrypted_content"));
            sealed.is_none().then_some("reasoning without what is encrypted of it")
        }
        Some(kind) if OWN_FORMS.contains(&kind) => Some("an item that is not whole"),
        Some(_) => None,
    }
}

/// Returns whether a search for tools was run by the provider or by a client.
fn is_search(item: &RawFields<'_>) -> bool {
    let ran = item.get("execution").filter(|raw| !is_null(raw)).map(text);
    ran.is_none_or(|ran| matches!(ran.as_deref(), Some("server" | "client")))
}

/// An encoded item, with the part it was written for.
pub(crate) struct WrittenItem {
    pub(crate) json: String,
    pub(super) kind: ItemKind,
    pub(crate) place: (Option<usize>, usize),
}

/// If the request is ours, removes the items that the provider would refuse in their position.
pub(super) fn settle(items: Vec<WrittenItem>, writing: &mut Writing) -> Vec<WrittenItem> {
    if !writing.is_made() {
        return items;
    }
    let (mut settling, mut kept) = (Settling::default(), Vec::with_capacity(items.len()));
    items.iter().for_each(|item| settling.note(item));
    items.into_iter().for_each(|item| settling.push(item, writing, &mut kept));
    settling.finish(writing, &mut kept);
    kept
}

/// Maximum number of items that wait for the answer of a call without a neutral form.
const HELD: usize = 4_096;

/// Removes the items that the provider would refuse in their position, from a request whose items come one by one.
/// Items are held only while it is not known whether the first of them is kept.
#[derive(Default)]
pub(super) struct Settling {
    calls: HashSet<String>,
    answers: HashSet<String>,
    /// Items from the first call on that waits for its answer.
    held: VecDeque<WrittenItem>,
    /// Reasoning that no item has followed yet.
    reasoning: Vec<WrittenItem>,
}

impl Settling {
    fn note(&mut self, item: &WrittenItem) {
        match &item.kind {
            ItemKind::Call { id, .. } => drop(self.calls.insert(id.clone())),
            ItemKind::Answer(id) => drop(self.answers.insert(id.clone())),
            ItemKind::Spoken | ItemKind::Reasoning | ItemKind::Heard => {}
        }
    }

    /// Adds an item, and moves the items that are decided to `kept`.
    pub(super) fn push(&mut self, item: WrittenItem, writing: &mut Writing, kept: &mut Vec<WrittenItem>) {
        self.note(&item);
        self.held.push_back(item);
        while let Some((item, why)) = self.next(false) {
            self.decide(item, why, writing, kept);
        }
    }

    /// Decides about the items that are left. The last one may be a call that waits for its answer.
    pub(super) fn finish(mut self, writing: &mut Writing, kept: &mut Vec<WrittenItem>) {
        while let Some((item, why)) = self.next(true) {
            self.decide(item, why, writing, kept);
        }
        drop_reasoning(&mut self.reasoning, writing);
    }

    /// Returns the message of the first item that is not decided yet.
    pub(super) fn first(&self) -> Option<usize> {
        self.reasoning.first().or(self.held.front())?.place.0
    }

    /// Returns the next item that can be decided, with the reason for which it is left out, if it is.
    fn next(&mut self, is_end: bool) -> Option<(WrittenItem, Option<&'static str>)> {
        let why = match &self.held.front()?.kind {
            ItemKind::Call { id, waits: true } if !self.answers.contains(id) => match self.held.len() {
                1 if is_end => None,
                held if is_end || held > HELD => Some("a call without its output"),
                _ => return None,
            },
            ItemKind::Answer(id) if !self.calls.contains(id) => Some("an output without its call"),
            _ => None,
        };
        self.held.pop_front().map(|item| (item, why))
    }

    /// Keeps an item or leaves it out. Reasoning is kept with the item of the model that follows it.
    fn decide(
        &mut self,
        item: WrittenItem,
        why: Option<&'static str>,
        writing: &mut Writing,
        kept: &mut Vec<WrittenItem>,
    ) {
        if let Some(why) = why {
            return leave_out(&item, why, writing);
        }
        match item.kind {
            ItemKind::Reasoning => return self.reasoning.push(item),
            ItemKind::Spoken | ItemKind::Call { .. } => kept.append(&mut self.reasoning),
            ItemKind::Answer(_) | ItemKind::Heard => drop_reasoning(&mut self.reasoning, writing),
        }
        kept.push(item);
    }
}

fn drop_reasoning(reasoning: &mut Vec<WrittenItem>, writing: &mut Writing) {
    for item in reasoning.drain(..) {
        leave_out(&item, "reasoning without what it led to", writing);
    }
}

fn leave_out(item: &WrittenItem, why: &str, writing: &mut Writing) {
    writing.at(item.place.0, item.place.1);
    writing.drop_part(Reason::Unsendable, why);
}
