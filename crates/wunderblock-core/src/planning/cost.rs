//! Cost of an entry in a request, verbatim and as a stub.
//!
//! The strings of a request are counted one by one, as they are in the encoded body. The frames below cover what the
//! providers' formats add around the strings, so that a sum of these costs is never below an independent count of the
//! encoded request. The tokens of a frame are for the string values that a dialect adds (roles, type names), counted
//! with o200k. The bytes of a frame also cover keys and punctuation.

use crate::form::{fence, stub};
use crate::lane::pair::{Exchange, ExchangeKind};
use crate::lane::view::{View, ViewEntry};
use crate::planning::presentation;
use crate::ports::{Bodies, CostModel};
use crate::record::budget::Reason;
use crate::record::decision::{Injection, PartForm, PartPosition, Trim};
use crate::record::message::{Body, Extra, MediaForm, Message, Part, Role};
use crate::units::{Bytes, Cost, Tokens};

/// Frame of a message: its role takes one token (`user`, `assistant`, `tool`, `system`, `developer`, `model`); its
/// type takes one more, or the mark of a cached prefix on one of its blocks (`ephemeral` with a lifetime) takes four.
pub const MESSAGE_FRAME: Cost = Cost::new(6, 96);
/// Frame of a text or thinking block: its type, at most two tokens (`input_text`). A block of system text can have a
/// cache mark as well. The longest forms are Anthropic's thinking block, 49 bytes, and a text of the model in OpenAI
/// responses, at most 80 bytes: a separate message with `message`, `assistant` and its phase.
pub const TEXT_FRAME: Cost = Cost::new(5, 80);
/// Frame of a tool call or result, without id and name: `tool_use`, `tool_result`, `function` or
/// `function_call_output`, at most four tokens. The remaining tokens are for a word that marks a result as failed in
/// a dialect without a field for that, or for Gemini's stand-in for the signature of a call (eight tokens). The
/// longest form is Gemini's stand-in for a signature, with 98 bytes.
pub const TOOL_FRAME: Cost = Cost::new(12, 160);
/// Frame of a medium, without its MIME type: `image` and `base64`, or `image_url` and a level of detail, at most four
/// tokens. The remaining tokens are for the words that name the call if a dialect moves a medium out of a tool
/// result.
pub const MEDIA_FRAME: Cost = Cost::new(24, 160);
/// Frame of a tool's schema: `function`, a cache mark, or the schema for a tool without one.
pub const SCHEMA_FRAME: Cost = Cost::new(16, 128);
/// Assumed number of tokens in a picture: a square of 1,568 px (the longest edge that Anthropic's documentation
/// allows), at the documented width × height / 750 tokens, rounded up to the next hundred. The calculation does not
/// rely on Anthropic's smaller limit for the area.
pub const MEDIA_TOKENS: Tokens = Tokens(3_300);
/// Maximum cost of the stand-in for a result that was never recorded, without the id of the call.
pub const SYNTHETIC_COST: Cost = Cost::new(64, 512);

/// Cost of an entry, verbatim and as a stub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryCost {
    /// Cost of the verbatim form.
    pub verbatim: Cost,
    /// Cost with large bodies as stubs, and without thinking.
    pub stub: Cost,
}

impl std::ops::AddAssign for EntryCost {
    fn add_assign(&mut self, other: Self) {
        self.verbatim += other.verbatim;
        self.stub += other.stub;
    }
}

/// Returns the cost of a part, verbatim and as a stub, including its frame. `gist` describes the call of a tool
/// result.
#[must_use]
pub fn forms(piece: &Part, costs: &dyn CostModel, gist: Option<&str>) -> EntryCost {
    EntryCost { verbatim: part(piece, costs), stub: stubbed(piece, &stub::part(piece, gist), costs) }
}

/// Returns the cost of a part in a given form.
pub(crate) fn stubbed(piece: &Part, form: &stub::Stubbed, costs: &dyn CostModel) -> Cost {
    form.shown(piece).map_or(Cost::ZERO, |shown| part(shown, costs))
}

/// Returns the cost of a message word for word, including its frame.
#[must_use]
pub fn message(message: &Message, costs: &dyn CostModel) -> Cost {
    let parts: Cost = message.parts.iter().map(|piece| part(piece, costs)).sum();
    frame(costs) + extra(&message.extra, costs) + parts
}

/// Returns the cost of what a request under a trim holds of an entry: the parts that are sent, in a message without the
/// fields of the recorded one.
#[must_use]
pub fn sent(entry: &ViewEntry, trim: &Trim, costs: &dyn CostModel) -> Cost {
    let parts = entry.message.parts.iter().enumerate();
    let parts = parts.filter(|(index, piece)| missing(entry, *index, piece, trim, costs).is_none());
    frame(costs) + parts.map(|(_, piece)| part(piece, costs)).sum()
}

/// Returns the cost of a text that enters at the tail in its own message.
#[must_use]
pub fn injection(item: &Injection, costs: &dyn CostModel) -> Cost {
    message(&fence::injected(std::slice::from_ref(item)), costs)
}

