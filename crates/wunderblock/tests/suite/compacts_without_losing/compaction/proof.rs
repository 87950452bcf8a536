//! All promises about requests are tested at the same time, with a random session, two lanes, and any sequence of
//! operations on them.

use crate::compacts_without_losing::compaction::scene::*;
use crate::nothing_is_lost::ledger::history::{Move, Story, step, tries};
use crate::scene::sound;
use futures_executor::block_on;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock::{Built, CompactOptions, ContextOptions, Error, Visibility};
use wunderblock_core::budget::{EntryLine, Reason, Treatment};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, Part};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Seq;

/// An operation on the session or on one of its lanes.
#[derive(Clone, Debug)]
enum Act {
    /// Messages of any kind are appended.
    Tell(Vec<Move>),
    /// Turns of a coding session are appended.
    Turns(u64),
    Build(usize),
    Compact(usize),
    Sweep(usize),
    Undo(usize),
    Resize(usize, u64),
    /// An entry is pinned, hidden or released. The number gives the position of the entry as a share of the session,
    /// in units of 1/256.
    Mark(Visibility, u8),
}

fn window() -> impl Strategy<Value = u64> {
    select(vec![500_u64, 1_000, 2_000, 8_000, 16_000, 32_000, 200_000])
}

fn act() -> impl Strategy<Value = Act> {
    let mark = select(vec![Visibility::Pin, Visibility::Unpin, Visibility::Hide, Visibility::Unhide]);
    let lane = || 0..2_usize;
    prop_oneof![
        4 => prop::collection::vec(step(), 1..8).prop_map(Act::Tell),
        3 => (1..24_u64).prop_map(Act::Turns),
        8 => lane().prop_map(Act::Build),
        2 => lane().prop_map(Act::Compact),
        1 => lane().prop_map(Act::Sweep),
        1 => lane().prop_map(Act::Undo),
        1 => (lane(), window()).prop_map(|(lane, window)| Act::Resize(lane, window)),
        2 => (mark, any::<u8>()).prop_map(|(mark, share)| Act::Mark(mark, share)),
    ]
}

struct Lane {
    name: LaneId,
    policy: Arc<Policy>,
    window: u64,
    /// Whether the lane has built a request for this window. When a lane begins, it adopts the summaries of other
    /// lanes.
    has_begun: bool,
    /// The lane's previous request, and its recorded position.
    before: Option<(Built, Seq)>,
}

impl Lane {
    fn new(name: &str, (window, policy): (u64, String)) -> Self {
        Self {
            name: LaneId::new(name).unwrap(),
            policy: preset(&policy),
            window,
            has_begun: false,
            before: None,
        }
    }

    fn options(&self) -> ContextOptions {
        ContextOptions { lane: Some(self.name.clone()), ..under(&self.policy, self.window) }
    }

    /// Returns whether an event allows the lane's requests to change before their end.
    fn may_change_at(&self, event: &Event) -> bool {
        match &event.fact {
            Some(Fact::ViewTrimmed(step)) => step.lane == self.name,
            Some(Fact::PreambleChanged(changed)) => changed.lane == self.name,
            Some(Fact::ContentPinned(_) | Fact::ContentHidden(_)) => true,
            _ => false,
        }
    }
}

struct Model {
    scene: Scene,
    story: Story,
    said: u64,
    lanes: [Lane; 2],
    /// All requests, with their recorded positions.
    sent: Vec<(Seq, Vec<u8>)>,
}

impl Model {
    fn act(&mut self, act: &Act) {
        let other = match act {
            Act::Build(lane) | Act::Compact(lane) | Act::Sweep(lane) | Act::Undo(lane) => Some(1 - lane),
            _ => None,
        };
        // How far back a smaller window looks depends on the events that other lanes have recorded in the meantime.
        let other = other.filter(|lane| self.lanes[*lane].has_begun && self.lanes[*lane].window >= 2_000);
        let before = other.map(|lane| self.next(lane));
        self.perform(act);
        if let Some((before, after)) = before.zip(other.map(|lane| self.next(lane))) {
            let both = before.as_ref().zip(after.as_ref());
            let differs = both.and_then(|(before, after)| parts(before, after));
            assert!(before == after, "no lane changes another: {differs:?}");
        }
    }

    /// Returns the bytes of a lane's next request, if there is one.
    fn next(&self, lane: usize) -> Option<Vec<u8>> {
        let shown = block_on(self.scene.session.explain(self.lanes[lane].options()));
        shown.ok().map(|built| built.draft.body)
    }

