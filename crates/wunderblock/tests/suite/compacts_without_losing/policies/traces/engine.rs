//! The engine's own ladder on a session of known sizes, recorded as a trace.

use super::Trace;
use super::session::{Role, Room, Session};
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::budget::{Budget, Treatment, WindowSource};
use wunderblock_core::compact::due::stands;
use wunderblock_core::compact::task::TaskSource;
use wunderblock_core::compact::{Ladder, LaneMeasurement, NextStep, Proposal, TaskRange, TaskState, due};
use wunderblock_core::decision::PartForm;
use wunderblock_core::event::{Event, EventSource, Fact, MessageAppended};
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId, TenantId};
use wunderblock_core::message::{Body, Message, Part, Role as Speaker};
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::{PlanInput, weigh};
use wunderblock_core::policy::Policy;
use wunderblock_core::ports::{Bodies, CostModel};
use wunderblock_core::trim::treatment;
use wunderblock_core::units::{Bytes, Cost, Millis, Seq, Tokens};
use wunderblock_core::view::View;

/// Returns the number of tokens in the frames around a message of each kind. The cost model supplies the number of
/// the other tokens.
const fn frame(role: Role) -> u64 {
    match role {
        Role::User | Role::Reply => 11,
        Role::Call => 18,
        Role::Result => 29,
    }
}

/// Costs as the session defines them.
#[derive(Default)]
struct Sizes(HashMap<Handle, (u64, String)>);

impl CostModel for Sizes {
    fn text(&self, text: &str) -> Cost {
        let len = text.len() as u64;
        Cost::new(len / 8, len)
    }
    fn json(&self, text: &str) -> Cost {
        CostModel::text(self, text)
    }
    fn blob(&self, handle: Handle) -> Cost {
        self.0.get(&handle).map_or(Cost::ZERO, |(tokens, _)| Cost::new(*tokens, tokens * 4))
    }
    fn json_blob(&self, handle: Handle) -> Cost {
        self.blob(handle)
    }
}

impl Bodies for Sizes {
    fn text(&self, handle: Handle) -> Option<&str> {
        self.0.get(&handle).map(|(_, text)| text.as_str())
    }
}

/// The first message of a session is the second event of its stream.
const fn seq(position: u64) -> Seq {
    Seq(position + 1)
}

const fn position(seq: Seq) -> u64 {
    seq.0.saturating_sub(1)
}

fn body(sizes: &mut Sizes, role: Role, tokens: u64, text: &str) -> Body {
    let hash = blake3::hash(format!("{tokens} {text}").as_bytes());
    let blob = Handle(u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap()));
    sizes.0.insert(blob, (tokens - frame(role), text.to_owned()));
    Body::Blob { blob, bytes: Bytes(tokens * 4), lines: 40 }
}

fn event(sizes: &mut Sizes, session: &Session, at: u64) -> Event {
    let said = session.at(at);
    let text = body(sizes, said.role, said.tokens, &said.text);
    // A result immediately follows its call.
    let call = |at: u64| format!("c{at}").as_str().into();
    let message = match said.role {
        Role::User => Message::text(Speaker::User, text),
        Role::Reply => Message::text(Speaker::Assistant, text),
        Role::Call => {
            let part =
                Part::ToolCall { call: call(at), name: "".into(), input: text, gist: None, extra: None };
            Message::new(Speaker::Assistant, vec![part])
        }
        Role::Result => {
            let content = vec![Part::text(text)];
            let part = Part::ToolResult { call: call(at - 1), content, failed: false, extra: None };
            Message::new(Speaker::Tool, vec![part])
        }
    };
    Event {
        tenant: TenantId::local(),
        stream: StreamId::new("s").unwrap(),
        seq: seq(at),
        id: EventId::new(format!("e{at}")).unwrap(),
        at: Millis(0),
        source: EventSource::Live,
        fact: Some(Fact::MessageAppended(MessageAppended { message })),
        erased: None,
    }
}