/// Returns the frame of a message for this model.
#[must_use]
pub fn frame(costs: &dyn CostModel) -> Cost {
    MESSAGE_FRAME + Cost { tokens: costs.framing().message, ..Cost::ZERO }
}

/// Returns the cost of one part, including its frame.
#[must_use]
pub fn part(piece: &Part, costs: &dyn CostModel) -> Cost {
    match piece {
        Part::Text { text, extra: more } => TEXT_FRAME + body(text, costs) + extra(more, costs),
        Part::Thinking { text, signature, extra: more } => {
            let signed = signature.as_deref().map_or(Cost::ZERO, |signature| costs.text(signature));
            TEXT_FRAME + body(text, costs) + signed + extra(more, costs)
        }
        Part::ToolCall { call, name, input, extra: more, .. } => {
            TOOL_FRAME
                + Cost { tokens: costs.framing().call, ..Cost::ZERO }
                + costs.text(call.as_str())
                + costs.text(name)
                + json_body(input, costs)
                + extra(more, costs)
        }
        Part::ToolResult { call, content, extra: more, .. } => {
            TOOL_FRAME
                + costs.text(call.as_str())
                + sent_content(content, costs).map(|inner| part(inner, costs)).sum()
                + extra(more, costs)
        }
        Part::Media { mime, body: data, form, extra: more } => {
            let picture = Cost { tokens: MEDIA_TOKENS, ..Cost::ZERO };
            // A URL or file id counts as text of the request. Base64 data is not text, so it costs bytes only.
            let size = match form {
                MediaForm::Base64 => Cost { bytes: data.bytes(), ..Cost::ZERO },
                MediaForm::Url | MediaForm::File => body(data, costs),
            };
            MEDIA_FRAME + picture + size + costs.text(mime) + extra(more, costs)
        }
        Part::Opaque { raw, .. } => TEXT_FRAME + json_body(raw, costs),
    }
}

/// Returns the parts of a result's content for which the model's dialect has a place.
fn sent_content<'a>(content: &'a [Part], costs: &dyn CostModel) -> impl Iterator<Item = &'a Part> {
    content.iter().filter(|inner| costs.refuses(Role::Tool, inner).is_none())
}

/// Returns the cost of an exchange, verbatim and as a stub; it is never below the cost that
/// [`crate::rendering::render::measure`] finds.
#[must_use]
pub fn exchange(exchange: &Exchange, trim: &Trim, view: &View, costs: &dyn CostModel) -> EntryCost {
    let priced = presentation::Priced { trim, view, costs };
    of_exchange(exchange, priced, &|at, piece, gist| {
        let verbatim = presentation::cost(at, piece, priced, gist);
        // A placeholder stays a placeholder in an exchange of stubs.
        let is_mark = trim.form_of(at) == Some(PartForm::Placeholder);
        EntryCost { verbatim, stub: if is_mark { verbatim } else { forms(piece, costs, gist).stub } }
    })
}

/// Returns the cost of an exchange whose long texts are shown as head and tail.
#[must_use]
pub fn clipped(
    exchange: &Exchange,
    trim: &Trim,
    view: &View,
    costs: &dyn CostModel,
    bodies: &dyn Bodies,
) -> Cost {
    let priced = presentation::Priced { trim, view, costs };
    let clipped = |at: PartPosition, piece: &Part, gist: Option<&str>| {
        let form = presentation::clipped(at, piece, priced, gist, bodies);
        both(stubbed(piece, &form, costs))
    };
    of_exchange(exchange, priced, &clipped).verbatim
}

/// Cost of a part in an exchange, given the gist of the call if the part is a result.
type CostOfPart<'a> = dyn Fn(PartPosition, &Part, Option<&str>) -> EntryCost + 'a;

fn of_exchange(exchange: &Exchange, priced: presentation::Priced<'_>, forms: &CostOfPart<'_>) -> EntryCost {
    let presentation::Priced { trim, view, costs } = priced;
    let mut total = EntryCost::default();
    for said in exchange.speakers.iter().filter_map(|seq| view.entry(*seq)) {
        total += both(frame(costs));
        for (index, piece) in said.message.parts.iter().enumerate() {
            if !matches!(piece, Part::ToolResult { .. }) && missing(said, index, piece, trim, costs).is_none()
            {
                total += forms((said.seq, index), piece, None);
            }
        }
        if is_marked_alone(said, trim, costs) {
            total += both(part(&presentation::mark(), costs));
        }
        total += both(fenced(said, costs));
    }
    let ExchangeKind::Exchange { calls } = &exchange.shape else { return total };
    if !calls.is_empty() {
        total += both(frame(costs));
    }
    for call in calls {
        total += match call.result.and_then(|place| Some((place, view.part(place)?))) {
            Some((place, piece)) => forms(place, piece, gist(view.part(call.place))),
            None => both(SYNTHETIC_COST + costs.text(call.id.as_str())),
        };
        if call.name != call.id {
            let name = costs.text(call.name.as_str());
            total += both(name + name);
        }
        // Each result may become a separate message, in a dialect that requires it.
        total += both(frame(costs));
    }
    total
}

