//! Composition of a lane's preamble and tail from the offer of the sources: which offers take effect, which wait, and
//! which fit.
//!
//! Sections that command (safety, system, instructions) take effect immediately. Listed sections are frozen until the
//! lane's beginning is rebuilt anyway. As long as nothing that takes effect has changed, the recorded preamble is
//! used as it is, and its texts are not processed again.

use crate::composition::allocate::allocate;
pub use crate::composition::truncate::ComposeInput;
use crate::composition::truncate::{called, fit, fit_tools, inferred, no_room, whole};
use crate::delegate::listing::ListingDelta;
use crate::lane::restate::restate;
use crate::lane::view::View;
use crate::planning::cost;
use crate::record::decision::Injection;
use crate::record::message::Body;
use crate::record::preamble::{
    ChangeKind, Deferral, IgnoreFile, Preamble, PreambleBlock, PreambleChange, Restated, ToolBlock,
};
use crate::rendering::preamble_text;
use crate::source::authority::Authority;
use crate::source::instruction::{Finding, FindingKind};
use crate::source::section::Section;
use crate::units::{Seq, Tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sections that hold texts, in the order of the request.
const TEXTS: [Section; 7] = [
    Section::Safety,
    Section::System,
    Section::Instructions,
    Section::Skills,
    Section::Agents,
    Section::PinnedMemory,
    Section::Resources,
];

/// Sections that do not change until the lane's beginning is rebuilt.
const FROZEN: [Section; 5] =
    [Section::Tools, Section::Skills, Section::Agents, Section::PinnedMemory, Section::Resources];

/// Name of the text that tells changes of the agent types.
const AGENT_CHANGES: &str = "agent types: changes since the list before the conversation";

/// Content that the sources offer for a request.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// Texts by section. An absent section keeps the texts of the lane.
    pub blocks: BTreeMap<Section, Vec<PreambleBlock>>,
    /// All instructions of the places that work has reached, from the outermost inwards, at each build.
    pub nested: Vec<PreambleBlock>,
    /// Tools, sorted by name; `None` keeps the tools of the lane.
    pub tools: Option<Vec<ToolBlock>>,
    /// Ignore rules in force; `None` keeps those of the lane.
    pub ignore: Option<Vec<IgnoreFile>>,
    /// Instruction files that a scan of the project found.
    pub scanned: Vec<Box<str>>,
    /// Findings about the sources.
    pub findings: Vec<Finding>,
    /// Whether the request describes the state of the work.
    pub says_state: bool,
    /// Whether changes to frozen sections take effect now.
    pub now: bool,
}

/// Part of an offer that a lane sends.
#[derive(Clone, Debug, Default)]
pub struct Composed {
    /// New preamble to record; `None` if the recorded one still applies.
    pub preamble: Option<Arc<Preamble>>,
    /// Sections whose tail texts become part of the preamble.
    pub takes_in: Vec<Section>,
    /// Changes since the recorded preamble; empty for the preamble of the lane's first request.
    pub changes: Vec<PreambleChange>,
    /// Changes that wait until the lane's beginning is rebuilt.
    pub pending: Vec<PreambleChange>,
    /// Instructions that enter at the tail.
    pub tail: Vec<Injection>,
    /// Findings about the sources.
    pub findings: Vec<Finding>,
}

