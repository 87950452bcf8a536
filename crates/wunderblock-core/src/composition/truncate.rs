//! Fitting of schemas and texts into the available room, in the order of their priority. The last text is cut.

use crate::composition::allocate::{Shares, key};
use crate::form::{fence, stub};
use crate::lane::view::View;
use crate::planning::cost;
use crate::ports::{Bodies, CostModel};
use crate::record::message::{Body, Part};
use crate::record::preamble::{Deferral, Inclusion, Preamble, PreambleBlock, ToolBlock};
use crate::source::authority::InstructionLevel;
use crate::source::instruction::{Finding, FindingKind, LoadReason};
use crate::units::{Cost, Tokens};
use std::collections::BTreeSet;

/// Input for composition, in addition to the offer.
#[derive(Clone, Copy)]
pub struct ComposeInput<'a> {
    /// Maximum number of tokens that the sections may use.
    pub limit: Tokens,
    /// Shares of the sections.
    pub shares: &'a Shares,
    /// Cost of texts.
    pub costs: &'a dyn CostModel,
    /// Offered texts, needed for the texts that must be cut.
    pub bodies: &'a dyn Bodies,
    /// Stores a text that was cut, and returns its body.
    pub pack: &'a dyn Fn(String) -> Body,
    /// Minimum number of tokens that the provider caches; `None` if the provider is not told where to cache.
    pub cache: Option<Tokens>,
}

/// Minimum room, in tokens, that must be available for a text to be cut. A shorter beginning says little.
const MIN_CUT: Tokens = Tokens(256);
/// Minimum length of a text that is cut, in bytes. A shorter text may be recorded inline, without a handle by which
/// the rest can be read.
const MIN_WHOLE: usize = 1_024;

/// Returns a block as it was offered, before any cut.
pub(crate) fn whole(block: &PreambleBlock) -> PreambleBlock {
    let mut whole = PreambleBlock { shown: Inclusion::Whole, ..block.clone() };
    if block.shown == Inclusion::Cut {
        whole.text = block.offered().clone();
        whole.body = None;
    }
    whole
}

