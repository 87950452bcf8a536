//! Recorded usage of a session: the measured size of its context, and the calibration of our estimates.

use futures_executor::block_on;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::{Config, ContextOptions, Engine, Session, Usage};
use wunderblock_core::event::{
    EventSource, Fact, MessageAppended, NewEvent, SessionCompacted, TurnCompleted, UsageMeasured,
};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::usage::Calibration;
use wunderblock_testkit::backdoor::put;

const MODEL: &str = "claude-sonnet-4-5-20250929";

/// A session written event by event.
struct Scene {
    folder: tempfile::TempDir,
    session: Session,
    events: u64,
    /// Position of our request that the usage belongs to; `None` for requests that others sent.
    request: Option<Seq>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let engine = block_on(Engine::open_with(&path, Access::Create, Config::default())).unwrap();
        let session = engine.session_by_id(StreamId::new("s").unwrap());
        Self { folder, session, events: 0, request: None }
    }

    fn add(&mut self, fact: Fact) -> Seq {
        self.events += 1;
        let id = EventId::new(format!("e{}", self.events)).unwrap();
        let event = NewEvent { id, at: Millis(1_700_000_000_000), source: EventSource::Live, fact };
        if !event.fact.is_open() {
            let storage = Sqlite::open(&self.folder.path().join("ledger.db"), Access::Write).unwrap();
            return put(&storage, "local", self.session.id(), vec![event])[0];
        }
        block_on(self.session.append(vec![event])).unwrap().last().unwrap().seq
    }

    fn say(&mut self, message: Message) -> Seq {
        self.add(Fact::MessageAppended(MessageAppended { message }))
    }

    fn ask(&mut self, text: &str) -> Seq {
        self.say(Message::text(Role::User, text))
    }

    fn answer(&mut self, api_id: &str, text: &str) -> Seq {
        let said = Message::text(Role::Assistant, text);
        self.say(Message { api_id: Some(api_id.into()), model: Some(MODEL.into()), ..said })
    }

    fn usage(&mut self, api_id: &str, model: &str, (input, cached, output): (u64, u64, u64)) -> Seq {
        self.add(Fact::UsageMeasured(UsageMeasured {
            api_id: Some(api_id.into()),
            model: Some(model.into()),
            input: Tokens(input),
            cache_read: Tokens(cached),
            cache_write: Tokens(3),
            output: Tokens(output),
            window: None,
            request: self.request,
        }))
    }

    /// Builds a request and treats all later usage as the usage of this request.
    fn sends(&mut self) {
        let options = ContextOptions { model: Some(MODEL.into()), ..in_main() };
        self.request = block_on(self.session.context(&options)).unwrap().recorded;
    }

    fn told(&self, options: &ContextOptions) -> Usage {
        block_on(self.session.usage(options)).unwrap().unwrap()
    }

    /// Returns the position of the anchor, its measured tokens, and the tokens added after the anchor.
    fn anchor(&self) -> Option<(Seq, u64, u64)> {
        let told = self.told(&in_main());
        told.anchor.map(|anchor| (anchor.seq, anchor.measured.0, anchor.since.0))
    }
}

/// Returns options for the main lane, without naming a model.
fn in_main() -> ContextOptions {
    ContextOptions { lane: Some(LaneId::main()), ..ContextOptions::uncompacted() }
}

/// Text of ten o200k tokens. As a user message for Claude, this text costs an estimated 13 tokens, plus frames of 6
/// and 5, and 12 tokens that the provider adds.
const TEN: &str = "one two three four five six seven eight nine ten";
const TEN_COSTS: u64 = 13 + 6 + 5 + 12;

