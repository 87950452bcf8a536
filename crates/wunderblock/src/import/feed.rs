//! Turns records into events and commits them in batches, with the raw bytes beside them.

mod batch;

use super::Imported;
use super::tree::{Branch, SessionTree};
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_CHUNKS, IMPORT_BATCH_EVENTS, SOURCE_CHUNK};
use crate::store::{SourceInfo, SourceNo, Write, Written, codec};
use batch::{Chunk, Sent};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use wunderblock_core::event::{
    ContentPinned, Fact, MessageAppended, NewEvent, SessionCompacted, SessionForked, SessionOpened, Source,
    SubagentSpawned,
};
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::message::{Body, Dialect, Message, Part, Role, Standing};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_wire::transcript::{Format, Item, Kept, Place, Reader, Record};

/// How many warnings an import lists.
pub const MAX_WARNINGS: usize = 20;

/// Records at a file's beginning that wait for one that names the session: titles and settings come first in some.
const HELD: usize = 64;
/// A record as long as this is not held back.
const HELD_BYTES: usize = 256 << 10;

/// Events of one branch, waiting to be committed.
struct Waiting {
    session: usize,
    branch: usize,
    events: Vec<NewEvent>,
}

/// An import under way.
pub(super) struct Feed<'e> {
    engine: &'e Engine,
    path: PathBuf,
    name: String,
    format: Format,
    source: SourceNo,
    handle: Handle,
    revision: u32,
    shared: u64,
    hasher: blake3::Hasher,
    chunk: Vec<u8>,
    read: u64,
    chunks: Vec<Chunk>,
    sent: Option<Sent<'e>>,
    sessions: Vec<SessionTree>,
    by_name: HashMap<Box<str>, usize>,
    own: Option<usize>,
    held: Vec<(Record, Vec<u8>)>,
    waiting: Vec<Waiting>,
    waiting_events: usize,
    waiting_bytes: u64,
    newest: Millis,
    unlisted: u64,
    done: Imported,
}

impl<'e> Feed<'e> {
    pub(super) async fn begin(
        engine: &'e Engine,
        (path, name, format): (&Path, &str, Format),
        shared: u64,
        old: Option<&SourceInfo>,
    ) -> Result<Self, Error> {
        // A revision shares whole bytes with the one before; without a complete one there is nothing to share.
        let shared = if old.is_some_and(|old| old.revision > 0) { shared } else { 0 };
        let handle = engine.source_handle(path);
        let write = Write::Source {
            tenant: engine.tenant.no,
            key: path.to_string_lossy().into_owned(),
            handle,
            format: format.name().to_owned(),
            shared,
            at: engine.now(),
        };
        let Some(Written::Source(source, revision)) = engine.storage.commit(vec![write]).await?.pop() else {
            return Err(unexpected());
        };
        let done = Imported {
            path: path.to_owned(),
            format,
            sessions: Vec::new(),
            bytes: 0,
            unchanged: false,
            records: 0,
            appended: 0,
            duplicates: 0,
            opaque_bytes: 0,
            broken: 0,
            warnings: Vec::new(),
        };
        Ok(Self {
            engine,
            path: path.to_owned(),
            name: name.to_owned(),
            format,
            source,
            handle,
            revision,
            shared,
            hasher: blake3::Hasher::new(),
            chunk: Vec::with_capacity(SOURCE_CHUNK),
            read: 0,
            chunks: Vec::new(),
            sent: None,
            sessions: Vec::new(),
            by_name: HashMap::new(),
            own: None,
            held: Vec::new(),
            waiting: Vec::new(),
            waiting_events: 0,
            waiting_bytes: 0,
            newest: Millis(0),
            unlisted: 0,
            done,
        })
    }

    pub(super) fn reader(&self) -> Reader {
        super::reader(self.format, &self.name)
    }