    fn perform(&mut self, act: &Act) {
        let asked = |lane: &Lane, sweep| CompactOptions {
            context: ContextOptions { compactor: None, ..lane.options() },
            sweep,
            ..by_hand(&lane.policy, lane.window)
        };
        let session = &self.scene.session;
        match act {
            Act::Tell(moves) => {
                let events: Vec<_> = moves.iter().flat_map(|step| self.story.tell(step)).collect();
                block_on(session.append(events)).unwrap();
            }
            Act::Turns(count) => {
                self.scene.turns(self.said..self.said + count);
                self.said += count;
            }
            Act::Build(lane) => self.build(*lane),
            Act::Compact(lane) => drop(block_on(session.compact(&asked(&self.lanes[*lane], false)))),
            Act::Sweep(lane) => drop(block_on(session.compact(&asked(&self.lanes[*lane], true)))),
            Act::Undo(lane) => drop(block_on(session.lane(self.lanes[*lane].name.clone()).undo())),
            Act::Resize(lane, window) => {
                let lane = &mut self.lanes[*lane];
                (lane.has_begun, lane.window) = (lane.has_begun && lane.window == *window, *window);
            }
            Act::Mark(mark, share) => {
                let at = Seq(1 + self.scene.head().0 * u64::from(*share) / 256);
                drop(block_on(mark.set(session, at)));
            }
        }
    }

    /// Builds the next request of a lane and checks every promise about it.
    fn build(&mut self, which: usize) {
        let options = self.lanes[which].options();
        let session = &self.scene.session;
        let shown = block_on(session.explain(&options));
        let built = match (shown, block_on(session.context(&options))) {
            (Ok(shown), Ok(built)) => {
                let (shown, sent) = (&shown.draft.body, &built.draft.body);
                assert!(shown == sent, "what `explain` shows is sent: {:?}", parts(shown, sent));
                built
            }
            (Err(shown), Err(error)) => {
                assert_eq!(shown.to_string(), error.to_string());
                if let Error::OverBudget(refusal) = error {
                    assert!(!refusal.needed.fits(refusal.limit), "{refusal}");
                }
                return;
            }
            (shown, built) => panic!("shown: {:?}, built: {:?}", shown.err(), built.err()),
        };
        sound(&built);
        let recorded = built.recorded.unwrap();
        let replayed = block_on(session.replay(Some(recorded))).unwrap().body;
        assert!(replayed == built.draft.body, "replayed: {:?}", parts(&built.draft.body, &replayed));
        let again = block_on(session.explain(&options)).unwrap();
        let told = |built: &Built| {
            let done = built.compacted.as_ref();
            let done = done.map(|done| (done.due.clone(), done.outcome.clone(), done.before, done.after));
            (built.draft.step, built.draft.report.total_tokens, built.draft.report.limit, done)
        };
        assert_eq!(
            parts(&built.draft.body, &again.draft.body),
            None,
            "built again: {:?}, then {:?}",
            told(&built),
            told(&again)
        );
        let events = self.scene.events();
        let lane = &mut self.lanes[which];
        if let Some((before, at)) = &lane.before
            && !events.iter().any(|event| event.seq > *at && lane.may_change_at(event))
        {
            let differs = parts(&before.draft.body, &built.draft.body);
            assert!(goes_on(before, &built), "it grows at its end: {differs:?}");
        }
        lane.has_begun = true;
        lane.before = Some((built.clone(), recorded));
        self.sent.push((recorded, built.draft.body.clone()));
        let messages = self.scene.messages();
        self.check_reach(&messages, &built);
        check_newest(&messages, &built, &events);
        check_room(&built);
    }

