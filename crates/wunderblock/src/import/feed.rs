//! Turns records into events and commits them in batches, with the raw bytes beside them.

use super::bytes::RawBytes;
use super::claim::Claim;
use super::imported::{Imported, MAX_WARNINGS};
use super::known::{Known, items_of};
use super::name::{event_id, nameless, raw_of, record_name};
use super::saved::{Saved, SavedTree};
use super::tree::{Belongs, Placed, Point, SessionTree};
use super::waiting::{Sent, Waiting};
use crate::echo::Lost;
use crate::engine::Engine;
use crate::error::Error;
use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_CHUNKS, IMPORT_BATCH_EVENTS, SOURCE_CHUNK};
use crate::store::Write;
use crate::store::codec::{record_key, revision_handle};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use wunderblock_core::event::{
    ContentPinned, EventSource, Fact, MessageAppended, NewEvent, SessionCompacted, SubagentSpawned,
};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_wire::transcript::{
    Format, RecordItem, RecordPlace, RecordStatus, TranscriptReader, TranscriptRecord,
};

/// Records at a file's beginning that wait for one that names the session: titles and settings come first in some.
const HELD: usize = 64;
/// A record as long as this is not held back.
const HELD_BYTES: usize = 256 << 10;

/// An import under way.
pub(super) struct Feed<'e> {
    pub(super) engine: &'e Engine,
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) claim: Claim,
    handle: Handle,
    pub(super) bytes: RawBytes,
    pub(super) sent: Option<Sent<'e>>,
    pub(super) sessions: Vec<SessionTree>,
    pub(super) by_name: HashMap<Box<str>, Belongs>,
    /// Whether the file is one document.
    pub(super) is_document: bool,
    /// What the ledger calls the file, once a session without an id has been met.
    pub(super) file: Option<String>,
    pub(super) own: Option<usize>,
    held: Vec<(TranscriptRecord, Vec<u8>)>,
    /// Whether the file has named its session by the record at hand: its reader may be further.
    pub(super) named: bool,
    pub(super) waiting: Vec<Waiting>,
    pub(super) waiting_events: usize,
    pub(super) waiting_bytes: u64,
    /// Records without events: the stream, hashes of their ids and the positions they follow.
    pub(super) notes: Vec<(StreamId, Vec<(i64, Seq)>)>,
    /// What of the records at hand is in the ledger.
    pub(super) known: Known,
    /// What was erased, by session.
    pub(super) lost: HashMap<String, Lost>,
    pub(super) newest: Millis,
    unlisted: u64,
    pub(super) done: Imported,
}

impl<'e> Feed<'e> {
    pub(super) fn begin(
        engine: &'e Engine,
        (path, name, format): (&Path, &str, Format),
        claim: Claim,
    ) -> Self {
        Self {
            engine,
            path: path.to_owned(),
            name: name.to_owned(),
            format,
            handle: engine.source_handle(path),
            bytes: RawBytes::new(0, claim.len),
            claim,
            sent: None,
            sessions: Vec::new(),
            by_name: HashMap::new(),
            is_document: false,
            file: None,
            own: None,
            held: Vec::new(),
            named: false,
            waiting: Vec::new(),
            waiting_events: 0,
            waiting_bytes: 0,
            notes: Vec::new(),
            known: Known::default(),
            lost: HashMap::new(),
            newest: Millis(0),
            unlisted: 0,
            done: Imported::of(path, format),
        }
    }

    pub(super) fn reader(&self) -> TranscriptReader {
        TranscriptReader::new(self.format, &self.name)
    }

    /// Says where in the file reading begins.
    pub(super) fn start(&mut self, at: u64) {
        self.bytes = RawBytes::new(at, self.claim.len);
    }