    /// Takes in the file's next bytes. Those the revision before has are not stored again.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        let skip =
            usize::try_from(self.shared.saturating_sub(self.read)).unwrap_or(usize::MAX).min(bytes.len());
        self.read += bytes.len() as u64;
        let mut rest = bytes.get(skip..).unwrap_or_default();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(SOURCE_CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            rest = later;
            if self.chunk.len() == SOURCE_CHUNK {
                self.cut_chunk(self.read - rest.len() as u64);
            }
        }
    }

    fn cut_chunk(&mut self, end: u64) {
        if self.chunk.is_empty() {
            return;
        }
        let len = self.chunk.len() as u64;
        // A line of many chunks is not held in memory twice.
        let is_packed = self.chunks.len() >= IMPORT_BATCH_CHUNKS;
        let bytes = std::mem::replace(&mut self.chunk, Vec::with_capacity(SOURCE_CHUNK));
        let bytes = if is_packed { codec::pack(&bytes) } else { bytes };
        self.chunks.push(Chunk { offset: end - len, len, bytes, is_packed });
    }

    /// Notes that the file ends within a record. Its bytes are kept; it is read when the rest of it is there.
    pub(super) fn unfinished(&mut self, line: u64) {
        let text = format!(
            "{}:{line}: the file ends within a record; it is kept, and will be read when the file has grown",
            self.path.display()
        );
        self.warn(text);
    }

    /// Takes in a record. `bytes` are those that were read at `base`.
    pub(super) async fn record(
        &mut self,
        record: Record,
        reader: &Reader,
        bytes: &[u8],
        base: u64,
    ) -> Result<(), Error> {
        let raw = raw_of(&record, bytes, base);
        let nameless = self.sessions.is_empty() && record.session.is_none() && reader.session().is_none();
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
    pub(super) async fn let_in(&mut self, reader: &Reader) -> Result<(), Error> {
        for (record, raw) in std::mem::take(&mut self.held) {
            self.take(record, reader, &raw).await?;
        }
        Ok(())
    }

    async fn take(&mut self, record: Record, reader: &Reader, raw: &[u8]) -> Result<(), Error> {
        self.done.records += 1;
        self.account(&record);
        let session = self.session(&record, reader).await?;
        self.place(session, &record).await?;
        let at = record.at.unwrap_or(self.newest);
        self.newest = self.newest.max(at);
        let source = Source::Import {
            source: self.handle,
            revision: self.revision,
            offset: record.offset,
            len: record.len,
        };
        let name = record.id.clone().unwrap_or_else(|| format!("r{}", record.offset).into());
        let mut items = record.items;
        if items.is_empty() {
            items.extend(kept_item(&record.kept, raw));
        }
        // Opening is no event of a record, and which record opens a session changes when the file is rewritten.
        items.retain(|item| !matches!(item, Item::Opened(_)));
        for (number, item) in items.into_iter().enumerate() {
            let id = if number == 0 { name.to_string() } else { format!("{name}#{number}") };
            if let Some(fact) = self.fact(session, item).await? {
                let id = EventId::new(id.clone())
                    .or_else(|_| EventId::new(blake3::hash(id.as_bytes()).to_hex().to_string()))?;
                self.push(session, NewEvent { id, at, source: source.clone(), fact });
            }
        }
        if let (Some(id), Some(tree)) = (&record.id, self.sessions.get_mut(session)) {
            tree.remember(id);
        }
        if self.waiting_events >= IMPORT_BATCH_EVENTS
            || self.waiting_bytes >= IMPORT_BATCH_BYTES
            || self.chunks.len() >= IMPORT_BATCH_CHUNKS
        {
            self.flush().await?;
        }
        Ok(())
    }

    fn account(&mut self, record: &Record) {
        let (word, why) = match &record.kept {
            Kept::Opaque { why } => ("not known", why),
            Kept::Broken { why } => {
                self.done.broken += 1;
                ("kept as it is", why)
            }
            Kept::Understood | Kept::Bookkeeping => return,
        };
        self.done.opaque_bytes += record.len;
        let text = format!("{}:{}: {word}: {why}", self.path.display(), record.line);
        self.warn(text);
    }

    fn warn(&mut self, text: String) {
        if self.done.warnings.len() < MAX_WARNINGS {
            self.done.warnings.push(text);
        } else {
            self.unlisted += 1;
        }
    }

    /// The session a record belongs to; opens it with the first record.
    async fn session(&mut self, record: &Record, reader: &Reader) -> Result<usize, Error> {
        let key: Box<str> = record.session.clone().unwrap_or_default();
        if let Some(index) = self.by_name.get(&key) {
            return Ok(*index);
        }
        let wish = match &record.session {
            Some(name) => name.to_string(),
            None => reader.session().map_or_else(|| self.fallback_name(), ToOwned::to_owned),
        };
        let own = record.session.is_none();
        let stream = self.free_name(&wish, own).await?;
        let mut opened =
            SessionOpened { format: Some(self.format.name().into()), ..SessionOpened::default() };
        for item in &record.items {
            if let Item::Opened(said) = item {
                opened = SessionOpened { format: Some(self.format.name().into()), ..said.clone() };
            }
        }
        opened.parent = record.parent_session.as_ref().and_then(|name| StreamId::new(name.to_string()).ok());
        let at = record.at.unwrap_or(self.newest);
        // What the format tells of a session may grow with the file; the ledger keeps what it was first told.
        let seq = match self.engine.info(&stream).await? {
            Some(_) => Seq(1),
            None => {
                let writes = self.engine.opening(&stream, opened, (at, Some(self.source)))?;
                self.engine.storage.commit(writes).await?;
                self.done.appended += 1;
                Seq(1)
            }
        };
        self.sessions.push(SessionTree::new(stream, seq));
        let index = self.sessions.len() - 1;
        if own {
            self.own = Some(index);
        }
        self.by_name.insert(key, index);
        Ok(index)
    }

    fn fallback_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let clean: String = stem
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
            .take(48)
            .collect();
        format!("{clean}-{}", self.path_mark())
    }

    fn path_mark(&self) -> String {
        blake3::hash(self.path.to_string_lossy().as_bytes()).to_hex().chars().take(8).collect()
    }

    /// A session id no other source has taken. Formats without ids of their own get the path's mark.
    async fn free_name(&self, wish: &str, own: bool) -> Result<StreamId, Error> {
        let generic = !own && self.format == Format::OpenaiChat
            || wish.starts_with("chat-")
            || wish.starts_with("line-");
        let wish = if generic { format!("{}-{wish}", self.fallback_name()) } else { wish.to_owned() };
        let first = StreamId::new(wish.clone())
            .or_else(|_| StreamId::new(format!("session-{}", blake3::hash(wish.as_bytes()).to_hex())))?;
        match self.engine.info(&first).await? {
            Some(info) if info.source != Some(self.source) => {
                Ok(StreamId::new(format!("{first}@{}", self.path_mark()))?)
            }
            _ => Ok(first),
        }
    }

    /// Moves to the branch a record belongs to; begins one where it forks.
    async fn place(&mut self, session: usize, record: &Record) -> Result<(), Error> {
        let Some(tree) = self.sessions.get_mut(session) else { return Ok(()) };
        let place = match &record.place {
            Place::Next => return Ok(()),
            Place::After(id) => match tree.place(id) {
                Some(place) => place,
                None => {
                    let text = format!(
                        "{}:{}: follows record {id}, which is not in the file; taken to follow the one before it",
                        self.path.display(),
                        record.line
                    );
                    self.warn(text);
                    return Ok(());
                }
            },
            Place::Root => (0, 0),
            Place::RolledBack { turns } => match tree.before_turns(*turns) {
                Some(place) => place,
                None => return Ok(()),
            },
        };
        if tree.is_tip(place) {
            tree.current = place.0;
            return Ok(());
        }
        // Bookkeeping does not fork anything: nothing of it is in a branch.
        if record.items.is_empty() && record.kept == Kept::Bookkeeping {
            return Ok(());
        }
        self.fork(session, place, record.at).await
    }

    async fn fork(&mut self, session: usize, place: (usize, usize), at: Option<Millis>) -> Result<(), Error> {
        self.arrive().await?;
        let Some(tree) = self.sessions.get_mut(session) else { return Ok(()) };
        let (Some(at_seq), Some(parent)) = (tree.seq(place), tree.branches.get(place.0)) else {
            return Ok(());
        };
        let forked = SessionForked { parent: parent.stream.clone(), at_seq };
        let compacted = parent.compacted.min(at_seq);
        let turns = Vec::new();
        let (name, known) = self.branch_name(session, &forked).await?;
        if !known {
            let scope = self.engine.info(&forked.parent).await?.map(|info| info.scope).unwrap_or_default();
            let at = at.unwrap_or(self.newest);
            let writes = self.engine.forking(&name, forked, (at, Some(self.source), scope))?;
            self.engine.storage.commit(writes).await?;
            self.done.appended += 1;
        }
        let Some(tree) = self.sessions.get_mut(session) else { return Ok(()) };
        tree.branches.push(Branch {
            stream: name,
            seqs: Vec::new(),
            count: 0,
            fork: Some(place),
            turns,
            opened: at_seq.next(),
            compacted,
        });
        tree.current = tree.branches.len() - 1;
        Ok(())
    }

    /// The name of a branch, and whether it is there. In a file that was rewritten, branches may begin elsewhere than
    /// those that have their names.
    async fn branch_name(
        &mut self,
        session: usize,
        forked: &SessionForked,
    ) -> Result<(StreamId, bool), Error> {
        loop {
            let Some(tree) = self.sessions.get_mut(session) else { return Err(unexpected()) };
            let name = StreamId::new(tree.next_name())?;
            let Some(info) = self.engine.info(&name).await? else { return Ok((name, false)) };
            let begins =
                info.fork.as_ref().is_some_and(|(of, at)| (of, *at) == (&forked.parent, forked.at_seq));
            if begins && info.source == Some(self.source) {
                return Ok((name, true));
            }
            tree.pass_over();
        }
    }

    /// The fact an item is.
    async fn fact(&mut self, session: usize, item: Item) -> Result<Option<Fact>, Error> {
        Ok(Some(match item {
            Item::Opened(_) => return Ok(None),
            Item::Message(message) => Fact::MessageAppended(MessageAppended { message }),
            Item::Usage(usage) => Fact::UsageMeasured(usage),
            Item::Turn(turn) => Fact::TurnCompleted(turn),
            Item::Spawned(name) => match StreamId::new(name.to_string()) {
                Ok(session) => Fact::SubagentSpawned(SubagentSpawned { session }),
                Err(_) => return Ok(None),
            },
            Item::Fact(fact) => *fact,
            Item::Pinned { record, pinned } => {
                self.arrive().await?;
                let tree = self.sessions.get(session);
                let target = tree.and_then(|tree| tree.seq(tree.place(&record)?));
                match target {
                    Some(target) => Fact::ContentPinned(ContentPinned { target, pinned }),
                    None => return Ok(None),
                }
            }
            Item::Compacted { from, before, summary, trigger, tokens_before } => {
                // Its range is told in positions, so what came before must have some.
                self.arrive().await?;
                let Some(tree) = self.sessions.get_mut(session) else { return Ok(None) };
                let kept =
                    before.as_deref().and_then(|id| tree.place(id)).filter(|place| place.0 == tree.current);
                let count = tree.branch().map_or(0, |branch| branch.count);
                let to_place =
                    kept.map_or((tree.current, count), |(branch, count)| (branch, count.saturating_sub(1)));
                let to_seq = tree.seq(to_place).unwrap_or(Seq(1));
                let from_seq = from.as_deref().and_then(|id| tree.seq(tree.place(id)?));
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

    fn push(&mut self, session: usize, event: NewEvent) {
        let Some(tree) = self.sessions.get_mut(session) else { return };
        let index = tree.current;
        let Some(branch) = tree.branch_mut() else { return };
        branch.count += 1;
        if matches!(&event.fact, Fact::MessageAppended(said) if said.message.is_user_turn()) {
            branch.turns.push(branch.count - 1);
        }
        self.waiting_events += 1;
        self.waiting_bytes += event.fact.bodies().into_iter().map(|body| body.bytes().0).sum::<u64>();
        match self.waiting.last_mut().filter(|last| last.session == session && last.branch == index) {
            Some(last) => last.events.push(event),
            None => self.waiting.push(Waiting { session, branch: index, events: vec![event] }),
        }
    }

    pub(super) async fn finish(mut self) -> Result<Imported, Error> {
        self.cut_chunk(self.read);
        self.arrive().await?;
        let mut writes = vec![Write::SourceEnd {
            source: self.source,
            len: self.read,
            hash: *self.hasher.finalize().as_bytes(),
        }];
        let own = self.own.or_else(|| (!self.sessions.is_empty()).then_some(0));
        let leaf = own.and_then(|own| self.sessions.get(own)).and_then(SessionTree::branch);
        if let Some(leaf) = leaf {
            self.done.sessions.push(leaf.stream.clone());
            writes.push(Write::SourceLeaf { source: self.source, stream: leaf.stream.clone() });
        }
        self.engine.storage.commit(writes).await?;
        let others = self.sessions.iter().enumerate().filter(|(index, _)| Some(*index) != own);
        let others: Vec<StreamId> =
            others.filter_map(|(_, tree)| Some(tree.branch()?.stream.clone())).collect();
        self.done.sessions.extend(others);
        self.done.bytes = self.read;
        if self.unlisted > 0 {
            self.done.warnings.push(format!("and {} more", self.unlisted));
        }
        Ok(self.done)
    }
}

/// The raw bytes of a record, if they are among those at hand.
fn raw_of<'b>(record: &Record, bytes: &'b [u8], base: u64) -> &'b [u8] {
    let from = usize::try_from(record.offset.wrapping_sub(base)).unwrap_or(usize::MAX);
    let len = usize::try_from(record.len).unwrap_or(usize::MAX);
    bytes.get(from..).and_then(|rest| rest.get(..len.min(rest.len()))).unwrap_or_default()
}

/// What a record that was not understood is kept as: beside the conversation, to be read and searched.
fn kept_item(kept: &Kept, raw: &[u8]) -> Option<Item> {
    let (why, part) = match kept {
        Kept::Understood | Kept::Bookkeeping => return None,
        Kept::Opaque { .. } => {
            let raw = String::from_utf8_lossy(raw).into_owned();
            ("opaque record", Part::Opaque { dialect: Dialect::Neutral, raw: raw.into() })
        }
        Kept::Broken { .. } => ("broken record", Part::text(String::from_utf8_lossy(raw).into_owned())),
    };
    Some(Item::Message(Message::new(Role::User, vec![part]).standing(Standing::Aside(why.into()))))
}