    /// Checks that every message is either shown, readable through a handle in the request, or listed with a reason
    /// other than lack of room.
    fn check_reach(&self, messages: &[(Seq, Message)], built: &Built) {
        let room = [Reason::Budget, Reason::Stepped, Reason::Summarised];
        let listed = |seq: &Seq| {
            let runs = &mut built.draft.report.left_out.iter();
            runs.any(|run| (run.from_seq..=run.to_seq).contains(seq) && !room.contains(&run.reason))
        };
        // Pictures are not part of the text of a request, and a lossless encoding uses different words.
        let has_picture = |message: &Message| {
            let leaves = message.parts.iter().flat_map(Part::leaves);
            leaves.into_iter().any(|(leaf, _)| matches!(leaf, Part::Media { .. }))
        };
        let pictures: Vec<Seq> =
            messages.iter().filter(|(_, message)| has_picture(message)).map(|(seq, _)| *seq).collect();
        let is_whole = |seq: &Seq| {
            let mut lines = built.draft.report.entries.iter().filter(|line| line.seq == Some(*seq));
            let lossless = |line: &EntryLine| line.reduced.iter().any(|shown| shown.how.lossless);
            lines.any(|line| pictures.contains(seq) || lossless(line))
        };
        let lost = self.scene.unreachable_of(messages, built).into_iter();
        let lost: Vec<Seq> = lost.filter(|seq| !listed(seq) && !is_whole(seq)).collect();
        assert_eq!(lost, [], "nothing is unreachable");
    }
}

/// Checks that the user's newest turn is shown word for word, or as its head and tail only if the whole turn does
/// not fit.
fn check_newest(messages: &[(Seq, Message)], built: &Built, events: &[Event]) {
    let mut hidden = BTreeSet::new();
    for event in events {
        if let Some(Fact::ContentHidden(mark)) = &event.fact {
            let _ = if mark.hidden { hidden.insert(mark.target) } else { hidden.remove(&mark.target) };
        }
    }
    let Some((seq, turn)) = messages.iter().rev().find(|(_, message)| message.is_user_turn()) else {
        return;
    };
    if hidden.contains(seq) {
        return;
    }
    let shown = Shown::of(&built.draft.body);
    if words(turn).all(|text| shown.says(text)) {
        return;
    }
    let report = &built.draft.report;
    let line = report.entries.iter().find(|line| line.seq == Some(*seq));
    let line = line.unwrap_or_else(|| panic!("the user's newest turn, {seq}, is not there"));
    assert_eq!(line.treatment, Treatment::Clipped, "the newest turn");
    let whole = |text: &str| crate::scene::recount(&serde_json::to_vec(text).unwrap());
    let whole: u64 = words(turn).map(whole).sum();
    let rest = report.total_tokens.0 - line.tokens.0;
    assert!(rest + 2 * whole > report.limit.0, "the newest turn would fit");
}

fn words(message: &Message) -> impl Iterator<Item = &str> {
    let own = message.parts.iter().filter(|part| matches!(part, Part::Text { .. }));
    own.flat_map(Part::bodies).filter_map(|body| body.inline())
}

/// Checks that nothing is left out for lack of room although it would fit.
fn check_room(built: &Built) {
    let report = &built.draft.report;
    let free = report.limit.saturating_sub(report.total_tokens);
    for run in report.left_out.iter().filter(|run| run.reason == Reason::Budget) {
        assert!(run.tokens > free, "{run:?} would fit: {free} tokens are free");
    }
}

/// Returns the texts around the first difference between two requests, ignoring cache marks.
fn parts(one: &[u8], other: &[u8]) -> Option<(String, String)> {
    let bare =
        |body: &[u8]| String::from_utf8_lossy(body).replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (one, other) = (bare(one), bare(other));
    let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| {
        let around = text.as_bytes().get(at.saturating_sub(80)..(at + 240).min(text.len()));
        String::from_utf8_lossy(around.unwrap_or_default()).into_owned()
    };
    (one != other).then(|| (around(&one), around(&other)))
}

fn window_and_policy() -> impl Strategy<Value = (u64, String)> {
    let names: Vec<String> = policies().names().map(ToOwned::to_owned).collect();
    (window(), select(names))
}

proptest! {
    #![proptest_config(tries(12))]

    /// C-01 to C-07 hold for any session, any policies and any windows.
    #[test]
    fn every_request_keeps_every_promise(
        one in window_and_policy(),
        other in window_and_policy(),
        acts in prop::collection::vec(act(), 4..24),
    ) {
        let lanes = [Lane::new("one", one), Lane::new("other", other)];
        let mut model = Model { scene: Scene::new(), story: Story::default(), said: 0, lanes, sent: Vec::new() };
        model.scene.user("Let us begin.");
        acts.iter().for_each(|act| model.act(act));
        (0..2).for_each(|lane| model.build(lane));
        let elsewhere = model.scene.elsewhere();
        for (at, body) in &model.sent {
            let replayed = block_on(elsewhere.replay(Some(*at))).unwrap().body;
            prop_assert!(replayed == *body, "the request of {}: {:?}", at, parts(body, &replayed));
        }
        model.scene.is_whole();
    }
}
