//! A custom store: all data of the engine goes through a port of two methods. This store forwards to SQLite and
//! counts the round trips; your own database would answer the same queries. `wunderblock-testkit` has the suite that
//! any store must pass. Run with `cargo run -p wunderblock --example store`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wunderblock::prelude::*;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Written};

/// A store that counts the calls to another store.
struct Counting<S> {
    inner: S,
    reads: AtomicUsize,
    writes: AtomicUsize,
}

impl<S: Storage> Storage for Counting<S> {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.inner.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.query(queries)
    }
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-store-{}.db", std::process::id()));
    let inner = Sqlite::open(&path, Access::Create)?;
    let store = Arc::new(Counting { inner, reads: AtomicUsize::new(0), writes: AtomicUsize::new(0) });
    wunderblock::block_on(async {
        let engine = Engine::on(store.clone(), true, Config::default()).await?;
        let session = engine.session("counted").await?;
        session.append(Message::user("How many round trips does a request take?")).await?;
        let before = store.reads.load(Ordering::Relaxed);
        session.context(Model::named("claude-sonnet-4-5")).await?;
        println!("a request: {} reads", store.reads.load(Ordering::Relaxed) - before);
        println!("in all: {} writes", store.writes.load(Ordering::Relaxed));
        Ok(())
    })
}
