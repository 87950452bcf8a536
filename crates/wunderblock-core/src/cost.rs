//! What an entry takes up in a request, verbatim and as a stub.
//!
//! Strings of a request are counted one by one, as they stand in the encoded body; the frames below cover what Anthropic
//! Messages and OpenAI chat completions add around them, so that a sum of these costs is never below an independent count
//! of the encoded request. Their tokens are for the string values a dialect adds (roles, type names), counted with
//! o200k; their bytes are for keys and punctuation as well.

use crate::decision::{PartForm, PartPosition, Trim};
use crate::message::{Body, Extra, MediaForm, Message, Part};
use crate::pair::{Exchange, ExchangeKind};
use crate::ports::{Bodies, Gauge};
use crate::presentation;
use crate::stub;
use crate::units::{Bytes, Cost, Tokens};
use crate::view::{View, ViewEntry};

/// Around a message: its role, one token (`user`, `assistant`, `tool`, `system`, `developer`), and the mark of a cached
/// prefix on one of its blocks, `ephemeral` with a lifetime, four.
pub const MESSAGE_FRAME: Cost = Cost::new(6, 96);
/// Around a text or thinking block: its type, one token; a block of system text can bear a cache mark as well.
/// The longest form is Anthropic's thinking block, 49 bytes.
pub const TEXT_FRAME: Cost = Cost::new(5, 80);
/// Around a tool call or result, its id and name not counted: `tool_use`, `tool_result` or `function`, at most two
/// tokens; the rest is for a word that says a result is a failure, in a dialect with no field for it. The longest form
/// is a chat completion's call in a list of its own, 97 bytes.
pub const TOOL_FRAME: Cost = Cost::new(12, 160);
/// Around a medium, its MIME type not counted: `image` and `base64`, or `image_url` and a level of detail, at most four
/// tokens; the rest is for the words that say whose it is, where a dialect moves a medium out of a tool result.
pub const MEDIA_FRAME: Cost = Cost::new(24, 160);
/// Around a tool's schema: `function`, or a cache mark.
pub const SCHEMA_FRAME: Cost = Cost::new(16, 128);
/// What a picture is taken to cost: a square of 1,568 px, the longest edge Anthropic's documentation lets stand, at its
/// width × height / 750 tokens, rounded up to the next hundred. Its smaller ceiling for the area is not relied on.
pub const MEDIA_TOKENS: Tokens = Tokens(3_300);
/// What stands in for a result that was never recorded costs at most, the call's id not counted.
pub const SYNTHETIC_COST: Cost = Cost::new(64, 512);

/// An entry's cost in either form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryCost {
    /// Word for word.
    pub verbatim: Cost,
    /// With its large bodies as stubs, and without thinking.
    pub stub: Cost,
}

impl std::ops::AddAssign for EntryCost {
    fn add_assign(&mut self, other: Self) {
        self.verbatim += other.verbatim;
        self.stub += other.stub;
    }
}

/// What a part costs in either form, its frame included. `gist` says what a tool result is a result of.
#[must_use]
pub fn forms(piece: &Part, gauge: &dyn Gauge, gist: Option<&str>) -> EntryCost {
    let verbatim = part(piece, gauge);
    let stub = match stub::part(piece, gist) {
        stub::Stubbed::Kept => verbatim,
        stub::Stubbed::Gone => Cost::ZERO,
        stub::Stubbed::Part(short) => part(&short, gauge),
    };
    EntryCost { verbatim, stub }
}

/// What a message costs word for word, its frame included.
#[must_use]
pub fn message(message: &Message, gauge: &dyn Gauge) -> Cost {
    let parts: Cost = message.parts.iter().map(|piece| part(piece, gauge)).sum();
    frame(gauge) + extra(&message.extra, gauge) + parts
}

/// Around a message, for this model.
#[must_use]
pub fn frame(gauge: &dyn Gauge) -> Cost {
    MESSAGE_FRAME + Cost { tokens: gauge.framing().message, ..Cost::ZERO }
}

/// What one part costs, its frame included.
#[must_use]
pub fn part(piece: &Part, gauge: &dyn Gauge) -> Cost {
    match piece {
        Part::Text { text, extra: more } => TEXT_FRAME + body(text, gauge) + extra(more, gauge),
        Part::Thinking { text, signature, extra: more } => {
            let signed = signature.as_deref().map_or(Cost::ZERO, |signature| gauge.text(signature));
            TEXT_FRAME + body(text, gauge) + signed + extra(more, gauge)
        }
        Part::ToolCall { call, name, input, extra: more, .. } => {
            TOOL_FRAME
                + Cost { tokens: gauge.framing().call, ..Cost::ZERO }
                + gauge.text(call.as_str())
                + gauge.text(name)
                + json_body(input, gauge)
                + extra(more, gauge)
        }
        Part::ToolResult { call, content, extra: more, .. } => {
            TOOL_FRAME
                + gauge.text(call.as_str())
                + content.iter().map(|inner| part(inner, gauge)).sum()
                + extra(more, gauge)
        }
        Part::Media { mime, body: data, form, extra: more } => {
            let picture = Cost { tokens: MEDIA_TOKENS, ..Cost::ZERO };
            // A name of data is text of the request; the data itself is not.
            let size = match form {
                MediaForm::Base64 => Cost { bytes: data.bytes(), ..Cost::ZERO },
                MediaForm::Url | MediaForm::File => body(data, gauge),
            };
            MEDIA_FRAME + picture + size + gauge.text(mime) + extra(more, gauge)
        }
        Part::Opaque { raw, .. } => TEXT_FRAME + json_body(raw, gauge),
    }
}

