//! Items of a page: texts exactly as recorded, each with a description.

use super::grid::{Grid, HEAD};
use super::token_line::{leaves, tokens_of};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{CallId, Handle};
use wunderblock_core::message::{Body, MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::{self, grouped};
use wunderblock_core::units::Seq;
use wunderblock_redact::Redactor;

/// A text, or a part of one.
///
/// All items of all pages with the same `seq` and `part`, joined in the order of `from_byte`, give the recorded text
/// byte for byte. Media data is not included; use `address` to read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageItem {
    /// Position of the event; `None` for a text that was addressed by its own handle.
    pub seq: Option<Seq>,
    /// Index of the text in the event, counted from 0.
    pub part: usize,
    /// Kind of the text.
    pub kind: ItemKind,
    /// Role of the message's sender.
    pub role: Option<Role>,
    /// Address for `read`: the text's own handle, or its position.
    pub address: String,
    /// Offset of the first included byte in the text.
    pub from_byte: u64,
    /// One past the offset of the last included byte.
    pub to_byte: u64,
    /// Total length of the text in bytes.
    pub bytes: u64,
    /// The included part, verbatim.
    pub text: String,
    /// Words of the query that a hit contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
}

impl PageItem {
    /// Creates an item for a whole text.
    pub(super) fn new(seq: Option<Seq>, kind: ItemKind, address: String, text: String) -> Self {
        Self {
            seq,
            part: 0,
            kind,
            role: None,
            address,
            from_byte: 0,
            to_byte: 0,
            bytes: text.len() as u64,
            text,
            matched: Vec::new(),
        }
    }

    /// Creates an item for a text that was addressed by its own handle.
    pub(super) fn body(handle: Handle, text: &str) -> Self {
        Self::new(None, ItemKind::Body, handle.to_string(), text.to_owned())
    }
}

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// Text of a message.
    Text,
    /// A model's reasoning.
    Thinking,
    /// The input of a tool call.
    Call,
    /// Result of a tool call.
    Result,
    /// An image, a document or a sound. The text of a media item is its URL or file id; its data is not included.
    Media,
    /// An opaque block from a provider.
    Opaque,
    /// A summary.
    Summary,
    /// A text that was addressed by its handle.
    Body,
    /// An erased event, which has no text.
    Erased,
}

/// Maximum length in bytes of names and gists in the lines above a text. The lines above a text identify it; they do
/// not replace it.
const WORDS: usize = 120;

/// A text with the lines above it.
pub(super) struct Leaf {
    /// Full line above the text; empty if none is needed.
    pub(super) mark: String,
    /// Short form of `mark`.
    pub(super) short: &'static str,
    /// Replacement shown if the text is not available.
    pub(super) instead: Option<String>,
    pub(super) tokens: u64,
    pub(super) item: PageItem,
}

/// A message, a summary or a text, with its place on the line.
pub(super) struct PageEntry {
    pub(super) heading: String,
    pub(super) place: (u64, u64),
    pub(super) leaves: Vec<Leaf>,
}

impl Leaf {
    /// Creates a leaf without a line above it. `instead` replaces a missing text.
    pub(super) fn bare(item: PageItem, tokens: u64, instead: Option<&str>) -> Self {
        Self { mark: String::new(), short: "", instead: instead.map(str::to_owned), tokens, item }
    }
}

/// A part of a text on a page.
pub(super) struct PagePiece {
    pub(super) heading: String,
    pub(super) leaf: Leaf,
}

