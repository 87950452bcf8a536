//! Planned faults occur as planned, and repeating the call recovers from them.

use futures_executor::block_on;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_store::{
    Answer, Commit, EventFilter, EventMark, Facets, Opening, PackedEvent, Query, ReadOrder, Storage,
    StoreError, StreamKind, TenantNo, Write, Written,
};
use wunderblock_testkit::conformance;
use wunderblock_testkit::faults::{FaultPlan, FaultTime, FaultyStorage, PortMethod};
use wunderblock_testkit::memory::MemoryStorage;

fn lost() -> StoreError {
    StoreError::Io("the connection was lost".to_owned())
}

fn faulty() -> (FaultyStorage<dyn Storage>, Arc<FaultPlan>) {
    let store = FaultyStorage::<dyn Storage>::new(Arc::new(MemoryStorage::new()));
    let faults = store.faults();
    (store, faults)
}

fn tenant(store: &dyn Storage) -> Result<TenantNo, StoreError> {
    let write = Write::Tenant { name: "t".to_owned(), key: [0; 32] };
    let written = block_on(store.commit(Commit::raw(vec![write])))?;
    match written.as_slice() {
        [Written::Tenant(tenant)] => Ok(tenant.no),
        other => Err(StoreError::Damaged(format!("answered was {other:?}"))),
    }
}

fn known(store: &dyn Storage) -> Result<bool, StoreError> {
    block_on(store.query(vec![Query::Tenant { name: "t".to_owned() }]))
        .map(|answers| matches!(answers.as_slice(), [Answer::Tenant(Some(_))]))
}

#[test]
fn fair_weather_changes_nothing() {
    conformance::suite(&|| Box::new(FaultyStorage::new(Arc::new(MemoryStorage::new()))) as Box<dyn Storage>);
}

#[test]
fn the_planned_call_fails_once_and_at_the_planned_time() {
    let (store, faults) = faulty();
    faults.fail(PortMethod::Commit, 2, FaultTime::After, lost());
    faults.fail(PortMethod::Commit, 1, FaultTime::Before, StoreError::Full);
    faults.fail(PortMethod::Query, 2, FaultTime::Before, StoreError::Locked);
    assert_eq!(tenant(&store), Err(StoreError::Full));
    assert_eq!(known(&store), Ok(false), "nothing reached the store");
    assert_eq!(tenant(&store), Err(lost()));
    assert_eq!(known(&store), Err(StoreError::Locked));
    assert_eq!(known(&store), Ok(true), "it was done, and nobody was told");
    assert!(tenant(&store).is_ok());
    assert_eq!((faults.trips(PortMethod::Commit), faults.trips(PortMethod::Query)), (3, 3));
    faults.fail(PortMethod::Commit, 1, FaultTime::Before, StoreError::Full);
    faults.clear();
    assert!(tenant(&store).is_ok());
}

#[test]
fn calls_take_as_long_as_was_said() {
    let (store, faults) = faulty();
    faults.set_latency(Duration::from_millis(20));
    let begun = Instant::now();
    assert!(tenant(&store).is_ok());
    assert!(begun.elapsed() >= Duration::from_millis(20));
    let many = (0..50).map(|_| store.query(Vec::new()));
    let (first, rest) = block_on(async {
        let mut all: Vec<_> = many.collect();
        // After one poll each, all calls wait at the same time, and none of them blocks the polling thread.
        for one in &mut all {
            assert!(futures_poll(one).is_none());
        }
        let mut rest = 0;
        let first = all.remove(0).await;
        for one in all {
            rest += usize::from(one.await.is_ok());
        }
        (first, rest)
    });
    assert_eq!((first, rest), (Ok(Vec::new()), 49));
}

fn futures_poll<T>(future: &mut wunderblock_store::Answering<'_, T>) -> Option<Result<T, StoreError>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => Some(done),
        std::task::Poll::Pending => None,
    }
}

#[test]
fn a_lost_answer_is_repaired_by_saying_it_again() {
    let (store, faults) = faulty();
    let tenant = tenant(&store).unwrap();
    let stream = StreamId::new("s").unwrap();
    let event = |id: &str| PackedEvent {
        id: EventId::new(id).unwrap(),
        at: Millis(0),
        kind: "message.appended",
        mark: EventMark::Plain,
        origin: None,
        payload: id.into(),
        content: *blake3::hash(id.as_bytes()).as_bytes(),
        salt: [id.len() as u8; 16],
        blobs: Vec::new(),
        text: Bytes(1),
        checksum: 0,
        facets: Facets::default(),
        records: Vec::new(),
    };
    let writes = || {
        vec![
            Write::Open {
                tenant,
                kind: StreamKind::Session,
                stream: stream.clone(),
                handle: Handle(1),
                opening: Opening::New { parent: None },
                scope: Scope::default(),
                at: Millis(0),
            },
            Write::Append {
                tenant,
                stream: stream.clone(),
                expect_head: None,
                events: vec![event("a"), event("bb")],
            },
        ]
    };
    faults.fail(PortMethod::Commit, 1, FaultTime::After, lost());
    faults.fail(PortMethod::Commit, 2, FaultTime::Before, lost());
    assert_eq!(block_on(store.commit(Commit::raw(writes()))), Err(lost()));
    assert_eq!(block_on(store.commit(Commit::raw(writes()))), Err(lost()));
    let written = block_on(store.commit(Commit::raw(writes()))).unwrap();
    let [Written::Stream(_, false), Written::Appended(placed)] = written.as_slice() else {
        panic!("answered was {written:?}");
    };
    assert!(placed.iter().all(|one| one.duplicate));
    let (from, to, limit, text) = (Seq(1), Seq(9), 9, Bytes(99));
    let all = Query::Events {
        tenant,
        stream,
        from,
        to,
        order: ReadOrder::Ascending,
        limit,
        text,
        counts: false,
        filter: EventFilter::default(),
    };
    let answers = block_on(store.query(vec![all])).unwrap();
    assert!(matches!(answers.as_slice(), [Answer::Events(events)] if events.len() == 2));
}