/// Decides which parts of an offer a lane sends. `restarts` says that the lane's beginning changes anyway, so that
/// nothing needs to wait.
#[must_use]
pub fn compose(offer: &Offer, view: &View, input: &ComposeInput<'_>, restarts: bool) -> Composed {
    let recorded = view.lane().preamble();
    let base = recorded.map(Arc::as_ref);
    let nothing = Preamble::default();
    let old = base.unwrap_or(&nothing);
    let mut wanted = FullPreamble::of(offer, view, old);
    let restated = restate(view, input.bodies, restarts);
    let mut composed = Composed { findings: findings(offer, old), ..Composed::default() };
    let mut holds = wanted.commands_hold(old) && !restarts;
    let mut lists_agents = false;
    for section in FROZEN {
        let changes = wanted.changes(section, old);
        let replaces = section == Section::Tools && wanted.tools.iter().any(|tool| !tool.inferred);
        // A section with nothing to freeze can change at any time: no shown text is affected.
        let may_change = restarts || offer.now || is_empty(section, old, replaces);
        let is_agents = section == Section::Agents && offer.blocks.contains_key(&section);
        lists_agents |= is_agents && may_change;
        if is_agents && !may_change {
            match wanted.agents_said(&changes, old, view, input) {
                Ok(said) => composed.tail.extend(said),
                Err(finding) => {
                    composed.findings.push(finding);
                    composed.pending.extend(changes);
                }
            }
            wanted.freeze(section, old);
        } else if may_change {
            holds &= changes.is_empty();
        } else {
            wanted.freeze(section, old);
            composed.pending.extend(changes);
        }
    }
    // Nothing that takes effect has changed, so the recorded preamble is used and only the tail can grow.
    if holds && base.is_some() || base.is_none() && wanted.is_empty() {
        let (tail, mut crowded) = wanted.tail(old, view, input);
        composed.tail.extend(tail);
        composed.findings.append(&mut crowded);
        composed.findings.extend(no_room(old));
        if restated != old.restated {
            composed.preamble = Some(Arc::new(Preamble { restated, ..old.clone() }));
        }
        return composed;
    }
    // If earlier requests of the lane had no preamble, this one begins differently, which is a change.
    let changes = base.is_some() || view.lane().built.is_some();
    for section in TEXTS.into_iter().chain([Section::Tools]) {
        if changes {
            composed.changes.extend(wanted.changes(section, old));
        }
    }
    if changes {
        composed.changes.extend(replaced(&restated, old, view));
    }
    composed.changes.sort_by_key(|change| change.section);
    composed.changes.extend(wanted.moves(view));
    let stale = wanted.stale;
    let takes = [
        (Section::Agents, lists_agents),
        (Section::Instructions, offer.blocks.contains_key(&Section::Instructions)),
        (Section::State, offer.says_state),
    ];
    composed.takes_in = takes.into_iter().filter(|(_, takes)| *takes).map(|(section, _)| section).collect();
    // When the beginning is rebuilt, every section may be cut or shown again.
    let settled = if restarts || base.is_none() { BTreeSet::new() } else { wanted.unchanged(old) };
    let preamble = Preamble { restated, ..wanted.settle(offer, old, &settled, (input, view)) };
    composed.findings.extend(no_room(&preamble));
    // The record also makes the view forget texts at the tail that no longer match their source.
    if base != Some(&preamble) || stale {
        composed.preamble = Some(Arc::new(preamble));
    }
    composed
}

/// Returns the findings about the sources. For files that were not read again, the known findings stay.
fn findings(offer: &Offer, old: &Preamble) -> Vec<Finding> {
    let kept = old.findings.iter().filter(|known| {
        !offer.blocks.contains_key(&Section::Instructions) && !offer.findings.contains(known)
    });
    kept.chain(&offer.findings).cloned().collect()
}

/// Returns the texts of the operator that are shown in another way from now on: in whose place a later version is shown,
/// or of which an earlier request has shown something else.
fn replaced<'a>(
    restated: &'a [Restated],
    old: &'a Preamble,
    view: &'a View,
) -> impl Iterator<Item = PreambleChange> + 'a {
    let is_new = |one: &&Restated| !old.restated.contains(one);
    let was_shown = |at: Seq| view.lane().built.is_some_and(|(_, through)| at <= through);
    let altered =
        restated.iter().filter(is_new).filter(move |one| one.by.0 > one.at.0 || was_shown(one.at.0));
    let altered = altered.map(|one| format!("the text of #{}, by that of #{}", one.at.0, one.by.0));
    let is_known = |one: &&Restated| restated.iter().any(|other| other.at == one.at);
    let whole = old.restated.iter().filter(move |one| !is_known(one) && was_shown(one.at.0));
    let whole = whole.filter(|one| view.part(one.at).is_some());
    let whole = whole.map(|one| format!("the text of #{}, shown again", one.at.0));
    altered.chain(whole).map(|name| PreambleChange {
        section: Section::System,
        name: name.into(),
        how: ChangeKind::Altered,
    })
}

/// Returns whether a section has nothing to freeze. Inferred tools give way to offered tools.
fn is_empty(section: Section, old: &Preamble, replaces: bool) -> bool {
    match section {
        Section::Tools => old.tools.iter().all(|tool| tool.inferred && replaces),
        _ => !old.blocks.iter().any(|block| block.section == section),
    }
}

