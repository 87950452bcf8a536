//! Turns records into events, and commits them in batches together with the raw bytes.

use super::account::Account;
use super::imported::ImportNotice;
use super::known::KnownRecords;
use super::tree::{Belongs, Point, SessionTree};
use crate::base::error::Error;
use crate::import::records::lost::{Lost, LostContent, kept_as};
use crate::import::records::name::{is_unique, nameless};
use crate::import::transcripts::files::bytes::RawBytes;
use crate::import::transcripts::files::claim::Claim;
use crate::import::transcripts::files::saved::{Saved, SavedTree};
use crate::import::transcripts::files::waiting::{Sent, Waiting};
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::LONG_RECORD;
use crate::limits::{COMMIT_RETRIES, IMPORT_BATCH_CHUNKS};
use std::collections::HashMap;
use std::path::PathBuf;
use wunderblock_core::event::{Fact, NewEvent};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::codec::revision_handle;
use wunderblock_store::{Answer, Commit, Epoch, Query, StoreError, Write, Written};
use wunderblock_wire::transcript::{
    Format, RecordItem, RecordPlace, RecordStatus, TranscriptReader, TranscriptRecord,
};

/// Kind of the record that replaces a line too long to be parsed.
pub(super) const LONG: &str = "long";

/// A running import, by its stages: `file` is read, `gate` holds back what comes before the session is known, `known` is
/// looked up, `sessions` give each record its place, `outbox` makes events durable, and `account` counts.
pub(super) struct Feed<'e> {
    pub(super) engine: &'e Engine,
    pub(super) file: ReadFile,
    pub(super) gate: Gate,
    /// Known data about the current records, from the ledger.
    pub(super) known: KnownRecords,
    pub(super) sessions: Sessions,
    pub(super) outbox: Outbox<'e>,
    pub(super) account: Account,
}

/// The file that is read.
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) handle: Handle,
    /// Whether the file is a single document.
    pub(super) is_document: bool,
}

/// Records at the beginning of the file that wait until one of them describes the session.
#[derive(Default)]
pub(super) struct Gate {
    pub(super) held: Vec<(TranscriptRecord, Vec<u8>)>,
    /// Whether the file has named its session in the records up to the current one. The reader may already have read
    /// beyond the current record.
    pub(super) named: bool,
    /// Time of the latest record with a time.
    pub(super) newest: Millis,
}

/// Sessions of the file.
#[derive(Default)]
pub(super) struct Sessions {
    pub(super) trees: Vec<SessionTree>,
    pub(super) by_name: HashMap<Box<str>, Belongs>,
    /// Index of the session without a name in the file.
    pub(super) own: Option<usize>,
    /// Name of the file in the ledger; set with the first session without an id.
    pub(super) file_name: Option<String>,
    /// Erasures by session.
    pub(super) lost: HashMap<String, Lost>,
}

/// Bytes and events that wait to be durable, and the batch that is being committed.
pub(super) struct Outbox<'e> {
    pub(super) claim: Claim,
    /// Epoch of the snapshot since which the erasures of the sessions are known to be complete.
    pub(super) epoch: Epoch,
    /// Number of times that an erasure prevented the commit of the batch in progress.
    refusals: usize,
    pub(super) bytes: RawBytes,
    pub(super) waiting: Vec<Waiting>,
    pub(super) waiting_events: usize,
    pub(super) waiting_bytes: u64,
    /// For records without events: the stream, the hashes of the records' ids, and the positions that the records
    /// follow.
    pub(super) notes: Vec<(StreamId, Vec<(i64, Seq)>)>,
    /// Writes that open the sessions and branches of the next batch, or link them to the file. They cost no commit of
    /// their own.
    pub(super) openings: Vec<Write>,
    pub(super) sent: Option<Sent<'e>>,
}

impl Sessions {
    pub(super) fn lost(&self, session: usize) -> Option<&Lost> {
        self.trees.get(session).and_then(|tree| self.lost.get(&tree.name))
    }

    /// Returns whether a record without an id, in the file's own session, was erased.
    pub(super) fn is_erased_at(&self, offset: u64) -> bool {
        match self.own {
            Some(own) => self.lost(own).is_some_and(|lost| lost.has_named(&nameless(offset))),
            None => self.by_name.values().any(|belongs| *belongs == Belongs::Erased),
        }
    }

