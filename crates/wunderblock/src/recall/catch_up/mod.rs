//! Background work: exact token counts, the text index and the vectors, made in order and in batches, and restartable at
//! any point.
//!
//! ```text
//! rows and bodies ─ Batch ─► threads: unpack, count, redact, index, embed ─ Done ─► two commits, in order
//! ```
//! No answer depends on this work: until it is done, counts are estimates marked as such, and search scans the rest.
//! Each batch is stored in its own commits, so a crash loses at most the batches in progress. While the threads work,
//! the next batches are read and finished ones are written to disk. Memory depends on the size of a batch and the
//! number of threads, not on the length of a session.

mod batch;
mod embedding;
mod extent;
pub(crate) mod join;
mod pack;
mod renew;

use batch::{Batch, Done, load_bodies, read_batch};

pub(crate) use embedding::is_made_by;
pub(crate) use extent::Extent;
use join::join_segments;
pub(crate) use pack::{packed_vectors, packed_words};

use crate::base::error::Error;
use crate::base::parallel::{self, Pool};
pub use crate::base::progress::Progress;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{ask_behind, take_streams};
use crate::ledger::reading::query_batch::QueryBatch;
use crate::limits::{BRIEF_CATCH_UP, CATCH_UP_RETRIES};
use extent::BATCH_MIN;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use wunderblock_core::units::Millis;
use wunderblock_store::{Answer, Commit, DerivedTable, Epoch, Query, StoreError, StreamKind, Write};

/// Kinds of streams whose events are counted and indexed.
pub(crate) const SEARCHED: [StreamKind; 2] = [StreamKind::Session, StreamKind::Document];

type BatchFuture = Pin<Box<dyn Future<Output = Result<Done, Error>> + Send>>;

/// Does some or all of the background work.
pub(crate) async fn catch_up(
    engine: &Engine,
    extent: Extent,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Error> {
    // Another process may be doing the same work, so keep what it has finished and re-check the rest.
    for _ in 0..CATCH_UP_RETRIES {
        if catch_up_once(engine, extent, progress).await?.is_continue() || extent.is_over(|| engine.now()) {
            break;
        }
    }
    engine.known.vectors.give_back(engine.now());
    // Before anything is joined, so that the vectors of a batch are made again, and not those of everything before it.
    renew::renew(engine, extent, progress).await?;
    join_segments(engine, extent).await
}

/// Indexes waiting messages, and then counts their tokens if `counting` is true and there is time left, for at most
/// 200 ms. Does nothing if the ledger is read-only.
pub(crate) async fn catch_up_briefly(engine: &Engine, counting: bool) -> Result<(), Error> {
    if !engine.can_write() {
        return Ok(());
    }
    let until = Some(Millis(engine.now().0.saturating_add(BRIEF_CATCH_UP)));
    catch_up(engine, Extent { tables: &[DerivedTable::Words], until }, &mut |_| {}).await?;
    if counting {
        catch_up(engine, Extent { tables: &DerivedTable::ALL, until }, &mut |_| {}).await?;
    }
    Ok(())
}

async fn catch_up_once(
    engine: &Engine,
    extent: Extent,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ControlFlow<()>, Error> {
    let mut batch = QueryBatch::default();
    let tenant = engine.tenant.no;
    // The epoch comes from the same snapshot as the list of streams. An erasure after this snapshot makes the write
    // fail, so erased words do not return.
    let behind = ask_behind(&mut batch, tenant, &SEARCHED, extent.tables);
    let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
    let mut answers = engine.ask_all(batch).await?;
    let (behind, epoch) = (take_streams(&mut answers, behind)?, answers.take(epoch)?);
    let total = behind.iter().map(|info| info.head.0.saturating_sub(extent.done(info).0)).sum();
    let room = extent.room(total);
    let mut line = BatchQueue::new(engine, extent, total, epoch)?;
    let mut batch = Batch::new(room);
    'streams: for info in &behind {
        let mut from = extent.done(info).next();
        while from <= info.head {
            let Some(last) = read_batch(engine, &mut batch, info, from).await? else { break };
            from = last.next();
            if batch.is_full() {
                let full = std::mem::replace(&mut batch, Batch::new(room));
                if line.send(full, progress).await?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if extent.is_over(|| engine.now()) {
                    break 'streams;
                }
            }
        }
    }
    if !batch.is_empty() {
        line.give(batch).await?;
    }
    line.finish(progress).await
}

/// Stores the result of a batch. Stops if another process has indexed or erased a part of the batch in the meantime.
async fn store_batch(engine: &Engine, done: Done, epoch: Epoch) -> Result<ControlFlow<()>, Error> {
    let tenant = engine.tenant.no;
    let mut counts = Vec::new();
    if !done.counts.is_empty() {
        counts.push(Write::Counts { tenant, counts: done.counts });
    }
    counts.extend(done.tallies.into_iter().map(|(stream, tokens)| Write::Tallies { tenant, stream, tokens }));
    let segment = |(table, segment, reaches)| {
        let replaces = Vec::new();
        Write::Segment { tenant, table, segment, replaces, reaches }
    };
    let index: Vec<Write> = done.segments.into_iter().map(segment).collect();
    // Both commits are submitted before the first is awaited, so one sync to disk serves both.
    let counted = (!counts.is_empty()).then(|| engine.storage.commit(Commit::raw(counts)));
    let indexed = (!index.is_empty()).then(|| engine.storage.commit(Commit::derived(epoch, index)));
    if let Some(counted) = counted {
        counted.await?;
    }
    match indexed {
        None => Ok(ControlFlow::Continue(())),
        Some(indexed) => match indexed.await {
            Ok(_) => Ok(ControlFlow::Continue(())),
            Err(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. }) => Ok(ControlFlow::Break(())),
            Err(error) => Err(error.into()),
        },
    }
}