/// The preamble that would be sent if there were room for all of it.
struct FullPreamble {
    blocks: BTreeMap<Section, Vec<PreambleBlock>>,
    /// Nested instructions that the recorded preamble does not include.
    nested: Vec<PreambleBlock>,
    tools: Vec<ToolBlock>,
    /// Whether a text at the tail differs from what its source says now.
    stale: bool,
}

impl FullPreamble {
    fn of(offer: &Offer, view: &View, old: &Preamble) -> Self {
        let mut blocks: BTreeMap<Section, Vec<PreambleBlock>> = BTreeMap::new();
        for section in TEXTS {
            let kept = || of_section(section, old).cloned().collect();
            let offered = offer.blocks.get(&section).cloned();
            blocks.insert(section, offered.unwrap_or_else(kept));
        }
        let mut nested = Vec::new();
        let mut stale = false;
        if let Some(head) =
            offer.blocks.get(&Section::Instructions).and(blocks.get_mut(&Section::Instructions))
        {
            for block in &offer.nested {
                let absorbed = of_section(Section::Instructions, old).any(|had| had.name == block.name);
                let said = view.lane().last_injected(Section::Instructions, &block.name);
                stale |= said.is_some_and(|(_, body)| *body != block.text);
                if absorbed && said.is_none() { head.push(block.clone()) } else { nested.push(block.clone()) }
            }
        }
        // A text at the tail that its source no longer offers is stale, too.
        let gone = |name: &str| !nested.iter().any(|block| block.name.as_ref() == name);
        stale |= offer.blocks.contains_key(&Section::Instructions)
            && view.lane().said_names(Section::Instructions).any(gone);
        let known = offer.tools.as_ref().unwrap_or(&old.tools);
        let is_known = known.iter().any(|tool| !tool.inferred);
        let tools = if is_known { known.clone() } else { inferred(view) };
        Self { blocks, nested, tools, stale }
    }

    fn is_empty(&self) -> bool {
        self.blocks.values().all(Vec::is_empty) && self.tools.is_empty() && self.nested.is_empty()
    }

    fn commands_hold(&self, old: &Preamble) -> bool {
        let commands = [Section::Safety, Section::System, Section::Instructions];
        !self.stale && commands.iter().all(|section| self.changes(*section, old).is_empty())
    }

    /// Returns the changes to a section. Order counts as content: if only the order differs, that is the only change.
    fn changes(&self, section: Section, old: &Preamble) -> Vec<PreambleChange> {
        let change = |(name, how)| PreambleChange { section, name, how };
        if section == Section::Tools {
            let then: Vec<&ToolBlock> = old.tools.iter().collect();
            let changes = difference(&self.tools, &then, |tool| &tool.name, ToolBlock::is_offered_as);
            return changes.unwrap_or_default().into_iter().map(change).collect();
        }
        let now: &[PreambleBlock] = self.blocks.get(&section).map_or(&[], Vec::as_slice);
        let then: Vec<&PreambleBlock> = of_section(section, old).collect();
        let changes = difference(now, &then, |block| &block.name, PreambleBlock::is_offered_as);
        let Some(mut changes) = changes else { return Vec::new() };
        if changes.is_empty() {
            changes.push(("the order".into(), ChangeKind::Altered));
        }
        changes.into_iter().map(change).collect()
    }

    /// Returns the changes to the instructions at the tail.
    fn moves(&self, view: &View) -> Vec<PreambleChange> {
        let offered: BTreeMap<&str, &Body> =
            self.nested.iter().map(|block| (block.name.as_ref(), &block.text)).collect();
        let of =
            |name: &str| match (offered.get(name), view.lane().last_injected(Section::Instructions, name)) {
                (None, _) => ChangeKind::Removed,
                (Some(now), Some((_, said))) if *now == said => ChangeKind::Moved,
                _ => ChangeKind::Altered,
            };
        let names = view.lane().said_names(Section::Instructions);
        names
            .map(|name| PreambleChange { section: Section::Instructions, name: name.into(), how: of(name) })
            .collect()
    }

    /// Returns the sections in which nothing has changed.
    fn unchanged(&self, old: &Preamble) -> BTreeSet<Section> {
        let sections = TEXTS.into_iter().chain([Section::Tools]);
        let holds = |section: &Section| match section {
            Section::Instructions if self.stale || !self.nested.is_empty() => false,
            section => self.changes(*section, old).is_empty(),
        };
        sections.filter(holds).collect()
    }

