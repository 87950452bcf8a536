//! Sources alongside a history, which change while the history continues.

use crate::simulated::history::{Text, Wax, text};
use proptest::prelude::*;
use wunderblock_core::authority::InstructionLevel;
use wunderblock_core::compose::Offer;
use wunderblock_core::decision::Injection;
use wunderblock_core::instruction::LoadReason;
use wunderblock_core::message::Body;
use wunderblock_core::preamble::{Deferral, PreambleBlock, ToolBlock};
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;

/// One change to a source.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A text of a section changes: the index of the text, and its new content; `None` removes the text.
    Say(Section, u8, Option<Text>),
    /// A change to an instruction file in a directory that the work has reached: the file's index, and its new
    /// content.
    Nested(u8, Option<Text>),
    /// The tools change: their number, and the text of their descriptions.
    Tools(u8, Text),
    /// The state of the work changes: its index, and its new content.
    State(u8, Text),
    /// Whether changes to frozen sections take effect immediately.
    Now(bool),
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    let section = prop::sample::select(vec![
        Section::Safety,
        Section::System,
        Section::Instructions,
        Section::Instructions,
        Section::Skills,
        Section::Agents,
        Section::PinnedMemory,
        Section::Resources,
    ]);
    let maybe = || prop::option::weighted(0.8, text(9_000));
    prop_oneof![
        4 => (section, 0..3u8, maybe()).prop_map(|(section, which, text)| Change::Say(section, which, text)),
        3 => (0..4u8, maybe()).prop_map(|(which, text)| Change::Nested(which, text)),
        2 => (0..6u8, text(9_000)).prop_map(|(count, text)| Change::Tools(count, text)),
        2 => (0..3u8, text(2_000)).prop_map(|(which, text)| Change::State(which, text)),
        1 => any::<bool>().prop_map(Change::Now),
    ]
}

/// Current content of the sources.
#[derive(Clone, Default)]
pub(crate) struct Desk {
    pub(crate) offer: Offer,
    pub(crate) state: Vec<Injection>,
    /// Whether any source was ever changed.
    pub(crate) is_used: bool,
}

fn level(section: Section, which: u8) -> Option<InstructionLevel> {
    let levels = [InstructionLevel::Managed, InstructionLevel::User, InstructionLevel::Project];
    (section == Section::Instructions).then(|| levels[usize::from(which) % 3])
}

pub(crate) fn block(
    section: Section,
    name: &str,
    level: Option<InstructionLevel>,
    text: Body,
) -> PreambleBlock {
    match level {
        Some(level) => PreambleBlock::instruction(name, level, LoadReason::SessionStart, "", text),
        None => PreambleBlock::new(section, name, "", text),
    }
}

pub(crate) fn state(name: &str, text: Body) -> Injection {
    Injection {
        section: Section::State,
        authority: wunderblock_core::authority::Authority::Data,
        from_stream: None,
        from_seq: Seq::START,
        body: text,
        what: name.into(),
        why: "".into(),
        part_of: None,
    }
}

impl Desk {
    pub(crate) fn play(&mut self, change: &Change, (wax, salt): (&mut Wax, u64)) {
        self.is_used = true;
        let mut body = |text: &Text| wax.keep(text.content(salt), text.blob);
        match change {
            Change::Say(section, which, text) => {
                let name = format!("{} {which}", section.name());
                let blocks = self.offer.blocks.entry(*section).or_default();
                blocks.retain(|block| block.name.as_ref() != name);
                blocks.extend(text.as_ref().map(|text| {
                    let block = block(*section, &name, level(*section, *which), body(text));
                    // The body of a skill or a resource is read on demand.
                    let listed =
                        *section == Section::Skills || *section == Section::Resources && which % 2 == 0;
                    if listed { block.with_body(format!("the body at {salt}").into()) } else { block }
                }));
                blocks.sort_by(|a, b| a.name.cmp(&b.name));
            }
            Change::Nested(which, text) => {
                // An engine that reads files of directories has also read the instruction files that precede them.
                self.offer.blocks.entry(Section::Instructions).or_default();
                let name = format!("directory {which}/AGENTS.md");
                self.offer.nested.retain(|block| block.name.as_ref() != name);
                let reason = LoadReason::Nested(format!("directory {which}/file").into());
                self.offer.nested.extend(text.as_ref().map(|text| {
                    PreambleBlock::instruction(&name, InstructionLevel::Directory, reason, "", body(text))
                }));
                self.offer.nested.sort_by(|a, b| a.name.cmp(&b.name));
            }
            Change::Tools(count, text) => {
                let tool = |number: u8| ToolBlock {
                    name: if number == 0 { "run".into() } else { format!("tool {number}").into() },
                    description: body(text),
                    schema: "{}".into(),
                    extra: None,
                    deferred: (number == 4).then_some(Deferral::Asked),
                    inferred: false,
                };
                let mut tools: Vec<ToolBlock> = (0..*count).map(tool).collect();
                tools.sort_by(|a, b| a.name.cmp(&b.name));
                self.offer.tools = Some(tools);
            }
            Change::State(which, text) => {
                let name = format!("state {which}");
                let text = body(text);
                self.state.retain(|item| item.what.as_ref() != name);
                self.state.push(state(&name, text));
            }
            Change::Now(now) => self.offer.now = *now,
        }
    }
}
