//! Appends events to a ledger without the live door: events of kinds that earlier versions accepted from callers, and
//! forged events.

#![allow(clippy::panic, reason = "a test whose scene cannot be set fails")]

use futures_executor::block_on;
use wunderblock_core::event::NewEvent;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, Commit, Query, Storage, Write, Written, codec};

/// Appends events of any kind to an existing stream and returns their positions.
///
/// # Panics
/// Panics if the tenant or the stream does not exist, or if the store rejects the events.
pub fn put(storage: &dyn Storage, tenant: &str, stream: &StreamId, events: Vec<NewEvent>) -> Vec<Seq> {
    let query = Query::Tenant { name: tenant.to_owned() };
    let Some(Answer::Tenant(Some(tenant))) = must(block_on(storage.query(vec![query]))).pop() else {
        panic!("there is no tenant `{tenant}`")
    };
    // Salts are derived from the event ids, so that a test writes the same bytes whenever it runs.
    let salt = |event: &NewEvent| -> [u8; 16] {
        let hash = blake3::hash(event.id.as_str().as_bytes());
        std::array::from_fn(|index| hash.as_bytes().get(index).copied().unwrap_or_default())
    };
    let pack = |event: NewEvent| must(codec::pack_event(&tenant.key, salt(&event), event));
    let events = events.into_iter().map(pack).collect();
    let write = Write::Append { tenant: tenant.no, stream: stream.clone(), expect_head: None, events };
    match must(block_on(storage.commit(Commit::raw(vec![write])))).pop() {
        Some(Written::Appended(placed)) => placed.into_iter().map(|one| one.seq).collect(),
        other => panic!("{other:?}"),
    }
}

fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
