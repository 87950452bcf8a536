//! All futures of the library are `Send`, so that an executor can move them between threads.

use std::path::Path;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{Storage, StreamFilter};
use wunderblock::summary_graph::Expand;
use wunderblock::{
    Address, Along, CompactOptions, Config, ContextOptions, Deadline, Diagnosis, Engine, Keep, Ledger,
    Output, OutputOptions, ReadyEvent, Session, SimulateOptions, Slice, TextFound, Transcripts,
};
use wunderblock_core::event::{Event, NewEvent};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Bytes, Seq};

fn is_send<T: Send>(_: T) {}

/// This function is never called, because its compilation is the test.
#[allow(dead_code, reason = "type-checked, not run")]
fn handles(engine: &Engine, session: &Session, (path, lane): (&Path, &LaneId), config: fn() -> Config) {
    let storage = || -> std::sync::Arc<dyn Storage> { unreachable!() };
    is_send(Engine::open_with(path, Access::Create, config()));
    is_send(Engine::on(storage(), true, config()));
    is_send(engine.find_session(""));
    is_send(engine.streams("", 1));
    is_send(engine.listed(StreamFilter::default(), 1));
    is_send(session.info());
    is_send(session.append(Vec::<NewEvent>::new()));
    is_send(session.events(Seq(1), Seq(1), 1, Bytes(1)));
    is_send(session.nodes(Some(lane)));
    is_send(session.siblings());
    is_send(wunderblock::histories(session, false));
    is_send(session.lane(lane.clone()).undo());
    is_send(session.lane(lane.clone()).state());
}

#[allow(dead_code, reason = "type-checked, not run")]
fn requests(
    session: &Session,
    options: &ContextOptions,
    compact: &CompactOptions,
    simulate: &SimulateOptions,
) {
    is_send(session.engine().simulate(&[], simulate));
    is_send(session.context(options));
    is_send(session.explain(options));
    is_send(session.compact(compact));
    is_send(session.usage(options));
    is_send(session.replay(None));
    is_send(session.diff(Seq(1), Seq(2)));
    is_send(async move {
        session.locate(options, &session.explain(options).await?.draft, "", &Deadline::default()).await
    });
}

#[allow(dead_code, reason = "type-checked, not run")]
fn reading(engine: &Engine, session: &Session, address: fn() -> Address, events: &[Event]) {
    is_send(engine.recall().read(address(), &Slice::All));
    is_send(engine.recall().expand(address(), &Expand::default()));
    is_send(engine.recall().describe(address()));
    is_send(engine.bodies(events));
    is_send(engine.recall().search("", &Default::default()));
    is_send(engine.recall().grep("", &Default::default(), &mut |_| std::ops::ControlFlow::Continue(())));
    is_send(wunderblock::originals(session));
    is_send(session.export(Seq(1), Seq(2), &mut Vec::new()));
    is_send(session.export_original(None, &mut Vec::new()));
}

#[allow(dead_code, reason = "type-checked, not run")]
fn keeping(engine: &Engine, session: &Session, path: &Path, (ledger, found): (&Ledger, &Diagnosis)) {
    is_send(engine.import(path, None, &mut |_, _| {}));
    is_send(engine.maintenance().verify_import(path, None, &mut |_, _| {}));
    is_send(engine.imported(path));
    is_send(Transcripts::default().unchanged(engine));
    is_send(engine.maintenance().catch_up(&mut |_| {}));
    is_send(engine.maintenance().doctor(&mut |_| {}));
    is_send(engine.maintenance().rebuild(&mut |_| {}));
    is_send(ledger.tenants());
    is_send(ledger.doctor(&mut |_| {}));
    is_send(ledger.repair(found, &mut |_| {}));
    is_send(ledger.backup(path));
    is_send(Ledger::restore(path, path, false, Config::default()));
    is_send(session.erase(Seq(1), Seq(2), None));
    is_send(session.erase_all(None, Along::default()));
    is_send(TextFound::of(engine, "", &mut |_| {}));
    is_send(TextFound::default().erase(engine, None));
    is_send(ReadyEvent::append(session, Vec::new()));
}

#[allow(dead_code, reason = "type-checked, not run")]
fn output(output: &Output<'_>, session: &Session, wanted: &OutputOptions<'_>) {
    is_send(output.shorten(session, Keep::Always, wanted));
}
