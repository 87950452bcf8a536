//! What is made from content while the content is erased: the copy is not kept, and an erasure elsewhere costs nothing.

use crate::scene::{append, config, exported, problems, said, session, stream, window};
use futures_executor::block_on;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use wunderblock::policy::Policies;
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Write, Written};
use wunderblock::summarize::{CallFailure, Summarise, SummaryTask, SummaryText};
use wunderblock::{
    CompactOptions, Compacted, CompactionResult, Compactor, ContextOptions, Engine, SearchOptions, Session,
};
use wunderblock_core::message::Role;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_testkit::memory::MemoryStorage;

const MARK: &str = "Quarzvenediger7731";

/// A store that runs a closure once, before the first commit that contains a wanted write.
struct Interrupted {
    store: Arc<dyn Storage>,
    is_wanted: fn(&Write) -> bool,
    once: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Storage for Interrupted {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        if commit.writes.iter().any(self.is_wanted)
            && let Some(once) = self.once.lock().unwrap().take()
        {
            std::thread::spawn(once).join().unwrap();
        }
        self.store.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.store.query(queries)
    }
}

/// A ledger, an engine on it, and another engine on it whose work is interrupted.
struct Race {
    engine: Engine,
    worker: Engine,
}

impl Race {
    fn new(is_wanted: fn(&Write) -> bool, meanwhile: impl FnOnce(&Engine) + Send + 'static) -> Self {
        let store: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let engine = block_on(Engine::on(Arc::clone(&store), true, config())).unwrap();
        let other = engine.clone();
        let once: Box<dyn FnOnce() + Send> = Box::new(move || meanwhile(&other));
        let between = Interrupted { store, is_wanted, once: Mutex::new(Some(once)) };
        let worker = block_on(Engine::on(Arc::new(between), true, config())).unwrap();
        for id in ["s", "other"] {
            append(&engine, id, vec![said("1", Role::User, &format!("rename {MARK} in src/lib.rs"))]);
            for turn in 0..40 {
                let text =
                    format!("step {turn} of the work in src/file_{turn}.rs. {}", "lorem ipsum ".repeat(60));
                append(&engine, id, vec![said(&format!("r{turn}"), Role::Assistant, &text)]);
                append(&engine, id, vec![said(&format!("u{turn}"), Role::User, "go on")]);
            }
        }
        Self { engine, worker }
    }

    fn session(&self) -> Session {
        session(&self.worker, "s")
    }

    /// Checks that nothing of the session holds the erased text.
    fn is_gone(&self) {
        assert!(!exported(&session(&self.engine, "s")).contains(MARK));
        let options = SearchOptions { session: Some(stream("s")), ..SearchOptions::default() };
        assert!(block_on(self.engine.recall().search(MARK, &options)).unwrap().hits.is_empty());
        assert_eq!(problems(&self.engine), [""; 0]);
    }
}

fn appends(write: &Write, kind: &str) -> bool {
    matches!(write, Write::Append { events, .. } if events.iter().any(|event| event.kind == kind))
}

fn erase(engine: &Engine, id: &str, seq: u64) {
    block_on(session(engine, id).erase(Seq(seq), Seq(seq), None)).unwrap();
}

fn balanced() -> Arc<Policy> {
    Policies::embedded().preset("balanced").unwrap()
}

fn compacting() -> ContextOptions {
    ContextOptions { compactor: Some(Compactor::new(balanced())), ..window(6_000) }
}

/// A summariser that counts its calls.
struct Counting(AtomicUsize);

impl Summarise for Counting {
    fn name(&self) -> String {
        "counting".to_owned()
    }

    fn window(&self) -> Option<Tokens> {
        Some(Tokens(200_000))
    }

    fn summarise(
        &self,
        _: &SummaryTask,
        _: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = "## Goal\nThe work in src/lib.rs goes on.".to_owned();
        Ok(SummaryText { text, spent: None, failure: None })
    }
}

fn compacted(race: &Race, summariser: &Arc<Counting>) -> Compacted {
    let mut compactor = Compactor::new(balanced());
    compactor.summariser = Some(Arc::clone(summariser) as Arc<dyn Summarise>);
    block_on(race.session().compact(&CompactOptions::new(window(6_000), compactor))).unwrap()
}

#[test]
fn a_request_repeats_nothing_that_was_erased_while_it_was_built() {
    let is_request: fn(&Write) -> bool = |write| appends(write, "context.built");
    let race = Race::new(is_request, |engine| erase(engine, "s", 2));
    let built = block_on(race.session().context(window(60_000))).unwrap();
    assert!(!String::from_utf8_lossy(&built.draft.body).contains(MARK));
    race.is_gone();
}

#[test]
fn a_summary_repeats_nothing_that_was_erased_while_it_was_written() {
    let is_summary: fn(&Write) -> bool = |write| appends(write, "session.compacted");
    let race = Race::new(is_summary, |engine| erase(engine, "s", 2));
    let built = block_on(race.session().context(compacting())).unwrap();
    assert!(!String::from_utf8_lossy(&built.draft.body).contains(MARK));
    race.is_gone();
}

#[test]
fn an_erasure_of_another_session_costs_no_second_call_of_a_model() {
    let is_summary: fn(&Write) -> bool = |write| appends(write, "session.compacted");
    let alone = Arc::new(Counting(AtomicUsize::new(0)));
    let quiet = Race::new(is_summary, |_| ());
    assert_eq!(compacted(&quiet, &alone).outcome, CompactionResult::Compacted);
    let beside = Arc::new(Counting(AtomicUsize::new(0)));
    let race = Race::new(is_summary, |engine| erase(engine, "other", 2));
    assert_eq!(compacted(&race, &beside).outcome, CompactionResult::Compacted);
    let calls = |summariser: &Counting| summariser.0.load(Ordering::SeqCst);
    assert!(calls(&alone) > 0);
    assert_eq!(calls(&beside), calls(&alone));
}

#[test]
fn an_erasure_finds_what_was_made_while_it_searched() {
    let is_erasure: fn(&Write) -> bool = |write| matches!(write, Write::Erase { .. });
    let race = Race::new(is_erasure, |engine| {
        let built = block_on(session(engine, "s").context(compacting())).unwrap();
        assert!(built.compacted.is_some());
    });
    block_on(race.session().erase(Seq(2), Seq(2), None)).unwrap();
    race.is_gone();
}

#[test]
fn an_erasure_of_all_finds_what_was_said_while_it_searched() {
    let is_erasure: fn(&Write) -> bool = |write| matches!(write, Write::Erase { .. });
    let race = Race::new(is_erasure, |engine| {
        block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
        append(engine, "s", vec![said("later", Role::User, "this was said after the order")]);
    });
    block_on(race.session().erase_all(None, wunderblock::Along::default())).unwrap();
    race.is_gone();
    assert!(exported(&session(&race.engine, "s")).contains("after the order"));
}