#[test]
fn an_anchor_moves_with_the_session() {
    let mut scene = Scene::new();
    scene.ask("hello");
    assert_eq!(block_on(scene.session.usage(&ContextOptions::uncompacted())).unwrap(), None, "no model yet");
    scene.answer("msg_1", "hi");
    assert_eq!(scene.anchor(), None);
    scene.usage("msg_1", MODEL, (10, 1_000, 20));
    assert_eq!(scene.anchor(), None, "nobody knows what others sent");
    scene.sends();
    let first = scene.usage("msg_1", MODEL, (10, 1_000, 20));
    assert_eq!(scene.anchor(), Some((first, 1_033, 0)));
    scene.ask(TEN);
    assert_eq!(scene.anchor(), Some((first, 1_033, TEN_COSTS)));

    // A reply in two pieces, with its usage recorded twice.
    scene.answer("msg_2", TEN);
    scene.usage("msg_2", MODEL, (10, 1_100, 1));
    scene.answer("msg_2", TEN);
    let second = scene.usage("msg_2", MODEL, (10, 1_100, 40));
    assert_eq!(scene.anchor(), Some((second, 1_153, 0)));

    // A failed reply, an aside and another model's reply are not part of this model's context.
    let failed = Message { api_id: Some("msg_3".into()), ..Message::text(Role::Assistant, TEN) };
    scene.say(failed.standing(MessageOrigin::Failed("aborted".into())));
    scene.usage("msg_3", MODEL, (10, 7_000, 1));
    scene.say(Message::text(Role::User, TEN).standing(MessageOrigin::Aside("a note".into())));
    assert_eq!(scene.anchor(), Some((second, 1_153, 0)));
    scene.ask(TEN);
    scene.answer("msg_4", TEN);
    scene.usage("msg_4", "gpt-4o", (10, 7_000, 1));
    assert_eq!(scene.anchor(), Some((second, 1_153, 2 * TEN_COSTS)));
    let elsewhere = scene.told(&ContextOptions { model: Some("gpt-4o".into()), ..in_main() });
    assert_eq!(elsewhere.anchor.unwrap().measured, Tokens(7_014));

    // An aborted turn also invalidates the reply before it. A refusal for lack of room does not invalidate the reply.
    let turn = |code: Option<&str>| TurnCompleted {
        stop_reason: "error".into(),
        error_code: code.map(Into::into),
        ..TurnCompleted::default()
    };
    scene.answer("msg_5", TEN);
    let fifth = scene.usage("msg_5", MODEL, (10, 1_300, 12));
    scene.add(Fact::TurnCompleted(turn(Some("context_overflow"))));
    assert_eq!(scene.anchor(), Some((fifth, 1_325, 0)));
    scene.say(Message::text(Role::User, TEN).standing(MessageOrigin::Aside("a note".into())));
    scene.add(Fact::TurnCompleted(turn(None)));
    assert_eq!(scene.anchor(), Some((second, 1_153, 3 * TEN_COSTS)));

    let compacted = SessionCompacted::new(Seq(2), fifth, "an agent");
    scene.add(Fact::SessionCompacted(Box::new(compacted)));
    scene.ask(TEN);
    assert_eq!(scene.anchor(), None);
    scene.answer("msg_6", TEN);
    let last = scene.usage("msg_6", "anthropic/claude-sonnet-4-5", (10, 200, 12));
    assert_eq!(scene.anchor(), Some((last, 225, 0)));
    // As of an earlier position, only what was known at that position counts.
    let before = ContextOptions { at: Some(first), ..ContextOptions::uncompacted() };
    assert_eq!(scene.told(&before).anchor.unwrap().seq, first);
}

/// Creates ten replies whose measured input grows by `grows` each, while our estimate of each turn stays the same.
fn growing(model: &str, grows: u64, thinking: bool) -> Scene {
    let mut scene = Scene::new();
    for number in 0..10 {
        scene.ask(&format!("{TEN}\n{}", "word ".repeat(400)));
        let api_id = format!("msg_{number}");
        let mut said = Message::text(Role::Assistant, TEN);
        if thinking {
            let text = "hm".into();
            said.parts.insert(0, Part::Thinking { text, signature: Some("c2ln".into()), extra: None });
        }
        scene.say(Message { api_id: Some(api_id.as_str().into()), model: Some(model.into()), ..said });
        scene.usage(&api_id, model, (10, 1_000 + number * grows, 20));
    }
    scene
}