/// Batches in progress, oldest first. Threads process the batches, which are stored in order.
struct BatchQueue<'e> {
    engine: &'e Engine,
    pool: Pool<batch::Load, Done>,
    waiting: VecDeque<BatchFuture>,
    done: u64,
    total: u64,
    epoch: Epoch,
}

impl<'e> BatchQueue<'e> {
    fn new(engine: &'e Engine, extent: Extent, total: u64, epoch: Epoch) -> Result<Self, Error> {
        let (redactor, key) = (Arc::clone(&engine.config.redactor), engine.tenant.key);
        let work = move |load: batch::Load| load.work(&redactor, &key, extent.tables, None);
        let threads =
            parallel::workers().min(usize::try_from(total.div_ceil(BATCH_MIN)).unwrap_or(usize::MAX));
        Ok(Self { engine, pool: Pool::new(threads, work)?, waiting: VecDeque::new(), done: 0, total, epoch })
    }

    /// Passes a batch to the threads. If each thread has a batch and another one is queued, the oldest is stored
    /// first.
    async fn send(
        &mut self,
        batch: Batch,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ControlFlow<()>, Error> {
        if self.waiting.len() > parallel::workers()
            && let Some(oldest) = self.waiting.pop_front()
            && self.store(oldest.await?, progress).await?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        self.give(batch).await?;
        Ok(ControlFlow::Continue(()))
    }

    async fn give(&mut self, batch: Batch) -> Result<(), Error> {
        let load = load_bodies(self.engine, batch).await?;
        self.waiting.push_back(Box::pin(self.pool.give(load)));
        Ok(())
    }

    async fn finish(mut self, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<ControlFlow<()>, Error> {
        while let Some(oldest) = self.waiting.pop_front() {
            if self.store(oldest.await?, progress).await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn store(
        &mut self,
        done: Done,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ControlFlow<()>, Error> {
        self.done += done.events;
        let stored = store_batch(self.engine, done, self.epoch).await?;
        progress(Progress { done: self.done, total: self.total });
        Ok(stored)
    }
}