    /// Restores the recorded content of a section.
    fn freeze(&mut self, section: Section, old: &Preamble) {
        if section == Section::Tools {
            self.tools.clone_from(&old.tools);
        } else {
            self.blocks.insert(section, of_section(section, old).cloned().collect());
        }
    }

    /// Returns the new nested instructions that fit alongside those already sent, and findings about the others.
    fn tail(self, old: &Preamble, view: &View, input: &ComposeInput<'_>) -> (Vec<Injection>, Vec<Finding>) {
        let taken: Tokens = preamble_text::fixed(old, input.costs)
            .iter()
            .filter(|part| part.section == Section::Instructions)
            .map(|part| part.cost.tokens)
            .sum();
        // A text that was sent keeps its full cost, including its fence, so that it counts the same before and after
        // it is sent.
        let weight = |name: &str| {
            let (_, text) = view.lane().last_injected(Section::Instructions, name)?;
            let offered = self.nested.iter().find(|block| block.name.as_ref() == name);
            let cost = offered.map(|block| PreambleBlock { text: text.clone(), ..block.clone() });
            Some(
                cost.map_or_else(|| cost::text(text, input.costs), |block| cost::block(&block, input.costs))
                    .tokens,
            )
        };
        let said: Tokens = view.lane().said_names(Section::Instructions).filter_map(weight).sum();
        let mut room = input.shares.most(Section::Instructions, input.limit).saturating_sub(taken + said);
        let (mut tail, mut findings) = (Vec::new(), Vec::new());
        for block in self.nested {
            if view.lane().last_injected(Section::Instructions, &block.name).is_some() {
                continue;
            }
            let cost = cost::block(&block, input.costs).tokens;
            if cost > room {
                let detail = format!("its {cost} tokens do not fit into the {room} left for instructions");
                let what = FindingKind::NoRoom;
                findings.push(Finding { source: block.name, line: None, what, detail: detail.into() });
                continue;
            }
            room = room.saturating_sub(cost);
            tail.push(Injection {
                section: Section::Instructions,
                authority: block.authority,
                from_stream: None,
                from_seq: Seq::START,
                body: block.text,
                what: block.name,
                why: block.reason.label().into(),
                part_of: None,
            });
        }
        (tail, findings)
    }

    /// Returns the text that tells how the agent types differ from their frozen list; `None` if they do not, and no
    /// earlier text said so.
    ///
    /// # Errors
    /// Returns a finding if the text does not fit into the room of the section.
    fn agents_said(
        &self,
        changes: &[PreambleChange],
        old: &Preamble,
        view: &View,
        input: &ComposeInput<'_>,
    ) -> Result<Option<Injection>, Finding> {
        if changes.is_empty() && view.lane().said_names(Section::Agents).next().is_none() {
            return Ok(None);
        }
        let mut delta = ListingDelta::default();
        for change in changes {
            let offered = self.blocks.get(&Section::Agents).into_iter().flatten();
            let line = offered.into_iter().find(|block| block.name == change.name);
            let line = line.and_then(|block| input.bodies.of(&block.text)).map(Into::into);
            match (change.how, line) {
                (ChangeKind::Added, Some(line)) => delta.added.push(line),
                (ChangeKind::Removed, _) => delta.removed.push(change.name.clone()),
                (_, Some(line)) => delta.changed.push(line),
                (_, None) => {}
            }
        }
        let text = if delta.is_empty() { "No changes: the list holds.".to_owned() } else { delta.text() };
        let said = Injection {
            section: Section::Agents,
            authority: Authority::of(Section::Agents),
            from_stream: None,
            from_seq: Seq::START,
            body: (input.pack)(text),
            what: AGENT_CHANGES.into(),
            why: "".into(),
            part_of: None,
        };
        if view.lane().last_injected(said.section, &said.what).is_some_and(|(_, last)| *last == said.body) {
            return Ok(None);
        }
        let taken: Tokens = preamble_text::fixed(old, input.costs)
            .iter()
            .filter(|part| part.section == Section::Agents)
            .map(|part| part.cost.tokens)
            .sum();
        let room = input.shares.most(Section::Agents, input.limit).saturating_sub(taken);
        let cost = cost::injection(&said, input.costs).tokens;
        if cost <= room {
            return Ok(Some(said));
        }
        let detail = format!(
            "the {cost} tokens of their changes do not fit into the {room} left for `agents`; they wait"
        );
        let what = FindingKind::NoRoom;
        Err(Finding { source: "agent types".into(), line: None, what, detail: detail.into() })
    }

