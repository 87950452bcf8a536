//! What there is room for: schemas and texts in the order in which they are served, the last one cut.

use crate::allocate::Shares;
use crate::authority::InstructionLevel;
use crate::cost;
use crate::fence;
use crate::instruction::LoadReason;
use crate::message::{Body, Part};
use crate::ports::{Bodies, CostModel};
use crate::preamble::{Deferral, Inclusion, PreambleBlock, ToolBlock};
use crate::stub;
use crate::units::{Cost, Tokens};
use crate::view::View;
use std::collections::BTreeSet;

/// What a decision needs beside the offer.
#[derive(Clone, Copy)]
pub struct ComposeInput<'a> {
    /// What the sections may use.
    pub limit: Tokens,
    /// Who may take how much of it.
    pub shares: &'a Shares,
    /// What texts cost.
    pub costs: &'a dyn CostModel,
    /// The texts that were offered, for those that must be cut.
    pub bodies: &'a dyn Bodies,
    /// Takes in a text, for those that were cut.
    pub pack: &'a dyn Fn(String) -> Body,
    /// From how many tokens on the provider caches where it is told to; none if it is not told.
    pub cache: Option<Tokens>,
}

/// A text is cut only if so many tokens of it are left; less than that says little.
const MIN_CUT: Tokens = Tokens(256);
/// A text shorter than this is not cut. Whoever records it may keep it in place, where it has no handle to read the rest by.
const MIN_WHOLE: usize = 1_024;

/// A block as it was offered.
pub(crate) fn whole(block: &PreambleBlock) -> PreambleBlock {
    let mut whole = PreambleBlock { shown: Inclusion::Whole, ..block.clone() };
    if block.shown == Inclusion::Cut {
        whole.text = block.offered().clone();
        whole.body = None;
    }
    whole
}

/// The tools the view has calls of.
pub(crate) fn called(view: &View) -> BTreeSet<Box<str>> {
    let sent = view.entries().filter(|entry| entry.message.standing.is_sendable());
    let parts = sent.flat_map(|entry| &entry.message.parts);
    let names = parts.filter_map(|part| match part {
        Part::ToolCall { name, .. } => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// The tools that a conversation calls, where nobody says which there are: providers take no calls of tools that are not
/// declared. Any object is their input.
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

/// The schema of a tool that nobody described.
const ANY_OBJECT: &str = r#"{"type":"object","additionalProperties":true}"#;

/// As many schemas as fit, those of tools that have been called first; of the others the name is left.
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
    // The name alone says nothing of a tool that nobody offers; but one has to be declared where any is called.
    if let Some(first) = tools.first_mut().filter(|tool| tool.inferred) {
        first.deferred = None;
    }
    tools.retain(|tool| !tool.inferred || tool.deferred.is_none());
    tools
}

/// How early a block is served: what commands first, then from the person to the project, the closest directory before
/// those further out, what a scan turned up last.
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

/// As many texts as fit; the first that does not is cut if enough of it remains.
pub(crate) fn fit(
    mut blocks: Vec<PreambleBlock>,
    room: Tokens,
    input: &ComposeInput<'_>,
) -> Vec<PreambleBlock> {
    let mut order: Vec<(usize, (u8, u8, isize))> =
        blocks.iter().enumerate().map(|(index, block)| (index, turn(block, index))).collect();
    order.sort_by_key(|(_, turn)| *turn);
    let (mut left, mut may_cut) = (room, true);
    for (index, _) in order {
        let Some(block) = blocks.get_mut(index) else { continue };
        let cost = cost::block(block, input.costs).tokens;
        if cost <= left || block.authority.commands() {
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

/// Cuts a text to what fits, at the end of a line. False if too little of it would be left.
fn cut(block: &mut PreambleBlock, room: Tokens, input: &ComposeInput<'_>) -> bool {
    if room < MIN_CUT {
        return false;
    }
    let text = input.bodies.of(&block.text).filter(|text| text.len() >= MIN_WHOLE);
    let Some(text) = text else { return false };
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
