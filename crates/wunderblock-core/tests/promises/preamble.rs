//! Promises about the preamble: when changes take effect, and what there is room for.

use crate::simulated::desk::{block, change};
use crate::simulated::history::{History, config, new_history};
use crate::simulated::lane::{composed, show, view_of};
use proptest::prelude::*;
use wunderblock_core::authority::InstructionLevel;
use wunderblock_core::compose::{Composed, Offer};
use wunderblock_core::event::{ContextInjected, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::instruction::{Finding, FindingKind, LoadReason};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::preamble::{
    Deferral, Inclusion, PreambleBlock, PreambleChange, PreambleChanged, ToolBlock,
};
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;
use wunderblock_core::view::View;

const LIMIT: Tokens = Tokens(100_000);

/// A lane whose beginning is composed again and again.
pub(crate) struct Lane {
    pub(crate) history: History,
    pub(crate) view: View,
}

impl Lane {
    pub(crate) fn new() -> Self {
        let mut history = new_history();
        history.say(Message::text(Role::User, "go"));
        Self { view: view_of(&history.events), history }
    }

    pub(crate) fn append(&mut self, fact: Fact) {
        self.history.append(fact);
        self.view.apply(self.history.events.last().unwrap());
    }

    /// Composes, and records the result as an engine does.
    pub(crate) fn build(&mut self, offer: &Offer, (limit, restarts): (Tokens, bool)) -> Composed {
        let composed = composed(
            &self.history,
            offer,
            &self.view,
            (limit, restarts || self.view.lane().preamble().is_none()),
        );
        if let Some(preamble) = &composed.preamble {
            let preamble = preamble.as_ref().clone();
            let (changes, takes_in) = (composed.changes.clone(), composed.takes_in.clone());
            let changed = PreambleChanged { lane: LaneId::main(), preamble, changes, takes_in };
            self.append(Fact::PreambleChanged(Box::new(changed)));
        }
        if !composed.tail.is_empty() {
            let items = composed.tail.clone();
            self.append(Fact::ContextInjected(ContextInjected::new(LaneId::main(), items)));
        }
        composed
    }

    fn next(&mut self, offer: &Offer) -> Composed {
        self.build(offer, (LIMIT, false))
    }

    /// Returns all texts of the request, one after the other.
    pub(crate) fn words(&self) -> String {
        let request = show(&self.history, &self.view).request;
        let parts = request.system.iter().chain(request.messages.iter().flat_map(|message| &message.parts));
        let texts = parts.flat_map(Part::bodies).filter_map(|body| body.inline()).map(ToOwned::to_owned);
        let tools = request.tools.iter().map(|tool| format!("{}: {}", tool.name, tool.description));
        texts.chain(tools).collect::<Vec<_>>().join("\n")
    }
}

fn file(name: &str, level: InstructionLevel, text: &str) -> PreambleBlock {
    block(Section::Instructions, name, Some(level), text.into())
}

fn nested(name: &str, text: &str) -> PreambleBlock {
    let reason = LoadReason::Nested(format!("{name} file").into());
    PreambleBlock::instruction(name, InstructionLevel::Directory, reason, "", text.into())
}

fn tool(name: &str, description: &str) -> ToolBlock {
    let (name, description) = (name.into(), description.into());
    ToolBlock { name, description, schema: "{}".into(), extra: None, deferred: None, inferred: false }
}

/// Returns an offer of one text in each section, and one tool.
fn full() -> Offer {
    let mut offer = Offer { tools: Some(vec![tool("run", "Runs.")]), ..Offer::default() };
    for section in
        [Section::Safety, Section::System, Section::Skills, Section::PinnedMemory, Section::Resources]
    {
        offer.blocks.insert(section, vec![block(section, "one", None, section.name().into())]);
    }
    offer
        .blocks
        .insert(Section::Instructions, vec![file("AGENTS.md", InstructionLevel::Project, "Use tabs.")]);
    offer
}

fn with(section: Section, blocks: Vec<PreambleBlock>) -> Offer {
    let mut offer = full();
    offer.blocks.insert(section, blocks);
    offer
}

fn told(changes: &[PreambleChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| format!("{} {} {:?}", change.section.name(), change.name, change.how))
        .collect()
}

#[test]
fn the_first_preamble_has_everything_and_changes_nothing() {
    let mut lane = Lane::new();
    let first = lane.next(&full());
    let preamble = first.preamble.unwrap();
    assert_eq!((preamble.blocks.len(), preamble.tools.len()), (6, 1));
    assert!(preamble.blocks.iter().is_sorted_by_key(|block| block.section));
    assert_eq!((first.changes, first.pending), (Vec::new(), Vec::new()));
    let nobody = Lane::new().next(&Offer::default());
    assert!(nobody.preamble.is_none(), "nothing is offered, nothing is recorded");
}

#[test]
fn an_offer_that_is_the_same_records_nothing() {
    let mut lane = Lane::new();
    lane.next(&full());
    let finding = Finding {
        source: "a file".into(),
        line: None,
        what: FindingKind::Unusable,
        detail: "cannot be read".into(),
    };
    let again = lane.next(&Offer { findings: vec![finding.clone()], ..full() });
    assert!(again.preamble.is_none() && again.changes.is_empty() && again.pending.is_empty());
    assert_eq!(again.findings, [finding], "it is told all the same");
    assert!(lane.next(&Offer { now: true, ..full() }).preamble.is_none());
    assert!(lane.build(&full(), (LIMIT, true)).preamble.is_none(), "nor when the beginning is rebuilt");
}

#[test]
fn what_takes_effect_when() {
    let other =
        |section: Section, level| with(section, vec![block(section, "one", level, "something else".into())]);
    let named = |section: Section| other(section, None);
    let tools = |list: Vec<ToolBlock>| Offer { tools: Some(list), ..full() };
    let table: Vec<(&str, Offer, bool)> = vec![
        ("safety one Altered", named(Section::Safety), true),
        ("system one Altered", named(Section::System), true),
        ("system one Removed", with(Section::System, vec![]), true),
        (
            "instructions AGENTS.md Altered",
            with(Section::Instructions, vec![file("AGENTS.md", InstructionLevel::Project, "Use spaces.")]),
            true,
        ),
        // The same words from another source have a different authority.
        (
            "instructions AGENTS.md Altered",
            with(Section::Instructions, vec![file("AGENTS.md", InstructionLevel::User, "Use tabs.")]),
            true,
        ),
        ("instructions AGENTS.md Removed", with(Section::Instructions, vec![]), true),
        ("skills one Altered", named(Section::Skills), false),
        ("pinned_memory one Altered", named(Section::PinnedMemory), false),
        ("resources one Altered", named(Section::Resources), false),
        ("resources one Removed", with(Section::Resources, vec![]), false),
        ("tools run Altered", tools(vec![tool("run", "Walks.")]), false),
        ("tools run Removed", tools(vec![]), false),
        ("tools stop Added", tools(vec![tool("run", "Runs."), tool("stop", "Stops.")]), false),
    ];
    for (change, offer, at_once) in table {
        let mut lane = Lane::new();
        lane.next(&full());
        let before = lane.words();
        let next = lane.next(&offer);
        if at_once {
            assert_eq!((told(&next.changes), told(&next.pending)), (vec![change.to_owned()], vec![]));
            assert_ne!(lane.words(), before, "{change}");
            continue;
        }
        assert_eq!((told(&next.changes), told(&next.pending)), (vec![], vec![change.to_owned()]));
        assert!(next.preamble.is_none() && lane.words() == before, "{change}");
        for (offer, restarts) in [(Offer { now: true, ..offer.clone() }, false), (offer.clone(), true)] {
            let done = composed(&lane.history, &offer, &lane.view, (LIMIT, restarts));
            assert_eq!((told(&done.changes), told(&done.pending)), (vec![change.to_owned()], vec![]));
            assert!(done.preamble.is_some(), "{change}");
        }
    }
}

#[test]
fn a_lane_that_had_none_gets_its_first_list_at_once() {
    let mut lane = Lane::new();
    lane.next(&Offer { tools: None, ..with(Section::Skills, vec![]) });
    let next = lane.next(&full());
    assert_eq!(told(&next.changes), ["tools run Added", "skills one Added"]);
    assert!(next.pending.is_empty());
}

#[test]
fn what_is_not_offered_stays() {
    let mut lane = Lane::new();
    lane.next(&full());
    let before = lane.words();
    assert!(lane.next(&Offer::default()).preamble.is_none());
    let mut only = Offer::default();
    only.blocks.insert(Section::System, vec![block(Section::System, "one", None, "Be brief.".into())]);
    let next = lane.next(&only);
    assert_eq!(told(&next.changes), ["system one Altered"]);
    assert_eq!(lane.words(), before.replacen("system", "Be brief.", 1));
}

#[test]
fn changes_of_agent_types_are_told_at_the_tail_until_the_list_is_rebuilt() {
    let agent = |name: &str, line: &str| block(Section::Agents, name, None, line.into());
    let list = |blocks: Vec<PreambleBlock>| with(Section::Agents, blocks);
    let (plan, test) = (agent("plan", "- plan: Plans."), agent("test", "- test: Tests."));
    let changes = [
        (vec![plan.clone(), test.clone()], "New agent types:\n- test: Tests.\n"),
        (vec![agent("plan", "- plan: Plots.")], "Changed agent types:\n- plan: Plots.\n"),
        (vec![test.clone()], "New agent types:\n- test: Tests.\nNo longer available: plan\n"),
        // Each text replaces the one before, so the first list is one of the possible answers.
        (vec![plan.clone()], "No changes: the list holds."),
    ];
    let mut lane = Lane::new();
    lane.next(&list(vec![plan.clone()]));
    for (blocks, text) in changes {
        let before = lane.words();
        let next = lane.next(&list(blocks.clone()));
        assert!(next.preamble.is_none() && next.pending.is_empty());
        assert_eq!(next.tail.iter().map(|item| item.body.inline()).collect::<Vec<_>>(), [Some(text)]);
        let (conversation, _tools) = before.rsplit_once('\n').unwrap();
        assert!(lane.words().starts_with(conversation) && lane.words().contains(text), "{text}");
        assert!(lane.next(&list(blocks)).tail.is_empty(), "it is told once");
    }
    lane.next(&list(vec![test.clone()]));
    let rebuilt = lane.build(&list(vec![test.clone()]), (LIMIT, true));
    assert_eq!((rebuilt.takes_in, rebuilt.tail.len()), (vec![Section::Agents, Section::Instructions], 0));
    assert!(lane.words().contains("- test: Tests.") && !lane.words().contains("New agent types"));
    // Changes that do not fit wait, and a finding says so.
    let long = agent("long", &format!("- long: {}", "word ".repeat(8_000)));
    let crowded = lane.next(&list(vec![long, test]));
    assert_eq!((told(&crowded.pending), crowded.tail.len()), (vec!["agents long Added".to_owned()], 0));
    assert!(crowded.findings.iter().any(|finding| finding.what == FindingKind::NoRoom));
}

#[test]
fn a_list_fills_its_room_and_one_finding_tells_the_rest() {
    let line = |number: usize| {
        let text = format!("- agent{number:03}: Does what number {number} needs to have done, with care.");
        block(Section::Agents, &format!("agent{number:03}"), None, text.as_str().into())
    };
    let mut lane = Lane::new();
    let composed = lane.build(&with(Section::Agents, (0..900).map(line).collect()), (LIMIT, false));
    let preamble = composed.preamble.unwrap();
    let parts = wunderblock_core::preamble_text::fixed(&preamble, &lane.history.wax);
    let taken: Tokens =
        parts.iter().filter(|part| part.section == Section::Agents).map(|part| part.cost.tokens).sum();
    let room = wunderblock_core::allocate::Shares::default().most(Section::Agents, LIMIT);
    assert!(taken <= room && taken.0 * 10 >= room.0 * 9, "{taken} of {room}");
    let told: Vec<_> = composed.findings.iter().map(|finding| (&*finding.source, &*finding.detail)).collect();
    let [("agents", detail)] = told.as_slice() else { panic!("{told:?}") };
    assert!(detail.contains(" of its 900 lines are not shown, the first is `agent"), "{detail}");
}

#[test]
fn another_order_is_a_change() {
    let (a, b) = (file("A.md", InstructionLevel::Project, "a"), file("B.md", InstructionLevel::Project, "b"));
    let mut lane = Lane::new();
    lane.next(&with(Section::Instructions, vec![a.clone(), b.clone()]));
    let turned = lane.next(&with(Section::Instructions, vec![b, a]));
    assert_eq!(told(&turned.changes), ["instructions the order Altered"]);
    let names: Vec<_> =
        turned.preamble.unwrap().blocks[2..4].iter().map(|block| block.name.clone()).collect();
    assert_eq!(names, ["B.md".into(), "A.md".into()]);
}

#[test]
fn a_directorys_text_enters_at_the_tail_and_the_next_change_takes_it_in() {
    let reached = |texts: &[(&str, &str)]| Offer {
        nested: texts.iter().map(|(name, text)| nested(name, text)).collect(),
        ..full()
    };
    let table: [(&str, Offer, &[&str], &[&str]); 4] = [
        // the offer, the changes that it causes, the texts that are shown then
        ("the same", reached(&[("b", "Be B.")]), &[], &["Be B."]),
        ("other words", reached(&[("b", "Be better.")]), &["instructions b Altered"], &["Be better."]),
        ("nothing", full(), &["instructions b Removed"], &[]),
        (
            "one more, and other words",
            reached(&[("a", "Be A."), ("b", "Be better.")]),
            &["instructions b Altered"],
            &["Be A.", "Be better."],
        ),
    ];
    for (case, offer, changes, words) in table {
        let mut lane = Lane::new();
        lane.next(&full());
        let entered = lane.next(&reached(&[("b", "Be B.")]));
        assert!(entered.preamble.is_none() && entered.changes.is_empty(), "{case}");
        assert_eq!(entered.tail.len(), 1, "{case}");
        assert!(lane.words().ends_with(": end of instructions⟩\nrun: Runs."), "{case}: {}", lane.words());
        let then = lane.next(&offer);
        assert_eq!(told(&then.changes), changes, "{case}");
        for said in ["Be A.", "Be B.", "Be better."] {
            assert_eq!(
                lane.words().matches(said).count(),
                usize::from(words.contains(&said)),
                "{case}: {said}"
            );
        }
        let stays = lane.next(&offer);
        assert!(stays.preamble.is_none() && stays.changes.is_empty() && stays.tail.is_empty(), "{case}");
    }
}

#[test]
fn directories_stand_from_the_outside_in_whichever_was_reached_first() {
    let mut lane = Lane::new();
    let offer = |text: &str, names: &[&str]| Offer {
        nested: names.iter().map(|name| nested(name, &format!("Be {name}."))).collect(),
        ..with(Section::Instructions, vec![file("AGENTS.md", InstructionLevel::Project, text)])
    };
    lane.next(&offer("one", &[]));
    for names in [&["z"][..], &["a", "z"], &["a", "m", "z"]] {
        let offer = offer(&format!("{} are reached", names.len()), names);
        assert!(lane.next(&offer).preamble.is_some());
        let again = lane.next(&offer);
        assert!(again.preamble.is_none(), "{names:?}: {:?}", told(&again.changes));
    }
}

#[test]
fn what_has_no_room_is_cut_or_left_out_or_named() {
    let line = "A line of thirty-three characters.\n";
    let long = |name: &str, level| file(name, level, &line.repeat(300));
    // Each text costs about 3,500 tokens; instructions may take 4,000 of 20,000 tokens.
    let blocks = vec![
        long("managed", InstructionLevel::Managed),
        long("user", InstructionLevel::User),
        long("project", InstructionLevel::Project),
    ];
    let many = |count: usize| -> Vec<ToolBlock> {
        (0..count).map(|number| tool(&format!("tool {number:03}"), &"x".repeat(3_000))).collect()
    };
    let offer = Offer { tools: Some(many(8)), ..with(Section::Instructions, blocks.clone()) };
    let mut lane = Lane::new();
    let call = Part::ToolCall {
        call: "c".into(),
        name: "tool 005".into(),
        input: "{}".into(),
        gist: None,
        extra: None,
    };
    lane.append(Fact::MessageAppended(wunderblock_core::event::MessageAppended {
        message: Message::new(Role::Assistant, vec![call]),
    }));
    let first = lane.build(&offer, (Tokens(20_000), true));
    let preamble = first.preamble.clone().unwrap();
    let shown: Vec<_> =
        preamble.blocks.iter().filter(|block| block.level.is_some()).map(|block| block.shown).collect();
    assert_eq!(shown, [Inclusion::Whole, Inclusion::Cut, Inclusion::Out], "what commands is never cut");
    let cut = &preamble.blocks[3];
    assert!(cut.text.inline().unwrap().starts_with(line) && cut.offered() == &blocks[1].text);
    assert!(cut.text.inline().unwrap().lines().last().unwrap().starts_with("⟨cut: "));
    let declared: Vec<_> =
        preamble.tools.iter().filter(|tool| tool.deferred.is_none()).map(|tool| &*tool.name).collect();
    assert_eq!(declared, ["tool 000", "tool 001", "tool 002", "tool 005"], "what was called comes first");
    assert!(lane.words().contains("tool 003, tool 004, tool 006, tool 007"));
    let sources: Vec<_> = first.findings.iter().map(|finding| (finding.what, &*finding.source)).collect();
    let without = ["user", "project", "tool tool 003 and 3 more"];
    assert_eq!(sources, without.map(|name| (FindingKind::NoRoom, name)));
    // Cut texts and named tools count as the same offer the next time, and are whole again once there is room.
    let again = lane.build(&offer, (Tokens(20_000), false));
    assert!(again.preamble.is_none() && again.pending.is_empty() && again.findings == first.findings);
    let roomy = lane.build(&offer, (Tokens(200_000), true)).preamble.unwrap();
    assert!(roomy.blocks.iter().all(|block| block.shown == Inclusion::Whole));
    assert!(roomy.blocks[3].text == blocks[1].text && roomy.blocks[3].body.is_none());
    assert!(roomy.tools.iter().all(|tool| tool.deferred.is_none()));
}

#[test]
fn five_hundred_large_tools_leave_room_for_the_conversation() {
    let tools = (0..500).map(|number| tool(&format!("tool {number}"), &"x".repeat(5_000))).collect();
    let offer = Offer { tools: Some(tools), ..Offer::default() };
    let mut lane = Lane::new();
    let preamble = lane.build(&offer, (Tokens(200_000), true)).preamble.unwrap();
    let declared = preamble.tools.iter().filter(|tool| tool.deferred.is_none()).count();
    let named = preamble.tools.iter().filter(|tool| tool.deferred == Some(Deferral::NoRoom)).count();
    // Tools may take a quarter of the limit, and each tool takes 1,667 tokens and a frame.
    assert_eq!((declared, declared + named), (29, 500));
    assert!(lane.next(&offer).pending.is_empty());
}

proptest! {
    #![proptest_config(config(200))]

    /// Whatever the sources contain and however little room there is, a composed preamble stays in effect, and equal
    /// input gives equal output.
    #[test]
    fn what_was_composed_holds_until_something_changes(
        rounds in prop::collection::vec((prop::collection::vec(change(), 1..6), 2_000..60_000u64, any::<bool>()), 1..5)
    ) {
        let mut lane = Lane::new();
        for (changes, limit, restarts) in rounds {
            for change in &changes {
                let salt = lane.history.events.len() as u64;
                let History { input, wax, .. } = &mut lane.history;
                input.play(change, (wax, salt));
            }
            let offer = lane.history.input.offer.clone();
            let (before, limit) = (lane.view.clone(), Tokens(limit));
            let first = lane.build(&offer, (limit, restarts));
            let twice = composed(&lane.history, &offer, &before, (limit, restarts || before.lane().preamble().is_none()));
            prop_assert_eq!(format!("{first:?}"), format!("{twice:?}"));
            let second = lane.build(&offer, (limit, false));
            prop_assert!(second.preamble.is_none(), "{:?}", told(&second.changes));
            prop_assert_eq!((told(&second.changes), told(&second.pending)), (vec![], told(&first.pending)));
            prop_assert!(second.tail.is_empty());
            // Text with operator or safety authority is whole, and no text is shown twice.
            let preamble = lane.view.lane().preamble();
            for block in preamble.iter().flat_map(|preamble| &preamble.blocks) {
                prop_assert!(!block.authority.commands() || block.shown == Inclusion::Whole);
                prop_assert!(lane.view.lane().last_injected(block.section, &block.name).is_none(), "{} stands at the tail too", block.name);
            }
            // Text with operator or safety authority matches the current offer.
            for section in [Section::Safety, Section::System, Section::Instructions] {
                let Some(offered) = offer.blocks.get(&section) else { continue };
                for block in offered {
                    let recorded = preamble.and_then(|preamble| {
                        preamble.blocks.iter().find(|had| had.section == section && had.name == block.name)
                    });
                    prop_assert!(recorded.is_some_and(|had| block.is_offered_as(had)), "{}", block.name);
                }
            }
        }
    }
}

/// A text takes the same room when it is first sent as it does afterwards. A text that did not fit alongside another
/// text does not enter later.
#[test]
fn what_had_no_room_beside_a_directorys_text_has_none_later() {
    use crate::simulated::desk::Change;
    let text = |kind, len| Some(crate::simulated::history::Text { kind, len, blob: false });
    let mut lane = Lane::new();
    let offered = [
        vec![Change::Say(Section::Skills, 0, text(0, 0))],
        vec![Change::Nested(0, text(5, 300)), Change::Nested(1, text(0, 0))],
    ];
    for changes in offered {
        for change in &changes {
            let salt = lane.history.events.len() as u64;
            let History { input, wax, .. } = &mut lane.history;
            input.play(change, (wax, salt));
        }
    }
    let offer = lane.history.input.offer.clone();
    lane.build(&Offer { nested: Vec::new(), ..offer.clone() }, (Tokens(2_000), false));
    assert_eq!(lane.build(&offer, (Tokens(2_000), false)).tail.len(), 1);
    assert!(lane.build(&offer, (Tokens(2_000), false)).tail.is_empty());
}