/// What an exchange costs in either form, never below what [`crate::render::measure`] finds of it.
#[must_use]
pub fn exchange(exchange: &Exchange, trim: &Trim, view: &View, gauge: &dyn Gauge) -> EntryCost {
    let mut total = EntryCost::default();
    let priced = presentation::Priced { trim, view, gauge };
    let forms = |at: PartPosition, piece: &Part, gist: Option<&str>| {
        let verbatim = presentation::cost(at, piece, priced, gist);
        // A mark that nothing is left stays what it is in an exchange of stubs.
        let is_mark = trim.form_of(at) == Some(PartForm::Placeholder);
        EntryCost { verbatim, stub: if is_mark { verbatim } else { forms(piece, gauge, gist).stub } }
    };
    for said in exchange.speakers.iter().filter_map(|seq| view.entry(*seq)) {
        total += both(frame(gauge));
        for (index, piece) in said.message.parts.iter().enumerate() {
            if !matches!(piece, Part::ToolResult { .. }) && gauge.refuses(piece).is_none() {
                total += forms((said.seq, index), piece, None);
            }
        }
        if is_marked_alone(said, trim, gauge) {
            total += both(part(&presentation::mark(), gauge));
        }
    }
    let ExchangeKind::Exchange { calls } = &exchange.shape else { return total };
    if !calls.is_empty() {
        total += both(frame(gauge));
    }
    for call in calls {
        total += match call.result.and_then(|place| Some((place, view.part(place)?))) {
            Some((place, piece)) => forms(place, piece, gist(view.part(call.place))),
            None => both(SYNTHETIC_COST + gauge.text(call.id.as_str())),
        };
        if call.name != call.id {
            let name = gauge.text(call.name.as_str());
            total += both(name + name);
        }
        // Each result may become a message of its own, in a dialect that wants it so.
        total += both(frame(gauge));
    }
    total
}

/// Whether an entry is shown by a mark for which no part of it stands: it has none, or the dialect has no form for it.
pub(crate) fn is_marked_alone(said: &ViewEntry, trim: &Trim, gauge: &dyn Gauge) -> bool {
    trim.mark_of(said.seq)
        .is_some_and(|index| said.message.parts.get(index).is_none_or(|piece| gauge.refuses(piece).is_some()))
}

/// What a summary costs at most, its fence included.
#[must_use]
pub fn node(node: &crate::view::SummaryNode, gauge: &dyn Gauge) -> Cost {
    frame(gauge) + crate::fence::SUMMARY_FRAME + TEXT_FRAME + TEXT_FRAME + text(&node.text, gauge)
}

/// What an exchange of the user's words costs when its texts are clipped.
#[must_use]
pub fn clipped(
    exchange: &Exchange,
    trim: &Trim,
    view: &View,
    gauge: &dyn Gauge,
    bodies: &dyn Bodies,
) -> Cost {
    let mut total = Cost::ZERO;
    for said in exchange.speakers.iter().filter_map(|seq| view.entry(*seq)) {
        total += frame(gauge);
        let clip = trim.clip_of(said.seq);
        for piece in said.message.own_parts().filter(|piece| gauge.refuses(piece).is_none()) {
            let short = clip.and_then(|bytes| stub::clip(piece, bytes, bodies));
            total += part(short.as_ref().unwrap_or(piece), gauge);
        }
    }
    total
}

/// The gist of a call.
pub(crate) fn gist(call: Option<&Part>) -> Option<&str> {
    match call {
        Some(Part::ToolCall { gist, .. }) => gist.as_deref(),
        _ => None,
    }
}

fn both(cost: Cost) -> EntryCost {
    EntryCost { verbatim: cost, stub: cost }
}

/// What a tool's schema costs.
#[must_use]
pub fn tool(tool: &crate::request::Tool, gauge: &dyn Gauge) -> Cost {
    SCHEMA_FRAME
        + gauge.text(&tool.name)
        + gauge.text(&tool.description)
        + gauge.json(&tool.schema)
        + extra(&tool.extra, gauge)
}

/// What a tool of a preamble costs: what [`tool`] finds of it.
#[must_use]
pub fn tool_block(tool: &crate::preamble::ToolBlock, gauge: &dyn Gauge) -> Cost {
    SCHEMA_FRAME
        + gauge.text(&tool.name)
        + body(&tool.description, gauge)
        + json_body(&tool.schema, gauge)
        + extra(&tool.extra, gauge)
}

/// What a text of a preamble costs, the lines of its fence included.
#[must_use]
pub fn block(block: &crate::preamble::PreambleBlock, gauge: &dyn Gauge) -> Cost {
    let (open, close) = crate::fence::fence(&[block]);
    TEXT_FRAME + body(&block.text, gauge) + TEXT_FRAME + gauge.text(&open) + TEXT_FRAME + gauge.text(&close)
}

/// What a text costs at the tail, about: its fence is not counted.
pub(crate) fn text(text: &Body, gauge: &dyn Gauge) -> Cost {
    TEXT_FRAME + body(text, gauge)
}

fn body(body: &Body, gauge: &dyn Gauge) -> Cost {
    match body {
        Body::Inline(text) => gauge.text(text),
        Body::Blob { blob, .. } => gauge.blob(*blob),
    }
}

fn json_body(body: &Body, gauge: &dyn Gauge) -> Cost {
    match body {
        Body::Inline(text) => gauge.json(text),
        Body::Blob { blob, .. } => gauge.json_blob(*blob),
    }
}

/// What unknown fields cost.
pub(crate) fn extra(extra: &Extra, gauge: &dyn Gauge) -> Cost {
    extra.as_deref().map_or(Cost::ZERO, |text| gauge.json(text) + Cost { tokens: Tokens(2), bytes: Bytes(8) })
}