    /// Returns the sessions in the form in which they are saved, or `None` if one was erased, because an erased
    /// session has no tree.
    pub(super) fn trees(&self) -> Option<Vec<SavedTree>> {
        let mut trees: Vec<Option<SavedTree>> = self.trees.iter().map(|_| None).collect();
        for (key, belongs) in &self.by_name {
            let Belongs::To(index) = belongs else { return None };
            *trees.get_mut(*index)? = Some(SavedTree::of(key, self.trees.get(*index)?)?);
        }
        trees.into_iter().collect()
    }
}

impl<'e> Outbox<'e> {
    fn new(claim: Claim) -> Self {
        Self {
            epoch: claim.epoch,
            refusals: 0,
            bytes: RawBytes::new(0, claim.len),
            claim,
            waiting: Vec::new(),
            waiting_events: 0,
            waiting_bytes: 0,
            notes: Vec::new(),
            openings: Vec::new(),
            sent: None,
        }
    }

    fn note_record(&mut self, stream: StreamId, record: i64, seq: Seq) {
        match self.notes.last_mut().filter(|(last, _)| *last == stream) {
            Some((_, records)) => records.push((record, seq)),
            None => self.notes.push((stream, vec![(record, seq)])),
        }
    }
}

impl<'e> Feed<'e> {
    pub(super) fn begin(engine: &'e Engine, file: ReadFile, claim: Claim) -> Self {
        Self {
            engine,
            account: Account::of(&file),
            file,
            gate: Gate::default(),
            known: KnownRecords::default(),
            sessions: Sessions::default(),
            outbox: Outbox::new(claim),
        }
    }

    /// Makes writes durable that are made from the file and from the erasures of its sessions.
    ///
    /// # Errors
    /// Fails with [`StoreError::EpochMoved`] if a record of the sessions was erased in the meantime.
    pub(super) async fn commit(&mut self, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        loop {
            match self.engine.storage.commit(Commit::derived(self.outbox.epoch, writes.clone())).await {
                Err(StoreError::EpochMoved { .. }) => {
                    let events = writes.iter().flat_map(|write| match write {
                        Write::Append { events, .. } => events.as_slice(),
                        _ => &[],
                    });
                    self.renew_epoch(events.map(|event| event.id.as_str().to_owned()).collect()).await?;
                }
                Ok(written) => {
                    self.outbox.refusals = 0;
                    return Ok(written);
                }
                error => return error,
            }
        }
    }

    /// Continues in the current epoch if no erasure since the last one concerns the sessions of the file, or the events
    /// with the given ids in any session.
    ///
    /// # Errors
    /// Fails with [`StoreError::EpochMoved`] if one does, or after three erasures during the same commit.
    pub(super) async fn renew_epoch(&mut self, ids: Vec<String>) -> Result<(), StoreError> {
        let tenant = self.engine.tenant.no;
        let key = self.engine.tenant.key;
        let sessions: Vec<String> =
            self.sessions.lost.keys().flat_map(|name| kept_as(&key, name.clone())).collect();
        let names = ids.into_iter().filter(|id| is_unique(id)).flat_map(|id| kept_as(&key, id)).collect();
        let mut queries = vec![Query::Epoch { tenant }, Query::Erased { tenant, names }];
        if !sessions.is_empty() {
            queries.push(Query::Erasures { tenant, sessions });
        }
        let mut answers = self.engine.storage.query(queries).await?.into_iter();
        let now = answers.next().and_then(Answer::epoch).unwrap_or(self.outbox.epoch);
        let elsewhere = answers.next().and_then(Answer::erasures).unwrap_or_default();
        let erasures = answers.next().and_then(Answer::erasures).unwrap_or_default();
        let lost = LostContent::of(&key, &erasures);
        self.outbox.refusals += 1;
        let is_same =
            |(name, known): (&String, &Lost)| lost.get(name).map_or(known.is_empty(), |lost| lost == known);
        if self.outbox.refusals > COMMIT_RETRIES
            || !elsewhere.is_empty()
            || !self.sessions.lost.iter().all(is_same)
        {
            return Err(StoreError::EpochMoved { expected: self.outbox.epoch.no, actual: now.no });
        }
        self.outbox.epoch = now;
        Ok(())
    }

    pub(super) fn reader(&self) -> TranscriptReader {
        TranscriptReader::new(self.file.format, &self.file.name)
    }

    /// Stores bytes up to an offset, regardless of their records.
    pub(super) async fn store(&mut self, to: u64) -> Result<(), Error> {
        self.outbox.bytes.release(to);
        if self.outbox.bytes.chunks.len() >= IMPORT_BATCH_CHUNKS { self.flush().await } else { Ok(()) }
    }

