//! Sessions to play, and the policies to play them under.

use futures_executor::block_on;
use proptest::prelude::*;
use std::sync::Arc;
use wunderblock::policy::Policies;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, ContextOptions, Engine, PolicyResult, Session, SimulateOptions, Simulation};
use wunderblock_core::event::{ContentPinned, EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};

/// A ledger with one session.
pub(crate) struct Played {
    _folder: tempfile::TempDir,
    pub(crate) engine: Engine,
    pub(crate) session: Session,
}

/// Records a session.
pub(crate) fn played(events: Vec<NewEvent>) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let engine =
        block_on(Engine::open_with(folder.path().join("ledger.db"), Access::Create, Config::default()))
            .unwrap();
    let session = engine.session_by_id(StreamId::new("played").unwrap());
    for some in events.chunks(200) {
        block_on(session.append(some.to_vec())).unwrap();
    }
    Played { _folder: folder, engine, session }
}

/// Returns the presets with these names.
pub(crate) fn presets(names: &[&str]) -> Vec<Arc<Policy>> {
    names.iter().map(|name| Policies::embedded().named(name).unwrap()).collect()
}

pub(crate) fn every_preset() -> Vec<Arc<Policy>> {
    presets(&Policies::embedded().names().collect::<Vec<_>>())
}

pub(crate) fn options(window: u64, reserve: Option<u64>, policies: Vec<Arc<Policy>>) -> SimulateOptions {
    let context = ContextOptions {
        model: Some("claude-sonnet-4-5".to_owned()),
        window: Some(Tokens(window)),
        reserve: reserve.map(Tokens),
        ..ContextOptions::uncompacted()
    };
    SimulateOptions {
        context,
        policies,
        against: "balanced".into(),
        windows: 1,
        recall: false,
        summary_tokens: None,
        summariser: None,
        progress: None,
    }
}

/// Plays a session, and sets the times to 0, because they differ from run to run.
pub(crate) fn simulate(session: &Session, options: &SimulateOptions) -> Simulation {
    simulate_all(&[vec![session.clone()]], options)
}

pub(crate) fn simulate_all(histories: &[Vec<Session>], options: &SimulateOptions) -> Simulation {
    let engine = histories[0][0].engine();
    let mut found = block_on(engine.simulate(histories, options)).unwrap().unwrap();
    let own = found.histories.iter_mut().flat_map(|one| &mut one.policies);
    own.chain(&mut found.policies).for_each(|policy| policy.time_ms = 0);
    found
}

pub(crate) fn of<'s>(found: &'s Simulation, name: &str) -> &'s PolicyResult {
    found.policies.iter().find(|policy| policy.name == name).unwrap()
}

/// Something that happens in a session.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User(usize),
    /// A reply, given by the number of bytes in its text and by its calls; each call has the number of bytes in its
    /// result, if there is one, and whether the result is late.
    Reply(usize, Vec<(Option<usize>, bool)>),
    System(usize),
    Pin(u8),
    /// A pause of the given number of seconds.
    Pause(u32),
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1..400_usize, 2 => 400..4_000_usize, 1 => 4_000..30_000_usize]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let call = (proptest::option::weighted(0.9, size()), any::<bool>());
    let step = prop_oneof![
        3 => size().prop_map(Step::User),
        6 => (size(), proptest::collection::vec(call, 0..3)).prop_map(|(text, calls)| Step::Reply(text, calls)),
        1 => (1..300_usize).prop_map(Step::System),
        1 => any::<u8>().prop_map(Step::Pin),
        1 => (1..4_000_u32).prop_map(Step::Pause),
    ];
    proptest::collection::vec(step, 1..60).prop_map(|mut steps| {
        steps.insert(0, Step::User(120));
        steps.push(Step::Reply(40, Vec::new()));
        steps
    })
}

/// Returns a text of `bytes` bytes that names paths and numbers, some of them repeatedly.
fn text(bytes: usize, at: usize) -> String {
    let mut out = String::new();
    let mut number = at * 7 + 3;
    while out.len() < bytes {
        number = (number * 31 + 17) % 9_973;
        out.push_str(&format!(
            "see src/part_{}.rs near item_{number} or ticket {};\n",
            number % 53,
            number + 10_000
        ));
    }
    out.truncate(bytes);
    out
}

/// Returns the events of a session.
pub(crate) fn events(steps: &[Step]) -> Vec<NewEvent> {
    let mut events: Vec<NewEvent> = Vec::new();
    let mut clock = 1_700_000_000_000_i64;
    let mut late: Vec<Message> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        clock += 1_500;
        let mut say = |message: Message| {
            let id = EventId::new(format!("m{}", events.len())).unwrap();
            let fact = Fact::MessageAppended(MessageAppended { message });
            events.push(NewEvent { id, at: Millis(clock), source: EventSource::Live, fact });
        };
        match step {
            Step::User(bytes) => say(Message::text(Role::User, text(*bytes, at))),
            Step::System(bytes) => say(Message::text(Role::System, text(*bytes, at))),
            Step::Reply(bytes, calls) => {
                let mut parts = vec![Part::text(text(*bytes, at))];
                for (nth, _) in calls.iter().enumerate() {
                    let (call, name) = (format!("c{at}-{nth}").into(), "Bash".into());
                    let input = format!("{{\"command\":\"cat src/part_{}.rs\"}}", (at * 5 + nth) % 53);
                    parts.push(Part::ToolCall { call, name, input: input.into(), gist: None, extra: None });
                }
                say(Message::new(Role::Assistant, parts));
                for (nth, (answer, is_late)) in calls.iter().enumerate() {
                    let Some(bytes) = answer else { continue };
                    let content = vec![Part::text(text(*bytes, at + nth))];
                    let call = format!("c{at}-{nth}").into();
                    let part = Part::ToolResult { call, content, failed: false, extra: None };
                    let result = Message::new(Role::Tool, vec![part]);
                    if *is_late { late.push(result) } else { say(result) }
                }
                if at % 3 == 0 {
                    late.drain(..).for_each(&mut say);
                }
            }
            Step::Pin(share) => {
                let target = Seq(2 + events.len() as u64 * u64::from(*share) / 256);
                let id = EventId::new(format!("p{at}")).unwrap();
                let fact = Fact::ContentPinned(ContentPinned { target, pinned: share % 3 > 0 });
                events.push(NewEvent { id, at: Millis(clock), source: EventSource::Live, fact });
            }
            Step::Pause(seconds) => clock += i64::from(*seconds) * 1_000,
        }
    }
    events
}