impl PageEntry {
    /// Returns the pieces of the entry that are shown on a page.
    pub(super) fn pieces(self, grid: &Grid, page: u64) -> Vec<PagePiece> {
        let Some((from, to)) = grid.shown(page, self.place.0, self.place.1) else { return Vec::new() };
        let whole = (from, to) == self.place;
        let begin = self.place.0.saturating_add(HEAD);
        let (low, high) = (from.saturating_sub(begin), to.saturating_sub(begin));
        let end = self.place.1.saturating_sub(begin);
        let (mut pieces, mut at) = (Vec::new(), 0_u64);
        for leaf in self.leaves {
            let (start, width) = (at, leaf.tokens);
            at = at.saturating_add(width);
            // An item without tokens belongs to the page that contains its place or, at the end of the entry, to the
            // last page.
            let here = (low <= start && start < high) || (start == high && high == end);
            let (head, tail) = if whole {
                (0, leaf.item.text.len())
            } else if width == 0 {
                if !here {
                    continue;
                }
                (0, leaf.item.text.len())
            } else if start >= high || at <= low {
                continue;
            } else if low <= start && at <= high {
                (0, leaf.item.text.len())
            } else {
                let scale = grid.scale(&leaf.item.text, width);
                (scale.cut(low.saturating_sub(start)), scale.cut(high.saturating_sub(start)))
            };
            // An item without text is shown once; an empty part of a text is skipped.
            if head == tail && !leaf.item.text.is_empty() {
                continue;
            }
            let text = leaf.item.text.get(head..tail).unwrap_or_default().to_owned();
            let item = PageItem { from_byte: head as u64, to_byte: tail as u64, text, ..leaf.item };
            pieces.push(PagePiece { heading: self.heading.clone(), leaf: Leaf { item, ..leaf } });
        }
        pieces
    }
}

/// Converts messages into entries of a page.
pub(super) struct MessageReader<'a> {
    pub(super) stream: Handle,
    pub(super) texts: &'a dyn Bodies,
    pub(super) counts: &'a HashMap<Handle, u64>,
    /// Descriptions of the calls in the messages noted so far, so that each result can name its call.
    pub(super) calls: HashMap<CallId, String>,
    /// Masks the secrets of texts.
    pub(super) masks: Option<&'a Redactor>,
}

/// Returns a text as a page shows it. Secrets are masked before the text is cut, which could hide their form.
pub(super) fn shown(text: &str, masks: Option<&Redactor>) -> String {
    masks.map_or_else(|| text.to_owned(), |masks| masks.mask(text).into_owned())
}