    /// Takes in the file's next bytes.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.push(bytes);
    }

    pub(super) fn blank(&mut self, from: u64, to: u64) {
        self.bytes.blank(from, to);
    }

    /// Stores bytes up to an offset, whatever their records say.
    pub(super) async fn store(&mut self, to: u64) -> Result<(), Error> {
        self.bytes.release(to);
        if self.bytes.chunks.len() >= IMPORT_BATCH_CHUNKS { self.flush().await } else { Ok(()) }
    }

    /// Ends a line: its bytes can be stored, unless the reader holds some of their records back.
    pub(super) async fn end_line(&mut self, reader: &TranscriptReader) -> Result<(), Error> {
        if self.held.is_empty() && self.bytes.waiting() >= SOURCE_CHUNK {
            let checkpoint = reader.checkpoint();
            let read = self.bytes.read();
            self.bytes.release(checkpoint.map_or(0, |checkpoint| checkpoint.resume.unwrap_or(read)));
        }
        if self.waiting_events >= IMPORT_BATCH_EVENTS
            || self.waiting_bytes >= IMPORT_BATCH_BYTES
            || self.bytes.chunks.len() >= IMPORT_BATCH_CHUNKS
        {
            self.flush().await?;
        }
        Ok(())
    }

    /// Notes that the file ends within a record. Its bytes are kept; it is read when the rest of it is there.
    pub(super) fn unfinished(&mut self, line: u64) {
        let text = format!(
            "{}:{line}: the file ends within a record; it is kept, and will be read when the file has grown",
            self.path.display()
        );
        self.warn(text);
    }

    /// The record of a line that is too long to be parsed: it says where the bytes are.
    pub(super) fn long_record(&self, offset: u64, len: u64, line: u64) -> TranscriptRecord {
        let handle = revision_handle(&self.engine.tenant.key, self.handle, self.claim.revision);
        let text = format!(
            "⟨a record of {len} bytes, too long to be parsed: read {handle} --bytes {offset}-{}⟩",
            offset + len
        );
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
            kind: "long".into(),
            items: vec![RecordItem::Message(message.standing(MessageOrigin::Aside("long record".into())))],
            kept: RecordStatus::Opaque { why: format!("a record of {len} bytes, too long to be parsed") },
        }
    }

    /// Takes in a record. `bytes` are those that were read at `base`.
    pub(super) async fn record(
        &mut self,
        record: TranscriptRecord,
        reader: &TranscriptReader,
        bytes: &[u8],
        base: u64,
    ) -> Result<(), Error> {
        let raw = raw_of(&record, bytes, base);
        let nameless = self.sessions.is_empty() && record.session.is_none() && !self.named;
        if nameless && self.held.len() < HELD && raw.len() < HELD_BYTES {
            self.held.push((record, raw.to_vec()));
            return Ok(());
        }
        if self.newest == Millis(0) {
            self.newest = record.at.unwrap_or(self.newest);
        }
        if !self.held.is_empty() {
            // The record that names the session knows more of it, and opens it.
            self.session(&record, reader).await?;
            self.let_in(reader).await?;
        }
        self.take(record, reader, raw).await
    }

    /// Takes in what was held back.
    pub(super) async fn let_in(&mut self, reader: &TranscriptReader) -> Result<(), Error> {
        for (record, raw) in std::mem::take(&mut self.held) {
            self.take(record, reader, &raw).await?;
        }
        Ok(())
    }

    async fn take(
        &mut self,
        record: TranscriptRecord,
        reader: &TranscriptReader,
        raw: &[u8],
    ) -> Result<(), Error> {
        self.done.records += 1;
        self.account(&record);
        let Some(session) = self.session(&record, reader).await? else {
            self.forget(&record);
            return Ok(());
        };
        let name = record_name(&record);
        let items = items_of(&record, raw);
        let gone = self.gone(session, (&record, &name, items.len()))?;
        if let Some(gone) = &gone {
            self.forget(&record);
            if gone.iter().all(|gone| *gone) {
                if record.id.is_none() {
                    self.pass(session, (&record, &name, &items)).await?;
                }
                return Ok(());
            }
        }
        let at = record.at.unwrap_or(self.newest);
        self.newest = self.newest.max(at);
        let there = match self.place(session, (&record, &name, &items), at).await? {
            Placed::New => None,
            Placed::There(seq) => Some(seq),
            Placed::Beside(place) => {
                if let Some(id) = &record.id {
                    self.name_record_at(session, record_key(id), place);
                }
                return Ok(());
            }
            Placed::Elsewhere => return Ok(()),
        };
        let source = EventSource::Import {
            source: self.handle,
            revision: self.claim.revision,
            offset: record.offset,
            len: record.len,
        };
        let gone = gone.unwrap_or_default();
        for (number, item) in items.into_iter().enumerate() {
            if gone.get(number) == Some(&true) {
                continue;
            }
            let id = event_id(&name, number)?;
            if let Some(fact) = self.fact(session, item).await? {
                self.push(session, NewEvent { id, at, source: source.clone(), fact }, there);
            }
        }
        if let Some(id) = &record.id {
            self.name_record(session, record_key(id));
        }
        Ok(())
    }

    /// Keeps a record's place and nothing of what it says.
    fn forget(&mut self, record: &TranscriptRecord) {
        self.done.erased += 1;
        self.bytes.blank(record.offset, record.offset + record.len);
    }

    fn lost(&self, session: usize) -> Option<&Lost> {
        self.sessions.get(session).and_then(|tree| self.lost.get(&tree.name))
    }

    /// Of a record that was erased from its files, which of its events were erased, too.
    fn gone(
        &self,
        session: usize,
        (record, name, events): (&TranscriptRecord, &str, usize),
    ) -> Result<Option<Vec<bool>>, Error> {
        let Some(lost) = self.lost(session).filter(|lost| lost.has_record(record, name)) else {
            return Ok(None);
        };
        let gone = |number| Ok(lost.events.contains(event_id(name, number)?.as_str()));
        Ok(Some((0..events).map(gone).collect::<Result<_, Error>>()?))
    }

    /// Whether a record without an id, of the file's own session, was erased.
    pub(super) fn is_erased_at(&self, offset: u64) -> bool {
        match self.own {
            Some(own) => self.lost(own).is_some_and(|lost| lost.has_named(&nameless(offset))),
            None => self.by_name.values().any(|belongs| *belongs == Belongs::Erased),
        }
    }

    fn account(&mut self, record: &TranscriptRecord) {
        let (word, why) = match &record.kept {
            RecordStatus::Opaque { why } => ("not known", why),
            RecordStatus::Broken { why } => {
                self.done.broken += 1;
                ("kept as it is", why)
            }
            RecordStatus::Understood | RecordStatus::Bookkeeping => return,
        };
        self.done.opaque_bytes += record.len;
        let text = format!("{}:{}: {word}: {why}", self.path.display(), record.line);
        self.warn(text);
    }

    pub(super) fn warn(&mut self, text: String) {
        if self.done.warnings.len() < MAX_WARNINGS {
            self.done.warnings.push(text);
        } else {
            self.unlisted += 1;
        }
    }

    /// The fact an item is.
    async fn fact(&mut self, session: usize, item: RecordItem) -> Result<Option<Fact>, Error> {
        Ok(Some(match item {
            RecordItem::Opened(_) => return Ok(None),
            RecordItem::Message(message) => Fact::MessageAppended(MessageAppended { message }),
            RecordItem::Usage(usage) => Fact::UsageMeasured(usage),
            RecordItem::Turn(turn) => Fact::TurnCompleted(turn),
            RecordItem::Spawned(name) => match StreamId::new(name.to_string()) {
                Ok(session) => Fact::SubagentSpawned(SubagentSpawned { session }),
                Err(_) => return Ok(None),
            },
            RecordItem::Fact(fact) => *fact,
            RecordItem::Pinned { record, pinned } => {
                self.arrive().await?;
                let place = self.place_of(session, &record);
                let target = self.sessions.get(session).and_then(|tree| tree.seq(place?));
                match target {
                    Some(target) => Fact::ContentPinned(ContentPinned { target, pinned }),
                    None => return Ok(None),
                }
            }
            RecordItem::Compacted { from, before, summary, trigger, tokens_before } => {
                // Its range is told in positions, so what came before must have some.
                self.arrive().await?;
                let kept = before.as_deref().and_then(|id| self.place_of(session, id));
                let from = from.as_deref().and_then(|id| self.place_of(session, id));
                let Some(tree) = self.sessions.get_mut(session) else { return Ok(None) };
                let kept = kept.filter(|place| place.0 == tree.current).and_then(|place| tree.seq(place));
                let last = tree.seq(tree.last());
                // Where all is kept it stands for the opening alone, which holds nothing that a view shows.
                let to_seq = kept.map(Seq::prev).or(last).unwrap_or(Seq(1)).max(Seq(1));
                let from_seq = from.and_then(|place| tree.seq(place));
                let Some(branch) = tree.branch_mut() else { return Ok(None) };
                let from_seq = from_seq.unwrap_or(branch.compacted.next()).min(to_seq);
                branch.compacted = branch.compacted.max(to_seq);
                Fact::SessionCompacted(Box::new(SessionCompacted {
                    summary: summary.map(Body::from),
                    trigger,
                    tokens_before,
                    ..SessionCompacted::new(from_seq, to_seq, self.format.name())
                }))
            }
        }))
    }

    /// Gives an event to the current branch. `there`: where its record stands already.
    fn push(&mut self, session: usize, event: NewEvent, there: Option<Seq>) {
        let Some(tree) = self.sessions.get_mut(session) else { return };
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
        self.waiting_events += 1;
        self.waiting_bytes += event.fact.bodies().into_iter().map(|body| body.bytes().0).sum::<u64>();
        match self.waiting.last_mut().filter(|last| last.session == session && last.branch == index) {
            Some(last) => last.events.push(event),
            None => self.waiting.push(Waiting {
                session,
                branch: index,
                events: vec![event],
                records: Vec::new(),
            }),
        }
    }

    /// Notes that a record ends where its branch ends now.
    fn name_record(&mut self, session: usize, record: i64) {
        if let Some(place) = self.sessions.get(session).map(SessionTree::last) {
            self.name_record_at(session, record, place);
        }
    }

    fn name_record_at(&mut self, session: usize, record: i64, place: (usize, Point)) {
        let Some(tree) = self.sessions.get_mut(session) else { return };
        tree.remember(record, place);
        let stream = tree.branches.get(place.0).map(|branch| branch.stream.clone());
        let there = stream.zip(tree.seq(place));
        if let (Point::Seq(_), Some((stream, seq))) = (place.1, there.clone()) {
            self.note_record(stream, record, seq);
            return;
        }
        let own = |waiting: &&mut Waiting| (waiting.session, waiting.branch) == (session, place.0);
        match self.waiting.iter_mut().rev().find(own) {
            Some(waiting) => waiting.records.push((waiting.events.len().saturating_sub(1), record)),
            None => {
                // Its event has arrived.
                if let Some((stream, seq)) = there {
                    self.note_record(stream, record, seq);
                }
            }
        }
    }

    fn note_record(&mut self, stream: StreamId, record: i64, seq: Seq) {
        match self.notes.last_mut().filter(|(last, _)| *last == stream) {
            Some((_, records)) => records.push((record, seq)),
            None => self.notes.push((stream, vec![(record, seq)])),
        }
    }

    /// The state to be kept, if all of it is committed once `finish` has been called.
    pub(super) fn saved(&self, at: u64, line: u64, reader: Vec<u8>) -> Saved {
        Saved {
            at,
            line,
            newest: self.newest,
            own: self.own,
            sessions: Vec::new(),
            samples: Vec::new(),
            reader,
        }
    }

    /// Commits what is left and says that the revision is whole. `saved` lacks the sessions.
    pub(super) async fn finish(
        &mut self,
        saved: Option<Saved>,
        modified: Option<i64>,
    ) -> Result<Imported, Error> {
        self.open_kin().await?;
        self.bytes.release(u64::MAX);
        self.bytes.end();
        self.arrive().await?;
        // Of a file of many conversations, its own session may hold nothing but what stands around them.
        let spoken = self.sessions.iter().position(SessionTree::has_messages);
        let own = self
            .own
            .filter(|own| spoken.is_none() || self.sessions.get(*own).is_some_and(SessionTree::has_messages));
        let own = own.or(spoken).or_else(|| (!self.sessions.is_empty()).then_some(0));
        let leaf = own.and_then(|own| self.sessions.get(own)).and_then(SessionTree::branch);
        let leaf = leaf.map(|leaf| leaf.stream.clone());
        // Its checksums are of the file's own bytes: of what was erased no hash is kept, so such a file is read whole.
        let saved = saved.filter(|_| self.done.erased == 0);
        let reader = saved.and_then(|saved| Saved { sessions: self.trees()?, ..saved }.encode());
        let write = Write::Whole {
            source: self.claim.source,
            revision: self.claim.revision,
            token: self.claim.token.clone(),
            modified,
            reader,
            leaf: leaf.clone(),
        };
        self.engine.storage.commit(vec![write]).await?;
        self.done.sessions.extend(leaf);
        let others = self.sessions.iter().enumerate().filter(|(index, _)| Some(*index) != own);
        let others = others.filter_map(|(_, tree)| Some(tree.branch()?.stream.clone()));
        self.done.sessions.extend(others);
        self.done.bytes = self.bytes.read();
        if self.unlisted > 0 {
            self.done.warnings.push(format!("and {} more", self.unlisted));
        }
        Ok(self.done.clone())
    }

    /// The sessions as they are kept; none where one of them was erased, since it has no tree.
    fn trees(&self) -> Option<Vec<SavedTree>> {
        let mut trees: Vec<Option<SavedTree>> = self.sessions.iter().map(|_| None).collect();
        for (key, belongs) in &self.by_name {
            let Belongs::To(index) = belongs else { return None };
            *trees.get_mut(*index)? = Some(SavedTree::of(key, self.sessions.get(*index)?)?);
        }
        trees.into_iter().collect()
    }
}