fn tasks(session: &Session, to: u64) -> Vec<TaskRange> {
    let begun = session.tasks.iter().filter(|task| *task.start() <= to);
    let mut tasks: Vec<TaskRange> = begun
        .map(|task| TaskRange {
            from: seq(*task.start()),
            to: seq((*task.end()).min(to)),
            state: TaskState::Finished,
            title: None,
            by: TaskSource::Event,
        })
        .collect();
    if let Some(last) = tasks.last_mut() {
        last.state = TaskState::Active;
    }
    tasks
}

/// Returns the engine's first compaction of a session under a policy.
pub(crate) fn engine(session: &Session, policy: &Policy, room: Room) -> Option<Trace> {
    let mut sizes = Sizes::default();
    let events: Vec<Event> = (1..=session.len()).map(|at| event(&mut sizes, session, at)).collect();
    let budget = Budget {
        window: Tokens(room.window),
        window_source: WindowSource::Declared,
        reserve: Tokens(room.window - room.budget),
        margin: Tokens::ZERO,
        added: Tokens::ZERO,
        max_bytes: Bytes(u64::MAX),
    };
    let mut view = View::new(LaneId::main());
    for (at, event) in (1..).zip(&events) {
        view.apply(event);
        let ask = PlanInput {
            view: &view,
            stream: Handle(1),
            budget,
            costs: &sizes,
            bodies: &sizes,
            fixed: &[],
            must: &[],
            hits: &[],
            recall: Tokens::ZERO,
            transcript: Tokens(room.budget),
            floor: Seq::START,
        };
        let tokens = weigh(&ask).tokens;
        let tasks = tasks(session, at);
        let ends = session.tasks.iter().any(|task| *task.end() == at);
        let measure = LaneMeasurement {
            tokens,
            limit: Tokens(room.budget),
            window: Tokens(room.window),
            overflows: tokens.0 > room.budget,
            messages: at,
            unsummarised: tokens,
            stands: stands(&arrange(&view), &view, ends),
            ..LaneMeasurement::default()
        };
        let Some(due) = due(policy, &measure) else { continue };
        let mut ladder = Ladder::new(policy, ask, due.level, &tasks);

        let proposal = loop {
            match ladder.climb() {
                NextStep::Done(proposal) => break proposal,
                NextStep::Summarise(jobs) => {
                    ladder.take(jobs.iter().map(|_| Some(Body::from("a summary"))).collect(), 0);
                }
            }
        };
        if proposal.trim.is_some() {
            return Some(trace(at, due.level.word(), &view, &proposal));
        }
    }
    None
}

fn trace(at: u64, level: &'static str, view: &View, proposal: &Proposal) -> Trace {
    let trim = proposal.trim.as_ref().unwrap();
    let after = view.with(trim, &[], &[]);
    let mut trace = Trace { level, ..Trace::soft(at) };
    for node in &proposal.nodes {
        let range = position(node.job.from)..=position(node.job.to);
        if node.job.level == 0 { trace.summaries.push(range) } else { trace.condensed.push(range) }
    }
    let shown: BTreeSet<Seq> = arrange(&after)
        .exchanges
        .iter()
        .filter(|unit| treatment(unit, trim, &after) != Treatment::LeftOut)
        .flat_map(|unit| unit.members.iter().copied())
        .collect();
    for place in 1..=at {
        let form = trim.forms.iter().find(|((seq, _), _)| position(*seq) == place).map(|(_, form)| *form);
        let summarised =
            trim.nodes.iter().any(|node| (position(node.from)..=position(node.to)).contains(&place));
        match (form, shown.contains(&seq(place))) {
            (Some(PartForm::Reduced(_)), true) => trace.shrunk.insert(place),
            (Some(_), true) => trace.stubbed.insert(place),
            (None, true) => trace.verbatim.insert(place),
            (_, false) if summarised => continue,
            (_, false) => trace.dropped.insert(place),
        };
    }
    let tail = (1..=at).rev().take_while(|place| trace.verbatim.contains(place)).last();
    trace.cut = tail.filter(|cut| *cut > 1);
    trace
}