    /// Warns that the file ends within a record. The bytes are stored, and the record is read when the file has
    /// grown.
    pub(super) fn unfinished(&mut self, line: u64) {
        let text = format!(
            "{}:{line}: the file ends within a record; it is kept, and will be read when the file has grown",
            self.file.path.display()
        );
        self.account.warn(ImportNotice::CutOff, text);
    }

    /// Returns a record for a line that is too long to be parsed; its text names the location of the bytes. The text
    /// must not change: importing the file again must give the same content under the same id.
    pub(super) fn long_record(&self, offset: u64, len: u64, line: u64) -> TranscriptRecord {
        let handle = revision_handle(&self.engine.tenant.key, self.file.handle, self.outbox.claim.revision);
        let end = offset + len;
        let text =
            format!("⟨a record of {len} bytes, too long to be parsed: read {handle} --bytes {offset}-{end}⟩");
        let message = Message::new(Role::User, vec![Part::text(text)]);
        TranscriptRecord {
            offset,
            len,
            line,
            session: None,
            parent_session: None,
            place: RecordPlace::Next,
            id: None,
            at: None,
            kind: LONG.into(),
            items: vec![RecordItem::Message(message.standing(MessageOrigin::Aside(LONG_RECORD.into())))],
            kept: RecordStatus::Opaque { why: format!("a record of {len} bytes, too long to be parsed") },
        }
    }

    /// Counts a record as erased and blanks its bytes, so that only its place is kept.
    pub(super) fn forget(&mut self, record: &TranscriptRecord) {
        self.account.done.erased += 1;
        self.outbox.bytes.blank(record.offset, record.offset + record.len);
    }

    /// Adds an event to the current branch. `there` is the position of the event's record if it is already stored.
    pub(super) fn push(&mut self, session: usize, event: NewEvent, there: Option<Seq>) {
        let Some(tree) = self.sessions.trees.get_mut(session) else { return };
        let index = tree.current;
        let Some(branch) = tree.branch_mut() else { return };
        branch.count += 1;
        let before = branch.last;
        branch.last = there.map_or(Point::Nth(branch.count), Point::Seq);
        if let Fact::MessageAppended(said) = &event.fact {
            if said.message.is_user_turn() {
                branch.turns.push(before);
            }
            if there.is_none() && !matches!(said.message.standing, MessageOrigin::Aside(_)) {
                branch.tip = branch.last;
            }
        }
        self.outbox.waiting_events += 1;
        self.outbox.waiting_bytes += event.fact.bodies().into_iter().map(|body| body.bytes().0).sum::<u64>();
        match self.outbox.waiting.last_mut().filter(|last| last.session == session && last.branch == index) {
            Some(last) => last.events.push(event),
            None => self.outbox.waiting.push(Waiting {
                session,
                branch: index,
                events: vec![event],
                records: Vec::new(),
            }),
        }
    }

    /// Stores the current end of the branch as the place of a transcript record.
    pub(super) fn name_record(&mut self, session: usize, record: i64) {
        if let Some(place) = self.sessions.trees.get(session).map(SessionTree::last) {
            self.name_record_at(session, record, place);
        }
    }

    pub(super) fn name_record_at(&mut self, session: usize, record: i64, place: (usize, Point)) {
        let Some(tree) = self.sessions.trees.get_mut(session) else { return };
        tree.remember(record, place);
        let stream = tree.branches().get(place.0).map(|branch| branch.stream.clone());
        let there = stream.zip(tree.seq(place));
        if let (Point::Seq(_), Some((stream, seq))) = (place.1, there.clone()) {
            self.outbox.note_record(stream, record, seq);
            return;
        }
        let own = |waiting: &&mut Waiting| (waiting.session, waiting.branch) == (session, place.0);
        match self.outbox.waiting.iter_mut().rev().find(own) {
            Some(waiting) => waiting.records.push((waiting.events.len().saturating_sub(1), record)),
            None => {
                // The record's event is already committed.
                if let Some((stream, seq)) = there {
                    self.outbox.note_record(stream, record, seq);
                }
            }
        }
    }

    /// Returns the state to save, without sessions and samples, which are added later.
    pub(super) fn saved(&self, at: u64, line: u64, reader: Vec<u8>) -> Saved {
        Saved {
            at,
            line,
            newest: self.gate.newest,
            own: self.sessions.own,
            sessions: Vec::new(),
            samples: Vec::new(),
            rows: None,
            reader,
        }
    }
}
