//! A clock that jumps: order, replays, imports and erasures go by positions and epochs, never by the time.

use crate::compacts_without_losing::compaction::scene::{by_hand, policy};
use crate::scene::{Home, built, catch_up, events, problems, session, stream, transcript, window};
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use wunderblock::store::sqlite::Access;
use wunderblock::{Along, CompactionResult, Config, Engine};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::EventId;
use wunderblock_core::message::Message;
use wunderblock_core::units::{Millis, Seq};

const NOW: i64 = 1_800_000_000_000;
const YEAR: i64 = 365 * 24 * 3_600_000;

/// A ledger with a clock that is set at each step.
struct Story {
    home: Home,
    clock: Arc<AtomicI64>,
    jumps: Vec<i64>,
    engine: Engine,
}

fn open(home: &Home, clock: &Arc<AtomicI64>) -> Engine {
    let clock = Arc::clone(clock);
    let config =
        Config { clock: Arc::new(move || Millis(clock.load(Ordering::SeqCst))), ..Config::default() };
    block_on(Engine::open_with(home.db(), Access::Create, config)).unwrap()
}

/// Returns a line in the format of Claude Code.
fn line(id: usize) -> String {
    let parent = id.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"r{parent}\""));
    format!(
        r#"{{"type":"user","uuid":"r{id}","parentUuid":{parent},"sessionId":"imported","message":{{"role":"user","content":"record {id} of the file"}}}}"#
    ) + "\n"
}

fn file(lines: usize) -> String {
    (0..lines).map(line).collect()
}

impl Story {
    fn new(jumps: &[i64]) -> Self {
        let (home, clock) = (Home::new(), Arc::new(AtomicI64::new(NOW)));
        let engine = open(&home, &clock);
        Self { home, clock, jumps: jumps.to_vec(), engine }
    }

    /// Moves the clock to the next time, and opens the ledger as another process would.
    fn jump(&mut self) {
        if let Some(next) = self.jumps.pop() {
            self.clock.store(next, Ordering::SeqCst);
        }
        self.engine = open(&self.home, &self.clock);
    }

    fn say(&self, numbers: std::ops::Range<usize>) {
        let said = numbers.map(|number| {
            let text = format!("Please fix src/part_{number}.rs, it fails with E{number:05}, as before. ");
            let message = Message::user(text.repeat(12));
            let id = EventId::new(format!("m{number}")).unwrap();
            let fact = Fact::MessageAppended(MessageAppended { message });
            NewEvent { id, at: Millis(self.clock.load(Ordering::SeqCst)), source: EventSource::Live, fact }
        });
        let done = block_on(self.engine.session_by_id(stream("s")).append(said.collect::<Vec<_>>())).unwrap();
        assert!(done.windows(2).all(|two| two[0].seq.next() == two[1].seq), "in order, without gaps");
    }

    /// Builds a request, and proves it under another time.
    fn request(&mut self) {
        let recorded = built(&session(&self.engine, "s"), &window(16_000));
        self.jump();
        let replayed = block_on(session(&self.engine, "s").replay(recorded.recorded)).unwrap();
        assert_eq!(replayed.body, recorded.draft.body);
    }

    fn take_in(&self, lines: usize) {
        let path = self.home.file("imported.jsonl", file(lines));
        crate::scene::import(&self.engine, &path);
    }

    /// Lives through everything that has an order, a lease or an epoch. Returns what must not depend on the clock.
    fn live(mut self) -> Vec<String> {
        self.say(0..60);
        self.take_in(4);
        self.jump();
        self.say(60..80);
        self.request();
        let steps =
            policy("extends = \"lossless\"\n[[step]]\ndo = \"summarise\"\nchunk = 4_000\nall = true\n");
        let compacted = block_on(session(&self.engine, "s").compact(&by_hand(&steps, 16_000))).unwrap();
        assert_eq!(compacted.outcome, CompactionResult::Compacted);
        self.jump();
        self.request();
        catch_up(&self.engine);
        block_on(session(&self.engine, "s").erase(Seq(70), Seq(70), None)).unwrap();
        block_on(session(&self.engine, "imported").erase(Seq(3), Seq(3), None)).unwrap();
        self.jump();
        // What was erased does not return, whatever time the file and the erasure have.
        self.take_in(7);
        self.jump();
        let again = block_on(session(&self.engine, "s").append(vec![NewEvent {
            id: EventId::new("m68").unwrap(),
            at: Millis(self.clock.load(Ordering::SeqCst)),
            source: EventSource::Live,
            fact: Fact::MessageAppended(MessageAppended { message: Message::user("another") }),
        }]));
        assert!(again.unwrap()[0].erased, "its id is taken");
        self.request();
        self.jump();
        self.take_in(9);
        catch_up(&self.engine);
        assert_eq!(problems(&self.engine), [""; 0]);
        let mut left: Vec<String> = ["s", "imported"]
            .iter()
            .flat_map(|id| {
                let session = session(&self.engine, id);
                // Requests and summaries follow, whose number depends on the tokens of handles, and so on a random key.
                let own = events(&session).into_iter().take_while(|event| event.seq <= Seq(81));
                let kinds = own.map(|event| match (&event.fact, &event.erased) {
                    (Some(fact), _) => format!("{id}#{} {}", event.seq, fact.kind()),
                    (None, remains) => format!("{id}#{} erased {:?}", event.seq, remains),
                });
                kinds.chain(transcript(&session)).collect::<Vec<_>>()
            })
            .collect();
        let all = Along { children: true, copies: true };
        block_on(session(&self.engine, "imported").erase_all(None, all)).unwrap();
        self.jump();
        self.take_in(11);
        left.extend(transcript(&session(&self.engine, "imported")));
        left
    }
}

#[test]
fn a_clock_that_jumps_back_changes_no_order_no_replay_and_no_erasure() {
    let steady = Story::new(&[]).live();
    assert!(steady.iter().any(|line| line.contains("erased")), "{steady:#?}");
    assert!(!steady.iter().any(|line| line.contains("record 1 of")), "{steady:#?}");
    let year = |years: i64| NOW + years * YEAR;
    // Taken from the end.
    for jumps in [
        [year(-31), year(2), year(-95), year(1), year(-95), year(30), year(-3), year(-1), year(-20)],
        [year(0), year(3_000), year(-31), year(3_000), year(-31), year(3), year(-31), year(3), year(-31)],
    ] {
        assert_eq!(Story::new(&jumps).live(), steady);
    }
}