    /// Returns the preamble with the texts that fit.
    ///
    /// An unchanged section keeps its form: a change in another section neither cuts it nor shows it again.
    fn settle(
        mut self,
        offer: &Offer,
        old: &Preamble,
        settled: &BTreeSet<Section>,
        (input, view): (&ComposeInput<'_>, &View),
    ) -> Preamble {
        if let Some(instructions) = self.blocks.get_mut(&Section::Instructions) {
            instructions.append(&mut self.nested);
            // The order in which the next build will offer the instructions, including those taken in earlier.
            let order: BTreeMap<&str, usize> =
                offer.nested.iter().map(|block| block.name.as_ref()).zip(1..).collect();
            instructions.sort_by_key(|block| order.get(block.name.as_ref()).copied().unwrap_or_default());
        }
        for block in self.blocks.values_mut().flatten().filter(|block| !settled.contains(&block.section)) {
            *block = whole(block);
        }
        let mut demand: BTreeMap<Section, Tokens> = BTreeMap::new();
        for (section, blocks) in &self.blocks {
            demand.insert(*section, cost::blocks(blocks, input.costs).tokens);
        }
        let declared = self.tools.iter().filter(|tool| tool.deferred != Some(Deferral::Asked));
        let schemas: Tokens = declared.map(|tool| cost::tool_block(tool, input.costs).tokens).sum();
        demand.insert(Section::Tools, schemas);
        let granted = allocate(input.limit, input.shares, &demand);
        let room = |section| granted.get(&section).copied().unwrap_or_default();
        let mut preamble = Preamble {
            ignore: offer.ignore.clone().unwrap_or_else(|| old.ignore.clone()),
            scanned: if offer.ignore.is_some() { offer.scanned.clone() } else { old.scanned.clone() },
            findings: findings(offer, old),
            tools: match settled.contains(&Section::Tools) {
                true => old.tools.clone(),
                false => fit_tools(self.tools, room(Section::Tools), input.costs, &called(view)),
            },
            ..Preamble::default()
        };
        for section in TEXTS {
            let blocks = self.blocks.remove(&section).unwrap_or_default();
            match settled.contains(&section) {
                true => preamble.blocks.extend(of_section(section, old).cloned()),
                false => preamble.blocks.extend(fit(blocks, room(section), input)),
            }
        }
        if let Some(min) = input.cache {
            let system =
                view.entries().filter(|entry| entry.message.role == crate::record::message::Role::System);
            let system = system.map(|entry| cost::message(&entry.message, input.costs).tokens).sum();
            preamble.cache = preamble_text::cache_points(&preamble, input.costs, min, system);
        }
        preamble
    }
}

fn of_section(section: Section, preamble: &Preamble) -> impl Iterator<Item = &PreambleBlock> {
    preamble.blocks.iter().filter(move |block| block.section == section)
}

/// Returns what was added, removed or altered between two lists, by name; `None` if the lists are the same. Of
/// several items with one name, the first counts.
fn difference<T>(
    now: &[T],
    then: &[&T],
    name: fn(&T) -> &str,
    is_same: fn(&T, &T) -> bool,
) -> Option<Vec<(Box<str>, ChangeKind)>> {
    if now.len() == then.len() && now.iter().zip(then).all(|(now, then)| is_same(now, then)) {
        return None;
    }
    let mut pairs: BTreeMap<&str, (Option<&T>, Option<&T>)> = BTreeMap::new();
    now.iter().rev().for_each(|item| pairs.entry(name(item)).or_default().0 = Some(item));
    then.iter().rev().for_each(|item| pairs.entry(name(item)).or_default().1 = Some(item));
    let change = |(name, pair): (&str, (Option<&T>, Option<&T>))| match pair {
        (Some(now), Some(then)) if is_same(now, then) => None,
        (Some(_), Some(_)) => Some((name.into(), ChangeKind::Altered)),
        (Some(_), None) => Some((name.into(), ChangeKind::Added)),
        (None, _) => Some((name.into(), ChangeKind::Removed)),
    };
    Some(pairs.into_iter().filter_map(change).collect())
}
