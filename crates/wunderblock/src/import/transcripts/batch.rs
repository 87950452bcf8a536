//! Batches of an import: packed on all cores, and committed while the next records are read.
//!
//! At most one batch is being committed at any time. Each batch must be stored before the next one is sent, so that
//! positions follow the order of the file.

use super::feed::Feed;
use super::imported::ImportNotice;
use crate::base::error::Error;
use crate::base::parallel;
use crate::import::records::name::has_no_ids;
use crate::import::transcripts::files::bytes::RawChunk;
use crate::import::transcripts::files::waiting::{Sent, Waiting};
use crate::ledger::engine::unexpected;
use crate::ledger::recording::record::pack;
use std::sync::{Mutex, PoisonError};
use wunderblock_core::event::{EventSource, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_store::{Appended, Commit, PackedChunk, PackedEvent, StoreError, Write, Written, codec};

/// Maximum number of events that one thread packs at a time.
const SHARE: usize = 64;

/// One thread's share of the packing work for a batch.
enum Share<'b> {
    Chunk(RawChunk),
    Events(&'b [NewEvent]),
}

enum ReadyBatch {
    Chunk(PackedChunk),
    Events(Vec<PackedEvent>),
}

impl Feed<'_> {
    /// Commits all waiting data, and returns once it is stored.
    pub(super) async fn arrive(&mut self) -> Result<(), Error> {
        self.flush().await?;
        self.settle().await
    }

    /// Packs all waiting data and sends it.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        self.outbox.waiting_events = 0;
        self.outbox.waiting_bytes = 0;
        let batch = std::mem::take(&mut self.outbox.waiting);
        let chunks = std::mem::take(&mut self.outbox.bytes.chunks);
        let is_bare = self.outbox.notes.is_empty() && self.outbox.openings.is_empty();
        if batch.is_empty() && chunks.is_empty() && is_bare {
            return Ok(());
        }
        let (chunks, events) = self.ready(chunks, &batch)?;
        // The length in `Write::Extend` is valid only after the previous batch is stored.
        self.settle().await?;
        let len = chunks.iter().map(|chunk| chunk.len).sum::<u64>();
        let mut first = vec![Write::Extend {
            source: self.outbox.claim.source,
            revision: self.outbox.claim.revision,
            owner: self.outbox.claim.owner(self.engine.now()),
            from: self.outbox.claim.len,
            chunks,
            erased: std::mem::take(&mut self.outbox.bytes.erased),
        }];
        self.outbox.claim.len += len;
        first.append(&mut self.outbox.openings);
        for (stream, records) in std::mem::take(&mut self.outbox.notes) {
            first.push(Write::Records { tenant: self.engine.tenant.no, stream, records });
        }
        let mut writes = first.clone();
        for (waiting, events) in batch.iter().zip(events) {
            writes.push(self.append(self.stream(waiting)?, events));
        }
        let answer = self.engine.storage.commit(Commit::derived(self.outbox.epoch, writes));
        self.outbox.sent = Some(Sent { answer: Mutex::new(answer), first, batch });
        Ok(())
    }

    /// Packs chunks and events, which is most of the work of an import.
    fn ready(
        &self,
        chunks: Vec<RawChunk>,
        batch: &[Waiting],
    ) -> Result<(Vec<PackedChunk>, Vec<Vec<PackedEvent>>), Error> {
        let size = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        let mut shares: Vec<Share<'_>> = chunks.into_iter().map(Share::Chunk).collect();
        // For each share of events, the index of its branch in the batch.
        let mut owners = Vec::new();
        for (owner, waiting) in batch.iter().enumerate() {
            for events in waiting.events.chunks(SHARE) {
                owners.push(owner);
                shares.push(Share::Events(events));
            }
        }
        let done = parallel::map_sized(shares, size, |share| match share {
            Share::Chunk(RawChunk { offset, bytes }) => {
                Ok(ReadyBatch::Chunk(codec::pack_chunk(offset, &bytes)))
            }
            Share::Events(events) => pack(&self.engine.tenant.key, events.to_vec()).map(ReadyBatch::Events),
        })?;
        let mut packed_chunks = Vec::new();
        let mut packed: Vec<Vec<PackedEvent>> = batch.iter().map(|_| Vec::new()).collect();
        let mut owners = owners.into_iter();
        for ready in done {
            match ready {
                ReadyBatch::Chunk(chunk) => packed_chunks.push(chunk),
                ReadyBatch::Events(events) => {
                    if let Some(place) = owners.next().and_then(|owner| packed.get_mut(owner)) {
                        place.extend(events);
                    }
                }
            }
        }
        for (waiting, events) in batch.iter().zip(&mut packed) {
            waiting.name_records(events, self.by_content());
        }
        Ok((packed_chunks, packed))
    }

    /// Waits until the batch in progress is stored.
    async fn settle(&mut self) -> Result<(), Error> {
        let Some(Sent { answer, first, batch }) = self.outbox.sent.take() else { return Ok(()) };
        match answer.into_inner().unwrap_or_else(PoisonError::into_inner).await {
            Ok(written) => {
                let mut appended = appended_of(written);
                // The events that open sessions come before the batch.
                appended.drain(..appended.len().saturating_sub(batch.len()));
                let mut appended = appended.into_iter();
                for waiting in &batch {
                    let appended = appended.next().ok_or_else(unexpected)?;
                    self.note(waiting.session, waiting.branch, &appended);
                }
                Ok(())
            }
            // A conflict or an erasure rejects the whole batch, so it is committed again branch by branch.
            Err(error @ (StoreError::Conflict { .. } | StoreError::EpochMoved { .. })) => {
                if matches!(error, StoreError::EpochMoved { .. }) {
                    let events = batch.iter().flat_map(|waiting| &waiting.events);
                    self.renew_epoch(events.map(|event| event.id.as_str().to_owned()).collect()).await?;
                }
                let mut first = first;
                if batch.is_empty() {
                    self.commit(std::mem::take(&mut first)).await?;
                }
                for waiting in batch {
                    let stream = self.stream(&waiting)?;
                    let (session, branch) = (waiting.session, waiting.branch);
                    let appended = self.in_parts(std::mem::take(&mut first), stream, waiting).await?;
                    self.note(session, branch, &appended);
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the key for hashing records by content, if the format has no record ids.
    fn by_content(&self) -> Option<&[u8; 32]> {
        has_no_ids(self.file.format).then_some(&self.engine.tenant.key)
    }

    fn stream(&self, waiting: &Waiting) -> Result<StreamId, Error> {
        let tree = self.sessions.trees.get(waiting.session);
        let branch = tree.and_then(|tree| tree.branches().get(waiting.branch));
        branch.map(|branch| branch.stream.clone()).ok_or_else(unexpected)
    }

    fn append(&self, stream: StreamId, events: Vec<PackedEvent>) -> Write {
        Write::Append { tenant: self.engine.tenant.no, stream, expect_head: None, events }
    }

    fn note(&mut self, session: usize, branch: usize, appended: &[Appended]) {
        self.account.done.appended += appended.iter().filter(|one| !one.duplicate).count() as u64;
        self.account.done.duplicates += appended.iter().filter(|one| one.duplicate).count() as u64;
        if let Some(branch) = self.sessions.trees.get_mut(session).and_then(|tree| tree.at_mut(branch)) {
            appended.iter().for_each(|one| branch.seqs.push(one.seq));
        }
    }

    /// Commits events of one branch. If other content already has the id of a record, the record gets a new id.
    async fn in_parts(
        &mut self,
        mut writes: Vec<Write>,
        stream: StreamId,
        waiting: Waiting,
    ) -> Result<Vec<Appended>, Error> {
        let mut todo = vec![waiting];
        let mut appended = Vec::new();
        while let Some(mut part) = todo.pop() {
            let mut packed = pack(&self.engine.tenant.key, part.events.clone())?;
            part.name_records(&mut packed, self.by_content());
            let mut all = writes.clone();
            all.push(self.append(stream.clone(), packed));
            match self.commit(all).await {
                Ok(written) => {
                    writes.clear();
                    appended.extend(appended_of(written).pop().ok_or_else(unexpected)?);
                }
                Err(StoreError::Conflict { .. }) if part.events.len() > 1 => {
                    // Halving finds the conflicting event with few commits.
                    let second = part.split_off(part.events.len() / 2);
                    todo.push(second);
                    todo.push(part);
                }
                Err(StoreError::Conflict { id, seq }) => {
                    let Some(event) = part.events.first_mut() else { continue };
                    let EventSource::Import { offset, .. } = event.source else { return Err(unexpected()) };
                    let content = codec::content_hash(&event.fact)?;
                    // The id is derived from the content: reading the same record again gives the same id, and a
                    // different record gives a different id.
                    let own: String = blake3::Hash::from(content).to_hex().chars().take(16).collect();
                    if event.id.as_str().ends_with(&format!("~{own}")) {
                        return Err(StoreError::Conflict { id, seq }.into());
                    }
                    event.id = EventId::new(format!("{id}~{own}"))
                        .or_else(|_| EventId::new(format!("record~{own}")))?;
                    let text = format!(
                        "{}: byte {offset}: the id {id} is already at position {seq} with other content; both are kept",
                        self.file.path.display()
                    );
                    self.account.warn(ImportNotice::ReusedId, text);
                    todo.push(part);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(appended)
    }
}

/// Returns the results of the appends among the results of writes.
fn appended_of(written: Vec<Written>) -> Vec<Vec<Appended>> {
    let appended = written.into_iter().filter_map(|written| match written {
        Written::Appended(appended) => Some(appended),
        _ => None,
    });
    appended.collect()
}