#[test]
fn estimates_are_corrected_by_the_models_own_usage_and_no_others() {
    let learned = |scene: &Scene, model: &str| {
        let options = ContextOptions { model: Some(model.into()), ..ContextOptions::uncompacted() };
        scene.told(&options).calibration.map(|Calibration { per_mille, replies }| (per_mille, replies))
    };
    let scene = growing(MODEL, 600, false);
    let (per_mille, replies) = learned(&scene, MODEL).unwrap();
    // By our estimate, each turn adds 522 tokens for the user's text (411 at a factor of 1.27), 13 for the reply, 24
    // around these two messages and 22 for frames.
    assert_eq!(replies, 9);
    assert!((1_025..=1_040).contains(&per_mille), "{per_mille}");
    assert_eq!(learned(&scene, "claude-sonnet-4-5"), Some((per_mille, replies)), "the same model");
    assert_eq!(learned(&scene, "claude-sonnet-4"), None, "another one of its family");
    assert_eq!(learned(&scene, "gemini-2.5-pro"), None);
    // The tokens since the anchor are corrected as well.
    let since = |scene: &mut Scene| {
        scene.sends();
        scene.usage("msg_9", MODEL, (10, 46_000, 20));
        scene.ask(TEN);
        scene.anchor().unwrap().2
    };
    let mut large = growing(MODEL, 5_000, false);
    assert_eq!(learned(&large, MODEL), Some((2_000, 9)));
    assert_eq!(since(&mut large), 11 + 2 * (TEN_COSTS - 11));
    // A model with its own vocabulary is not corrected, and nothing is learned from too little growth.
    assert_eq!(learned(&growing("gpt-4o", 900, false), "gpt-4o"), None);
    assert_eq!(learned(&growing(MODEL, 100, false), MODEL), None);
    // Reasoning is dropped when the next turn begins, so growth across that point is not usable.
    assert_eq!(learned(&growing(MODEL, 600, true), MODEL), None);
}

#[test]
fn a_request_of_ours_is_compared_with_what_it_was_measured_at() {
    let mut scene = Scene::new();
    let long = "word ".repeat(3_000);
    let options = ContextOptions { model: Some(MODEL.into()), ..ContextOptions::uncompacted() };
    for number in 0..8 {
        scene.ask(&format!("{number} {long}"));
        let built = block_on(scene.session.context(&options)).unwrap();
        let api_id = format!("msg_{number}");
        scene.answer(&api_id, TEN);
        let measured = built.draft.report.total_tokens.0 * 5 / 4;
        scene.usage(&api_id, MODEL, (measured - 3, 0, 20));
    }
    let calibration = scene.told(&options).calibration.unwrap();
    assert!((1_249..=1_250).contains(&calibration.per_mille), "{calibration:?}");
    assert_eq!(calibration.replies, 8);
}

#[test]
fn room_is_kept_for_what_the_agent_adds() {
    let mut scene = Scene::new();
    for number in 0..200_u64 {
        scene.ask(TEN);
        let api_id = format!("msg_{number}");
        scene.answer(&api_id, TEN);
        scene.usage(&api_id, MODEL, (9_000 + (2 * number + 1) * TEN_COSTS, 0, 20));
    }
    // A window that fits only the end of the session.
    let window =
        |harness| ContextOptions { window: Some(Tokens(16_000)), harness, ..ContextOptions::uncompacted() };
    let shown = block_on(scene.session.explain(window(true))).unwrap().draft;
    let built = block_on(scene.session.context(window(true))).unwrap().draft;
    assert_eq!(shown.body, built.body);
    let overhead = built.overhead.unwrap();
    assert_eq!(overhead.replies, 8);
    assert!((8_900..=9_003).contains(&overhead.tokens.0), "{overhead:?}");
    let free = block_on(scene.session.explain(window(false))).unwrap().draft;
    assert_eq!(free.overhead, built.overhead, "known, and no part of the request");
    assert_eq!(free.report.limit, built.report.limit + overhead.tokens);
    assert_eq!((free.report.added, built.report.added), (Tokens::ZERO, overhead.tokens));
    assert!(built.report.total_tokens <= built.report.limit);
    // The same lane gets the same limit if it is resumed instead of named.
    let lane = block_on(scene.session.lane(None).built()).unwrap().unwrap();
    let resumed = block_on(scene.session.explain(lane.resume(ContextOptions::uncompacted()))).unwrap().draft;
    assert_eq!(resumed.report.limit, built.report.limit);
    // The overhead stays with the lane. A session without measurements has no overhead.
    scene.ask(TEN);
    assert_eq!(block_on(scene.session.context(window(true))).unwrap().draft.overhead, Some(overhead));
    let mut bare = Scene::new();
    bare.ask(TEN);
    let none = block_on(bare.session.context(window(true))).unwrap().draft;
    assert_eq!((none.overhead, none.report.added), (None, Tokens::ZERO));
}