/// Returns whether an entry is shown by its mark alone: it has no part, or the marked part is not sent.
pub(crate) fn is_marked_alone(said: &ViewEntry, trim: &Trim, costs: &dyn CostModel) -> bool {
    trim.mark_of(said.seq).is_some_and(|index| {
        let is_gone = |piece| missing(said, index, piece, trim, costs).is_some();
        said.message.parts.get(index).is_none_or(is_gone)
    })
}

/// Returns the cost of the fence around an entry; zero for an entry without a fence.
fn fenced(said: &ViewEntry, costs: &dyn CostModel) -> Cost {
    let fence = crate::form::fence::output(&said.message);
    fence.map_or(Cost::ZERO, |(open, close)| part(&open, costs) + part(&close, costs))
}

/// Returns the reason why a part of a shown entry is not in the request.
pub(crate) fn missing(
    entry: &ViewEntry,
    index: usize,
    piece: &Part,
    trim: &Trim,
    costs: &dyn CostModel,
) -> Option<Reason> {
    let refused = costs.refuses(entry.message.role, piece);
    refused.or_else(|| crate::lane::trim::withheld((entry.seq, index), piece, trim))
}

/// Returns the maximum cost of a summary, including its fence.
#[must_use]
pub fn node(node: &crate::lane::view::SummaryNode, costs: &dyn CostModel) -> Cost {
    summary(&node.text, costs)
}

/// Returns the maximum cost of a summary with the given text, including its fence.
#[must_use]
pub fn summary(said: &Body, costs: &dyn CostModel) -> Cost {
    frame(costs) + crate::form::fence::SUMMARY_FRAME + TEXT_FRAME + TEXT_FRAME + text(said, costs)
}

/// Returns the gist of a call.
pub(crate) fn gist(call: Option<&Part>) -> Option<&str> {
    match call {
        Some(Part::ToolCall { gist, .. }) => gist.as_deref(),
        _ => None,
    }
}

fn both(cost: Cost) -> EntryCost {
    EntryCost { verbatim: cost, stub: cost }
}

/// Returns the cost of a tool's schema.
#[must_use]
pub fn tool(tool: &crate::record::request::Tool, costs: &dyn CostModel) -> Cost {
    SCHEMA_FRAME
        + costs.text(&tool.name)
        + costs.text(&tool.description)
        + costs.json(&tool.schema)
        + extra(&tool.extra, costs)
}

/// Returns the cost of a tool in a preamble, equal to the cost that [`tool`] finds for the same tool.
#[must_use]
pub fn tool_block(tool: &crate::record::preamble::ToolBlock, costs: &dyn CostModel) -> Cost {
    SCHEMA_FRAME
        + costs.text(&tool.name)
        + body(&tool.description, costs)
        + json_body(&tool.schema, costs)
        + extra(&tool.extra, costs)
}

/// Returns the cost of a text in a preamble, including the lines of its fence.
#[must_use]
pub fn block(block: &crate::record::preamble::PreambleBlock, costs: &dyn CostModel) -> Cost {
    let (open, close) = crate::form::fence::fence(&[block]);
    TEXT_FRAME + body(&block.text, costs) + TEXT_FRAME + costs.text(&open) + TEXT_FRAME + costs.text(&close)
}

/// Returns the cost of the texts of one section of a preamble. The lines of a list have one fence together.
pub(crate) fn blocks(blocks: &[crate::record::preamble::PreambleBlock], costs: &dyn CostModel) -> Cost {
    let is_list = blocks.iter().all(crate::record::preamble::PreambleBlock::is_listed);
    let cost = |(at, one): (usize, &crate::record::preamble::PreambleBlock)| {
        if is_list && at > 0 { text(&one.text, costs) } else { block(one, costs) }
    };
    blocks.iter().enumerate().map(cost).sum()
}

/// Returns the approximate cost of a text at the tail, without its fence.
pub(crate) fn text(text: &Body, costs: &dyn CostModel) -> Cost {
    TEXT_FRAME + body(text, costs)
}

fn body(body: &Body, costs: &dyn CostModel) -> Cost {
    match body {
        Body::Inline(text) => costs.text(text),
        Body::Blob { blob, .. } => costs.blob(*blob),
    }
}

fn json_body(body: &Body, costs: &dyn CostModel) -> Cost {
    match body {
        Body::Inline(text) => costs.json(text),
        Body::Blob { blob, .. } => costs.json_blob(*blob),
    }
}

/// Returns the cost of unknown fields.
pub(crate) fn extra(extra: &Extra, costs: &dyn CostModel) -> Cost {
    let own = costs.fields(extra);
    if own == Cost::ZERO { own } else { own + Cost { tokens: Tokens(2), bytes: Bytes(8) } }
}