impl MessageReader<'_> {
    /// Stores the calls of a message.
    pub(super) fn note(&mut self, fact: Option<&Fact>) {
        let Some(Fact::MessageAppended(said)) = fact else { return };
        for part in &said.message.parts {
            if let Part::ToolCall { call, name, gist, input, .. } = part {
                let words = self.named(name, gist.as_deref(), input);
                self.calls.insert(call.clone(), words);
            }
        }
    }

    /// Converts a message into an entry; `None` for other kinds of events.
    pub(super) fn entry(
        &self,
        seq: Seq,
        kind: &str,
        fact: Option<&Fact>,
        place: (u64, u64),
    ) -> Option<PageEntry> {
        if kind != "message.appended" {
            return None;
        }
        let Some(Fact::MessageAppended(said)) = fact else {
            let leaf = Leaf::bare(self.item(seq, ItemKind::Erased), 0, Some("⟨erased⟩"));
            return Some(PageEntry { heading: format!("#{seq} erased"), place, leaves: vec![leaf] });
        };
        let message = &said.message;
        let tokens = tokens_of(fact, self.counts);
        let mut entries: Vec<Leaf> = Vec::new();
        for (number, ((part, body), tokens)) in leaves(message).into_iter().zip(tokens).enumerate() {
            let item = PageItem { part: number, role: Some(message.role), ..self.item(seq, ItemKind::Text) };
            entries.push(self.leaf(item, part, body, tokens));
        }
        self.results(message, &mut entries);
        if entries.is_empty() {
            let item = PageItem { role: Some(message.role), ..self.item(seq, ItemKind::Text) };
            entries.push(Leaf::bare(item, 0, Some("⟨no content⟩")));
        }
        Some(PageEntry { heading: self.heading(seq, message), place, leaves: entries })
    }

    fn item(&self, seq: Seq, kind: ItemKind) -> PageItem {
        PageItem::new(Some(seq), kind, self.stream.range(seq, seq), String::new())
    }

    /// Converts a text of a message into a leaf. `item` has its position.
    fn leaf(&self, item: PageItem, part: &Part, body: &Body, tokens: u64) -> Leaf {
        let (kind, mark, short) = match part {
            Part::Thinking { .. } => (ItemKind::Thinking, "thinking".to_owned(), "thinking"),
            Part::ToolCall { name, gist, .. } => {
                (ItemKind::Call, format!("→ {}", self.named(name, gist.as_deref(), body)), "→")
            }
            Part::Media { mime, .. } => (ItemKind::Media, format!("[{}]", first_words(mime)), "[media]"),
            Part::Opaque { .. } => (ItemKind::Opaque, "[block of unknown shape]".to_owned(), "[block]"),
            Part::Text { .. } | Part::ToolResult { .. } => (ItemKind::Text, String::new(), ""),
        };
        let address = body.handle().map_or_else(|| item.address.clone(), |handle| handle.to_string());
        let is_data = matches!(part, Part::Media { form: MediaForm::Base64, .. });
        let text = self.texts.of(body).filter(|_| !is_data);
        let instead = match text {
            _ if is_data => Some(format!("⟨{} bytes of data: read {address}⟩", grouped(body.bytes().0))),
            None => Some("⟨erased⟩".to_owned()),
            Some(_) => None,
        };
        let (bytes, text) = (body.bytes().0, shown(text.unwrap_or_default(), self.masks));
        Leaf { mark, short, instead, tokens, item: PageItem { kind, address, bytes, text, ..item } }
    }

    /// Names a call. Its recorded gist may have cut a secret, so a call with secrets gets the gist of its masked input.
    fn named(&self, name: &str, gist: Option<&str>, input: &Body) -> String {
        let masked = self.masks.and_then(|masks| match masks.mask(self.texts.of(input)?) {
            Cow::Borrowed(_) => None,
            Cow::Owned(input) => wunderblock_wire::gist(name, &input),
        });
        match masked.or_else(|| Some(shown(gist?, self.masks))) {
            Some(gist) => format!("{} · {}", first_words(name), first_words(&gist)),
            None => first_words(name),
        }
    }

    fn heading(&self, seq: Seq, message: &Message) -> String {
        let who = role_name(message.role);
        let (how, what) = match &message.standing {
            MessageOrigin::Said => return format!("#{seq} {who}"),
            MessageOrigin::Injected(what) => ("injected", what),
            MessageOrigin::Failed(what) => ("failed", what),
            MessageOrigin::Aside(what) => ("aside", what),
        };
        format!("#{seq} {who} ({how}: {})", first_words(stub::head(&shown(what, self.masks), 40)))
    }

    /// Marks the leaves of each tool result with the call that produced it. A result without content is marked, too.
    fn results(&self, message: &Message, shown: &mut [Leaf]) {
        let mut number = 0;
        for part in &message.parts {
            let count = part.leaves().len();
            if let Part::ToolResult { call, failed, .. } = part {
                let of = self.calls.get(call).map_or("", String::as_str);
                let failed = if *failed { "← failed" } else { "←" };
                for leaf in shown.iter_mut().skip(number).take(count) {
                    leaf.mark = format!("{failed} {of} {}", leaf.mark).trim_end().to_owned();
                    leaf.short = "←";
                    if leaf.item.kind == ItemKind::Text {
                        leaf.item.kind = ItemKind::Result;
                    }
                }
            }
            number += count;
        }
    }
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Returns the beginning of a text on one line.
fn first_words(text: &str) -> String {
    let short = stub::head(text, WORDS);
    let mut out: String = short.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() {
        out.push('…');
    }
    out
}
