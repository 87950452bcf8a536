//! Bulk appends, imports, and the background work that follows them.

use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{SEED, cpu, note, size};
use crate::bench::task::{ChildWork, spawn};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, Engine};
use wunderblock_core::event::NewEvent;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Body;
use wunderblock_testkit::generate;

/// Name, in the table, of bulk appends.
pub(in crate::bench) const APPEND: &str = "append in batches, durable";
/// Name, in the table, of bulk appends with counts and index.
pub(in crate::bench) const CAUGHT_UP: &str = "append and catch up: durable, counted, indexed";

/// Number of events per call of a bulk append.
const BATCH: usize = 1_000;

/// A generated session.
pub(in crate::bench) struct GeneratedSession {
    pub(in crate::bench) events: Vec<NewEvent>,
    /// Total length of the session's texts in bytes.
    pub(in crate::bench) text: u64,
}

impl GeneratedSession {
    pub(in crate::bench) fn new(events: usize) -> Self {
        let events: Vec<NewEvent> = generate::session(events, SEED).collect();
        let text = events.iter().flat_map(|event| event.fact.bodies()).map(|body| Body::bytes(body).0).sum();
        Self { events, text }
    }
}

/// The session that a benchmark ledger contains.
pub(in crate::bench) fn stream() -> ChoreResult<StreamId> {
    Ok(StreamId::new("bench")?)
}

pub(in crate::bench) fn open(path: &Path) -> ChoreResult<Engine> {
    Ok(block_on(Engine::open_with(path, Access::Create, Config::default()))?)
}

/// Wall time and processor time of a stretch of work.
#[derive(Clone, Copy)]
struct Elapsed {
    wall: Duration,
    cpu: Duration,
}

impl Elapsed {
    fn on(work: impl FnOnce() -> ChoreResult<()>) -> ChoreResult<Self> {
        let (start, before) = (Instant::now(), cpu());
        work()?;
        Ok(Self { wall: start.elapsed(), cpu: cpu().saturating_sub(before) })
    }

    fn figures(self, what: &str, events: usize, bytes: u64) -> [Figure; 3] {
        let seconds = self.wall.as_secs_f64();
        [
            Figure::new(events, what, events as f64 / seconds, FigureUnit::EventsPerSecond),
            Figure::new(events, what, bytes as f64 / seconds / 1e6, FigureUnit::MegabytesPerSecond),
            Figure::new(events, what, self.cpu.as_secs_f64() * 1e6 / events as f64, FigureUnit::CpuMicros),
        ]
    }
}

/// Appends the session through the live door in batches, and lets the background catch up.
pub(in crate::bench) fn append(session: &GeneratedSession, path: &Path) -> ChoreResult<Vec<Figure>> {
    let (events, bytes) = (session.events.len(), session.text);
    let engine = open(path)?;
    let door = engine.session_by_id(stream()?);
    let batches: Vec<Vec<NewEvent>> = session.events.chunks(BATCH).map(<[NewEvent]>::to_vec).collect();
    note("  append");
    let appended = Elapsed::on(|| {
        for batch in batches {
            block_on(door.append(batch))?;
        }
        Ok(())
    })?;
    note("  catch up");
    let caught = Elapsed::on(|| Ok(block_on(engine.maintenance().catch_up(&mut |_| {}))?))?;
    let both = Elapsed { wall: appended.wall + caught.wall, cpu: appended.cpu + caught.cpu };
    drop(door);
    drop(engine);
    let [rate, bandwidth, spent] = appended.figures(APPEND, events, bytes);
    let [both_rate, both_bandwidth, both_spent] = both.figures(CAUGHT_UP, events, bytes);
    let ratio = size(path) as f64 / session.text as f64;
    Ok(vec![
        Figure::new(events, "ledger's size / content, index included", ratio, FigureUnit::Times)
            .at_most(1.2)
            .floor("5.0–5.6×"),
        rate.at_least(20_000.0),
        bandwidth,
        spent,
        both_rate.at_least(8_000.0).floor("2.4–685 events/s"),
        both_bandwidth,
        both_spent,
    ])
}

/// Imports the session as a Claude Code transcript in a child process.
pub(in crate::bench) fn import(session: &GeneratedSession, folder: &Path) -> ChoreResult<Vec<Figure>> {
    let events = session.events.len();
    let (transcript, path) = (folder.join("session.jsonl"), folder.join("imported.db"));
    let mut out = BufWriter::new(std::fs::File::create(&transcript)?);
    for line in generate::claude_code_lines(events, SEED) {
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    drop(out);
    let bytes = std::fs::metadata(&transcript)?.len();
    note("  import");
    let told = spawn(ChildWork::Import, &path, &transcript)?;
    let spent =
        Elapsed { wall: Duration::from_secs_f64(told.seconds), cpu: Duration::from_secs_f64(told.cpu) };
    let [rate, bandwidth, cost] = spent.figures("import of a transcript, durable", told.events, bytes);
    note("  catch up with the import");
    let caught = Elapsed::on(|| Ok(block_on(open(&path)?.maintenance().catch_up(&mut |_| {}))?))?;
    let both = Elapsed { wall: spent.wall + caught.wall, cpu: spent.cpu + caught.cpu };
    let [both_rate, ..] = both.figures("import and catch up: durable, counted, indexed", told.events, bytes);
    let figures = vec![
        Figure::new(
            events,
            "imported ledger's size / file, index included",
            size(&path) as f64 / bytes as f64,
            FigureUnit::Times,
        )
        .at_most(1.2)
        .floor("5.0–5.6×"),
        rate.at_least(20_000.0),
        bandwidth,
        cost,
        both_rate.at_least(8_000.0).floor("1,540–1,700 events/s"),
        Figure::new(events, "import: peak memory", told.peak / 1e6, FigureUnit::Megabytes).at_most(200.0),
    ];
    let figures = figures.into_iter().map(|figure| figure.of(events)).collect();
    std::fs::remove_file(&path)?;
    std::fs::remove_file(&transcript)?;
    Ok(figures)
}
