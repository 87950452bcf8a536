//! Form of a preamble in a request: system text with operator or safety authority, tools, and a first message that
//! contains all other texts in fences.

use crate::form::{fence, stub};
use crate::planning::cost;
use crate::planning::plan::Fixed;
use crate::ports::{Bodies, CostModel};
use crate::record::budget::Treatment;
use crate::record::message::{Body, Message, MessageOrigin, Part, Role};
use crate::record::preamble::{Inclusion, Preamble, PreambleBlock, ToolBlock};
use crate::record::request::{CachePoint, Tool};
use crate::rendering::line::SourceLine;
use crate::source::authority::Authority;
use crate::source::section::Section;
use crate::units::{Cost, Tokens};

/// A preamble in the form of a request. The bodies of the preamble may still be in blobs.
#[derive(Clone, Debug, Default)]
pub struct PreambleText<'p> {
    /// System text that precedes the transcript's own system text.
    pub safety: Vec<Part>,
    /// System text that follows the transcript's own system text.
    pub system: Vec<Part>,
    /// Tools that are declared.
    pub tools: Vec<&'p ToolBlock>,
    /// First message; `None` if it would be empty.
    pub message: Option<Message>,
    /// Source and cost of each part. The costs add up to the cost of the whole preamble.
    pub lines: Vec<SourceLine>,
}

/// Converts a preamble into the form of a request.
#[must_use]
pub fn preamble_text<'p>(preamble: &'p Preamble, costs: &dyn CostModel) -> PreambleText<'p> {
    let mut text = PreambleText::default();
    let shown = || preamble.blocks.iter().filter(|block| block.shown != Inclusion::Out);
    for block in shown().filter(|block| block.authority.commands()) {
        let heading = fence::heading(block).map(Part::text);
        let parts: Vec<Part> = heading.into_iter().chain([text_part(block)]).collect();
        text.lines.push(line(block, parts.iter().map(|part| cost::part(part, costs)).sum()));
        let place = if block.section == Section::Safety { &mut text.safety } else { &mut text.system };
        place.extend(parts);
    }
    for tool in preamble.tools.iter().filter(|tool| tool.deferred.is_none()) {
        let cost = cost::tool_block(tool, costs);
        text.lines.push(SourceLine::outside(Section::Tools, format!("tool {}", tool.name), cost));
        text.tools.push(tool);
    }
    let fenced: Vec<&PreambleBlock> = shown().filter(|block| !block.authority.commands()).collect();
    let mut first = Enclosure { costs, parts: Vec::new(), lines: Vec::new() };
    // The names of deferred tools are placed between the fenced texts, at the place of their section.
    let before = fenced.partition_point(|block| block.section < Section::Tools);
    let (before, after) = fenced.split_at(before);
    before.chunk_by(|a, b| in_one_fence(a, b)).for_each(|group| first.add(group));
    if let Some(names) = deferred_names(preamble) {
        first.add(&[&names]);
    }
    after.chunk_by(|a, b| in_one_fence(a, b)).for_each(|group| first.add(group));
    if let Some(line) = first.lines.first_mut() {
        line.cost += cost::frame(costs);
        let message = Message::new(Role::User, first.parts);
        text.message = Some(message.standing(MessageOrigin::Injected("preamble".into())));
    }
    text.lines.append(&mut first.lines);
    text
}

/// Returns the cost of a preamble, part by part.
#[must_use]
pub fn fixed(preamble: &Preamble, costs: &dyn CostModel) -> Vec<Fixed> {
    let lines = preamble_text(preamble, costs).lines.into_iter();
    lines.map(|line| Fixed { section: line.section, what: line.what, cost: line.cost }).collect()
}

/// Returns the places up to which a provider can cache, if it caches nothing shorter than `min` tokens. `further` is
/// the number of tokens in the transcript's system text, which also precedes the preamble's own message.
#[must_use]
pub fn cache_points(
    preamble: &Preamble,
    costs: &dyn CostModel,
    min: Tokens,
    further: Tokens,
) -> Vec<CachePoint> {
    let text = preamble_text(preamble, costs);
    let all: Tokens = text.lines.iter().map(|line| line.cost.tokens).sum();
    let message = text.message.as_ref().map_or(Tokens::ZERO, |said| cost::message(said, costs).tokens);
    let own = all.saturating_sub(message);
    let mut points = Vec::new();
    if own + further >= min {
        let has_system = further > Tokens::ZERO || !(text.safety.is_empty() && text.system.is_empty());
        points.push(if has_system { CachePoint::System } else { CachePoint::Tools });
    }
    if text.message.is_some() && all + further >= min {
        points.push(CachePoint::Preamble);
    }
    points
}

/// Returns a tool as a request declares it.
#[must_use]
pub fn declared(tool: &ToolBlock, bodies: &dyn Bodies) -> Tool {
    let text = |body: &Body, gone: &str| bodies.of(body).unwrap_or(gone).into();
    Tool {
        name: tool.name.clone(),
        description: text(&tool.description, stub::ERASED),
        schema: text(&tool.schema, stub::ERASED_JSON),
        extra: tool.extra.clone(),
    }
}

/// Parts of the first message.
struct Enclosure<'g> {
    costs: &'g dyn CostModel,
    parts: Vec<Part>,
    lines: Vec<SourceLine>,
}

impl Enclosure<'_> {
    /// Adds a fence around a run of blocks. The cost of the fence is counted with the first block.
    fn add(&mut self, group: &[&PreambleBlock]) {
        let (open, close) = fence::fence(group);
        let (open, close) = (Part::text(open), Part::text(close));
        let mut fence = cost::part(&open, self.costs) + cost::part(&close, self.costs);
        self.parts.push(open);
        for block in group {
            let part = text_part(block);
            let cost = cost::part(&part, self.costs) + std::mem::take(&mut fence);
            self.lines.push(line(block, cost));
            self.parts.push(part);
        }
        self.parts.push(close);
    }
}

/// Returns whether two blocks share a fence. Lists share a fence; a text that is shown has its own fence.
fn in_one_fence(a: &PreambleBlock, b: &PreambleBlock) -> bool {
    a.is_listed() && b.is_listed() && a.section == b.section && a.authority == b.authority
}

fn text_part(block: &PreambleBlock) -> Part {
    Part::Text { text: block.text.clone(), extra: None }
}

fn line(block: &PreambleBlock, cost: Cost) -> SourceLine {
    SourceLine {
        treatment: if block.shown == Inclusion::Cut { Treatment::Clipped } else { Treatment::Verbatim },
        handle: block.body.as_ref().unwrap_or(&block.text).handle(),
        ..SourceLine::outside(block.section, block.name.to_string(), cost)
    }
}

/// Returns the names of the tools that are not declared, as one text.
fn deferred_names(preamble: &Preamble) -> Option<PreambleBlock> {
    let names: Vec<&str> =
        preamble.tools.iter().filter(|tool| tool.deferred.is_some()).map(|tool| tool.name.as_ref()).collect();
    if names.is_empty() {
        return None;
    }
    let what = match names.len() {
        1 => "the name of a deferred tool".to_owned(),
        count => format!("the names of {count} deferred tools"),
    };
    let text = Body::Inline(names.join(", "));
    // The names are for the model to choose from; they are not commands.
    Some(PreambleBlock { authority: Authority::Data, ..PreambleBlock::new(Section::Tools, &what, "", text) })
}
