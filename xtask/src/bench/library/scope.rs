//! What an agent asks within its project, beside other tenants and other projects.

use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{Durations, note};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{Reach, ScopeLimit, StreamFilter};
use wunderblock::{Config, Engine, GrepOptions, SearchOptions};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent, SessionOpened};
use wunderblock_core::id::{EventId, Scope, StreamId, TenantId};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::units::Millis;

/// Number of other tenants, and of other projects of the tenant.
const OTHERS: usize = 99;
/// Number of sessions of a project, and of messages of a session.
const SESSIONS: usize = 10;
const MESSAGES: usize = 40;
const ROUNDS: usize = 40;
/// Maximum of the times beside others, as a multiple of those alone.
const MOST: f64 = 1.5;

pub(in crate::bench) fn run(folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  a project beside 99 tenants and 99 projects");
    let alone = times(&folder.join("scope-alone.db"), 0)?;
    let beside = times(&folder.join("scope-beside.db"), OTHERS)?;
    let mut figures = Vec::new();
    for ((what, alone), (_, beside)) in alone.iter().zip(&beside) {
        let events = (2 * OTHERS + 1) * SESSIONS * MESSAGES;
        let (alone, beside) = (alone.percentile(50), beside.percentile(50));
        let name = format!("{what} in a project, beside 99 tenants and 99 projects, p50");
        figures.push(Figure::millis(events, &name, beside).at_most(5.0));
        let name = format!("flat: {what} in a project, beside others against alone");
        figures.push(Figure::new(events, &name, beside / alone, FigureUnit::Times).at_most(MOST));
    }
    Ok(figures)
}

/// Measures what an agent asks in one project of a ledger with this number of other tenants and projects.
fn times(path: &Path, others: usize) -> ChoreResult<Vec<(&'static str, Durations)>> {
    for number in 0..others {
        let tenant = TenantId::new(format!("tenant {number}"))?;
        let engine = open(path, Config { tenant, ..Config::default() })?;
        fill(&engine, "project")?;
        block_on(engine.maintenance().catch_up(&mut |_| {}))?;
    }
    let engine = open(path, Config::default())?;
    for number in 0..others {
        fill(&engine, &format!("project {number}"))?;
    }
    fill(&engine, "project")?;
    block_on(engine.maintenance().catch_up(&mut |_| {}))?;
    let seen = engine.reaching(Reach::tenant().and(ScopeLimit::Project(Some("project".to_owned()))));
    let options = SearchOptions::default();
    let listed =
        Durations::of(ROUNDS, || Ok(block_on(seen.listed(StreamFilter::default(), SESSIONS as u64))?))?;
    let searched = Durations::of(ROUNDS, || Ok(block_on(seen.recall().search("parser timeout", &options))?))?;
    let matched = Durations::of(ROUNDS, || {
        let mut found = |_| std::ops::ControlFlow::Break(());
        Ok(block_on(seen.recall().grep("parser", &GrepOptions::default(), &mut found))?)
    })?;
    Ok(vec![("listing sessions", listed), ("search", searched), ("grep: first hit", matched)])
}

fn open(path: &Path, config: Config) -> ChoreResult<Engine> {
    Ok(block_on(Engine::open_with(path, Access::Create, config))?)
}

fn fill(engine: &Engine, project: &str) -> ChoreResult<()> {
    let event = |id: String, fact| -> ChoreResult<NewEvent> {
        Ok(NewEvent { id: EventId::new(id)?, at: Millis(1_800_000_000_000), source: EventSource::Live, fact })
    };
    for number in 0..SESSIONS {
        let scope = Scope { project: Some(project.to_owned()), ..Scope::default() };
        let opened = SessionOpened { scope, ..SessionOpened::default() };
        let mut events = vec![event("open".to_owned(), Fact::SessionOpened(opened))?];
        for at in 0..MESSAGES {
            let text = format!("step {at} of session {number}: the parser of module {at} met a timeout");
            let message = Message::text(Role::User, text);
            events.push(event(at.to_string(), Fact::MessageAppended(MessageAppended { message }))?);
        }
        let session = engine.session_by_id(StreamId::new(format!("{project} {number}"))?);
        block_on(session.append(events))?;
    }
    Ok(())
}
