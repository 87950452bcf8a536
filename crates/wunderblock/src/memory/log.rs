//! Logs of a ledger: which a scope reads, and their folds.

use super::name::MemoryName;
use crate::base::error::Error;
use crate::ledger::engine::{Engine, unexpected};
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::reading::stored::{decode_event, read_page};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use std::sync::Arc;
use wunderblock_core::id::{Handle, Scope, StreamId};
use wunderblock_core::memories::MemoryLog;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::codec::name_handle;
use wunderblock_store::{Answer, Query, StreamInfo, StreamKind};

/// A log, as it is now.
#[derive(Clone, Debug)]
pub(crate) struct FoldedLog {
    pub(crate) stream: StreamId,
    pub(crate) handle: Handle,
    pub(crate) log: Arc<MemoryLog>,
}

impl FoldedLog {
    /// Returns the name of a memory or proposal of the log.
    pub(super) fn name(&self, seq: Seq) -> MemoryName {
        MemoryName::new(self.handle, seq)
    }
}

/// Returns the stream of the log of a scope.
pub(super) fn stream_of(engine: &Engine, scope: &Scope) -> Result<StreamId, Error> {
    let part = |part: &Option<String>| part.as_ref().map_or("-".to_owned(), |part| format!("+{part}"));
    let parts = [&scope.user, &scope.project, &scope.agent, &scope.session, &scope.run].map(part);
    let name = name_handle(&engine.tenant.key, "memory", &parts.join("\0"));
    Ok(StreamId::new(format!("memory-{:016x}", name.0))?)
}

/// Returns the scopes whose memories a scope reads: the same parts, or fewer. What names another user, project, agent,
/// session or run is not among them.
fn read_by(scope: &Scope) -> Vec<Scope> {
    let mut scopes = vec![Scope::default()];
    let mut add = |has: bool, set: &dyn Fn(&mut Scope)| {
        for known in scopes.clone().into_iter().filter(|_| has) {
            let mut with = known;
            set(&mut with);
            scopes.push(with);
        }
    };
    add(scope.user.is_some(), &|with| with.user.clone_from(&scope.user));
    add(scope.project.is_some(), &|with| with.project.clone_from(&scope.project));
    add(scope.agent.is_some(), &|with| with.agent.clone_from(&scope.agent));
    add(scope.session.is_some(), &|with| with.session.clone_from(&scope.session));
    add(scope.run.is_some(), &|with| with.run.clone_from(&scope.run));
    scopes
}

/// Folds the log of a scope. A log that was not opened yet is empty.
pub(super) async fn own(engine: &Engine, scope: &Scope) -> Result<FoldedLog, Error> {
    let stream = stream_of(engine, scope)?;
    let query = Query::Stream { tenant: engine.tenant.no, of: StreamKind::Memory, stream: stream.clone() };
    let info = engine.ask(query, Answer::stream).await?;
    fold(engine, stream, info.as_deref()).await
}

/// Folds the logs that a scope reads, the narrowest last.
pub(super) async fn read(engine: &Engine, scope: &Scope) -> Result<Vec<FoldedLog>, Error> {
    let mut batch = QueryBatch::default();
    let mut asked = Vec::new();
    for scope in read_by(scope) {
        let stream = stream_of(engine, &scope)?;
        let of = StreamKind::Memory;
        let query = Query::Stream { tenant: engine.tenant.no, of, stream: stream.clone() };
        asked.push((stream, batch.ask(query, Answer::stream)));
    }
    let mut answers = engine.ask_all(batch).await?;
    let mut logs = Vec::new();
    for (stream, key) in asked {
        if let Some(info) = answers.take(key)? {
            logs.push(fold(engine, stream, Some(&info)).await?);
        }
    }
    Ok(logs)
}

/// Folds what is new in a log since it was folded last.
async fn fold(engine: &Engine, stream: StreamId, info: Option<&StreamInfo>) -> Result<FoldedLog, Error> {
    let handle = engine.stream_handle(&stream);
    let Some(info) = info else {
        return Ok(FoldedLog { stream, handle, log: Arc::default() });
    };
    if let Some(log) = engine.known.memory_log(&stream, info.head) {
        return Ok(FoldedLog { stream, handle, log });
    }
    let kept = engine.known.take_memory_log(&stream);
    let mut log = kept.filter(|log| log.head <= info.head).unwrap_or_default();
    fold_to(engine, info, Arc::make_mut(&mut log), None).await?;
    engine.known.keep_memory_log(stream.clone(), Arc::clone(&log));
    Ok(FoldedLog { stream, handle, log })
}

async fn fold_to(
    engine: &Engine,
    info: &StreamInfo,
    log: &mut MemoryLog,
    until: Option<Millis>,
) -> Result<(), Error> {
    while log.head < info.head {
        let rows = read_page(engine, info, log.head.next(), CATCH_UP_EVENTS, CATCH_UP_BYTES).await?;
        if rows.is_empty() {
            return Err(unexpected());
        }
        for row in &rows {
            let event = decode_event(engine, &info.id, row)?;
            if until.is_some_and(|until| event.at > until) {
                return Ok(());
            }
            log.take(&event);
        }
    }
    Ok(())
}

/// Folds a log up to a time: what was believed then.
pub(super) async fn as_of(engine: &Engine, now: &FoldedLog, at: Millis) -> Result<FoldedLog, Error> {
    let query =
        Query::Stream { tenant: engine.tenant.no, of: StreamKind::Memory, stream: now.stream.clone() };
    let mut log = MemoryLog::default();
    if let Some(info) = engine.ask(query, Answer::stream).await? {
        fold_to(engine, &info, &mut log, Some(at)).await?;
    }
    Ok(FoldedLog { log: Arc::new(log), ..now.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_reads_its_own_parts_and_nothing_of_others() {
        let scope = Scope {
            user: Some("ada".to_owned()),
            project: Some("github.com/a/b".to_owned()),
            ..Scope::default()
        };
        let read = read_by(&scope);
        assert_eq!(read.len(), 4);
        assert!(read.iter().all(|read| read.user.as_ref().is_none_or(|user| user == "ada")));
        assert!(read.contains(&Scope::default()) && read.contains(&scope));
        assert_eq!(read_by(&Scope::default()), [Scope::default()]);
    }
}