/// Returns the names of the tools that are called in the view.
pub(crate) fn called(view: &View) -> BTreeSet<Box<str>> {
    let sent = view.entries().filter(|entry| entry.message.standing.is_sendable());
    let parts = sent.flat_map(|entry| &entry.message.parts);
    let names = parts.filter_map(|part| match part {
        Part::ToolCall { name, .. } => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// Returns declarations of the tools that a conversation calls, for use when no source offers any tools. Providers
/// reject calls to undeclared tools. Any object is valid as input.
pub(crate) fn inferred(view: &View) -> Vec<ToolBlock> {
    let tool = |name| ToolBlock {
        name,
        description: Body::Inline(String::new()),
        schema: Body::Inline(ANY_OBJECT.to_owned()),
        extra: None,
        deferred: None,
        inferred: true,
    };
    called(view).into_iter().map(tool).collect()
}

/// Schema for a tool that has no description.
const ANY_OBJECT: &str = r#"{"type":"object","additionalProperties":true}"#;

/// Keeps as many schemas as fit, those of called tools first. Only the names of tools whose schemas do not fit
/// remain.
pub(crate) fn fit_tools(
    mut tools: Vec<ToolBlock>,
    room: Tokens,
    costs: &dyn CostModel,
    called: &BTreeSet<Box<str>>,
) -> Vec<ToolBlock> {
    let mut order: Vec<usize> = (0..tools.len()).collect();
    order.sort_by_key(|index| tools.get(*index).is_none_or(|tool| !called.contains(&tool.name)));
    let mut left = room;
    for index in order {
        let Some(tool) = tools.get_mut(index).filter(|tool| tool.deferred != Some(Deferral::Asked)) else {
            continue;
        };
        let cost = cost::tool_block(tool, costs).tokens;
        tool.deferred = (cost > left).then_some(Deferral::NoRoom);
        if tool.deferred.is_none() {
            left = left.saturating_sub(cost);
        }
    }
    // An inferred tool is removed, because its name alone says nothing about it. However, a request that contains
    // calls must declare at least one tool.
    if let Some(first) = tools.first_mut().filter(|tool| tool.inferred) {
        first.deferred = None;
    }
    tools.retain(|tool| !tool.inferred || tool.deferred.is_none());
    tools
}

/// Returns the priority of a block: first text with operator or safety authority, then text from the person to the
/// project, then text from directories, from the closest outwards. Files that a scan found come last in their group.
fn turn(block: &PreambleBlock, index: usize) -> (u8, u8, isize) {
    let level = match block.level {
        _ if block.authority.commands() => 0,
        Some(InstructionLevel::Managed | InstructionLevel::User | InstructionLevel::Session) => 1,
        Some(InstructionLevel::Project) => 2,
        Some(InstructionLevel::Directory) => 3,
        None => 1,
    };
    let reason = match block.reason {
        LoadReason::Scan => 2,
        LoadReason::Nested(_) | LoadReason::PathRule(_) => 1,
        _ => 0,
    };
    let index = isize::try_from(index).unwrap_or(isize::MAX);
    (level, reason, if block.level == Some(InstructionLevel::Directory) { -index } else { index })
}

/// Keeps as many texts as fit. The first text that does not fit is cut, if enough of it remains.
pub(crate) fn fit(
    mut blocks: Vec<PreambleBlock>,
    room: Tokens,
    input: &ComposeInput<'_>,
) -> Vec<PreambleBlock> {
    let mut order: Vec<(usize, (u8, u8, isize))> =
        blocks.iter().enumerate().map(|(index, block)| (index, turn(block, index))).collect();
    order.sort_by_key(|(_, turn)| *turn);
    let (mut left, mut may_cut) = (room, true);
    let is_list = blocks.iter().all(PreambleBlock::is_listed);
    let mut has_fence = false;
    for (index, _) in order {
        let Some(block) = blocks.get_mut(index) else { continue };
        // The lines of a list have one fence together.
        let cost = match is_list && has_fence {
            true => cost::text(&block.text, input.costs).tokens,
            false => cost::block(block, input.costs).tokens,
        };
        // Text with operator or safety authority is never cut, even if there is no room.
        if cost <= left || block.authority.commands() {
            has_fence = true;
            left = left.saturating_sub(cost);
            continue;
        }
        let is_cut = may_cut && !block.is_listed() && cut(block, left, input);
        if is_cut {
            left = left.saturating_sub(cost::block(block, input.costs).tokens);
        } else {
            block.shown = Inclusion::Out;
        }
        may_cut = false;
    }
    blocks
}

/// Returns findings about the texts and tools that do not fit whole into a preamble.
pub(crate) fn no_room(preamble: &Preamble) -> Vec<Finding> {
    let finding = |source: &str, detail: String| Finding {
        source: source.into(),
        line: None,
        what: FindingKind::NoRoom,
        detail: detail.into(),
    };
    let mut findings = Vec::new();
    let mut crowded = BTreeSet::new();
    for lines in preamble.blocks.chunk_by(|a, b| a.section == b.section) {
        let is_out = |block: &&PreambleBlock| block.is_listed() && block.shown == Inclusion::Out;
        let out: Vec<&PreambleBlock> = lines.iter().filter(is_out).collect();
        let [first, _, ..] = out.as_slice() else { continue };
        crowded.insert(first.section);
        let (section, count, all) = (key(first.section), out.len(), lines.len());
        let detail = format!(
            "{count} of its {all} lines are not shown, the first is `{}`: give the section `{section}` more room",
            first.name
        );
        findings.push(finding(section, detail));
    }
    for block in &preamble.blocks {
        let bytes = block.offered().bytes();
        let what = match block.shown {
            Inclusion::Whole => continue,
            Inclusion::Out if block.is_listed() && crowded.contains(&block.section) => continue,
            Inclusion::Cut => format!("only the beginning of its {bytes} bytes is shown"),
            Inclusion::Out => format!("its {bytes} bytes are not shown"),
        };
        let section = key(block.section);
        let detail = format!("{what}: shorten it, or give the section `{section}` more room");
        findings.push(finding(&block.name, detail));
    }
    let names: Vec<&str> = preamble
        .tools
        .iter()
        .filter(|tool| tool.deferred == Some(Deferral::NoRoom))
        .map(|tool| tool.name.as_ref())
        .collect();
    if let Some((first, more)) = names.split_first() {
        let others = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let why = "only the name is shown, there is no room for the schema: offer fewer tools, or give the section `tools` more room";
        findings.push(finding(&format!("tool {first}{others}"), why.to_owned()));
    }
    findings
}

/// Cuts a text at the end of a line so that it fits. Returns false if too little of the text would remain.
fn cut(block: &mut PreambleBlock, room: Tokens, input: &ComposeInput<'_>) -> bool {
    if room < MIN_CUT {
        return false;
    }
    let text = input.bodies.of(&block.text).filter(|text| text.len() >= MIN_WHOLE);
    let Some(text) = text else { return false };
    // Start with six bytes per token, and shorten until the text fits.
    let mut bytes = text.len().min(usize::try_from(room.0.saturating_mul(6)).unwrap_or(usize::MAX));
    while bytes > 256 {
        let head = stub::head(text, bytes);
        let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(head);
        let short = format!("{head}{}", fence::cut(&block.text, head.len()));
        let fits = |cost: Cost| cost.tokens <= room;
        let inline = PreambleBlock { text: Body::Inline(short.clone()), ..block.clone() };
        if fits(cost::block(&inline, input.costs)) {
            block.body = Some(std::mem::replace(&mut block.text, (input.pack)(short)));
            block.shown = Inclusion::Cut;
            return true;
        }
        bytes = bytes / 8 * 7;
    }
    false
}
