//! Session of each record of a Claude Code file, and the place of the record in that session.

use crate::transcript::parsing::blocks::CallPairing;
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::record::{RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::units::Tokens;

/// Sessions found in one file. The first session is the file's own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileSessions {
    /// Name of the sub-agent's session that the file's name indicates.
    file: Option<Box<str>>,
    own: Option<Box<str>>,
    first: FileSession,
    others: Vec<FileSession>,
    /// Indexes of sessions by name. The first of `others` has index 1.
    #[serde(skip)]
    by_name: HashMap<Box<str>, u32>,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    seen: SeenIds,
}

/// One session of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FileSession {
    /// Name of the session. The name of the file's own session is in [`FileSessions::own`] instead.
    name: Box<str>,
    parent: Option<Box<str>>,
    /// Whether the session is a sub-agent's.
    side: bool,
    opened: bool,
    /// Title that was given before the session's first record with content.
    #[serde(default)]
    title: Option<Box<str>>,
    /// Whether a record with content has already been read.
    pub(super) begun: bool,
    /// Whether replies are recorded without a parent. If so, the file is not a tree, and a missing parent does not
    /// mean a rewind.
    linear: bool,
    /// Compaction whose summary has not been read yet.
    pub(super) boundary: Option<CompactBoundary>,
    /// Hashes of the ids of records that a compaction kept. A record that follows one of these records continues at
    /// the end of the session.
    kept: BTreeSet<u64>,
    /// Hashes of the ids of the current reply's records: its pieces, results of its tools, and records attached to
    /// them.
    reply: BTreeSet<u64>,
    /// Provider's id of the current reply.
    reply_id: Option<Box<str>>,
    /// Id of the previous record.
    last: Option<Box<str>>,
    /// Calls that were recorded without ids.
    pub(super) pairing: CallPairing,
}

/// Content of a compact boundary, kept until the summary has been read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CompactBoundary {
    pub(super) before: Option<Box<str>>,
    pub(super) trigger: Option<Box<str>>,
    pub(super) tokens_before: Option<Tokens>,
}

impl CompactBoundary {
    pub(super) fn into_item(self, summary: Option<String>) -> RecordItem {
        RecordItem::Compacted {
            from: None,
            before: self.before,
            summary,
            trigger: self.trigger,
            tokens_before: self.tokens_before,
        }
    }
}

impl FileSession {
    /// Updates the current reply. A prompt ends the current reply, and a piece of another reply replaces it.
    fn go_on(&mut self, object: &Object<'_>, id: &str, prompt: bool) {
        self.last = Some(id.into());
        let reply_id = if object.text("type").as_deref() == Some("assistant") {
            object.object("message").and_then(|message| message.word("id"))
        } else {
            None
        };
        let is_next = reply_id.is_some() && reply_id != self.reply_id;
        if prompt || is_next {
            self.reply.clear();
            self.reply_id = reply_id;
        }
        if self.reply_id.is_some() {
            self.reply.insert(hash([id]));
        }
    }
}

/// Session and place of a record.
#[derive(Debug)]
pub(super) struct RecordOwner {
    session: u32,
    place: RecordPlace,
}

/// Returns the name of a sub-agent's session, which is also the name of its file.
pub(super) fn agent_session(agent: &str) -> Box<str> {
    format!("agent-{agent}").into()
}

/// Returns the sub-agent's session that a file is named after.
fn agent_file(file: &str) -> Option<&str> {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    stem.strip_prefix("agent-").filter(|id| !id.is_empty()).map(|_| stem)
}

impl FileSessions {
    pub(super) fn new(file: &str) -> Self {
        let agent = agent_file(file);
        let first = FileSession { side: agent.is_some(), ..FileSession::default() };
        Self {
            file: agent.map(Into::into),
            own: agent.map(Into::into),
            first,
            others: Vec::new(),
            by_name: HashMap::new(),
            seen: SeenIds::default(),
        }
    }

    pub(super) fn own(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the session and place of a record. `prompt` indicates whether the person may have started over at this
    /// record.
    pub(super) fn locate(&mut self, object: &Object<'_>, prompt: bool) -> RecordOwner {
        let Some(id) = object.text("uuid").filter(|id| !id.is_empty()) else {
            return RecordOwner { session: self.known(object), place: RecordPlace::Next };
        };
        let parent = object.word("parentUuid");
        let parent_in = parent.as_deref().and_then(|parent| self.seen.get(parent));
        let session = self.session_of(object, &id, parent_in);
        let place = match parent {
            Some(parent) if parent_in == Some(session) => self.after(session, parent),
            Some(_) => RecordPlace::Next,
            None => self.without_parent(session, object, prompt),
        };
        self.at(session).go_on(object, &id, prompt);
        if object.text("type").as_deref() == Some("assistant") && object.some("parentUuid").is_none() {
            self.at(session).linear = true;
        }
        RecordOwner { session, place }
    }

    /// Remembers a record that later records may follow.
    pub(super) fn saw(&mut self, id: &str, at: &RecordOwner) {
        self.seen.insert(id, at.session);
    }

    /// Returns the id that [`Self::locate`] looks up for a record, if no record with that id has been seen.
    pub(super) fn unknown(&self, object: &Object<'_>) -> Option<Box<str>> {
        object.word("uuid")?;
        let id = object.word("parentUuid").or_else(|| object.word("logicalParentUuid"))?;
        (!self.knows(&id)).then_some(id)
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// Remembers an earlier record of the session with this name. Does nothing if the session is unknown.
    pub(super) fn remind(&mut self, id: &str, session: Option<&str>) {
        let session = match session {
            Some(name) if self.own() != Some(name) => self.by_name.get(name).copied(),
            _ => Some(0),
        };
        if let Some(session) = session {
            self.seen.remind(id, session);
        }
    }

    /// Completes a state read from a checkpoint. Returns `false` if the file's name now means another session.
    pub(super) fn restore(&mut self, file: &str) -> bool {
        let names = self.others.iter().map(|session| session.name.clone());
        self.by_name = names.zip(1..).collect();
        self.file.as_deref() == agent_file(file)
    }

    fn session_of(&mut self, object: &Object<'_>, id: &str, parent_in: Option<u32>) -> u32 {
        let named = object.word("sessionId");
        if let Some(agent) = object.word("agentId") {
            return self.side(agent_session(&agent), named);
        }
        if object.flag("isSidechain") {
            return match parent_in {
                Some(session) => session,
                None if !self.at(0).begun => self.named(named),
                None => self.side(format!("sidechain-{id}").into(), named),
            };
        }
        match parent_in {
            Some(session) if session == 0 || !self.at(session).side => session,
            _ => self.named(named),
        }
    }

    /// Returns the place of a record in relation to its parent. Parallel calls look like forks: the result of the
    /// first call and the piece with the second call have the same parent. Within one reply, records are therefore
    /// taken in order.
    fn after(&mut self, session: u32, parent: Box<str>) -> RecordPlace {
        let here = self.at(session);
        let key = hash([&*parent]);
        let kept = here.kept.contains(&key);
        let same_reply = here.last.as_ref() != Some(&parent) && here.reply.contains(&key);
        if kept || same_reply { RecordPlace::Next } else { RecordPlace::After(parent) }
    }

    fn without_parent(&mut self, session: u32, object: &Object<'_>, prompt: bool) -> RecordPlace {
        if let Some(logical) = object.word("logicalParentUuid") {
            let known = self.seen.get(&logical) == Some(session);
            return if known { RecordPlace::After(logical) } else { RecordPlace::Next };
        }
        let here = self.at(session);
        // Records that were typed by a person and whose parent is `null` restart the conversation.
        let starts_over = object.has("parentUuid") && here.begun && prompt && !here.linear;
        if starts_over { RecordPlace::Root } else { RecordPlace::Next }
    }

    /// Returns the session of a record without an id. A record without an id begins no session, except the file's
    /// own.
    fn known(&mut self, object: &Object<'_>) -> u32 {
        match object.word("sessionId") {
            Some(name) if self.own.is_none() => self.named(Some(name)),
            Some(name) => self.by_name.get(&name).copied().unwrap_or(0),
            None => 0,
        }
    }

    fn named(&mut self, name: Option<Box<str>>) -> u32 {
        let Some(name) = name else { return 0 };
        if self.own.is_none() {
            self.own = Some(name);
            return 0;
        }
        let own_parent = self.first.side && self.first.parent.as_ref() == Some(&name);
        if self.own.as_ref() == Some(&name) || own_parent {
            return 0;
        }
        self.find_or_add(name, None, false)
    }

    fn side(&mut self, name: Box<str>, parent: Option<Box<str>>) -> u32 {
        let parent = parent.filter(|parent| *parent != name);
        if self.own.is_none() || self.own.as_ref() == Some(&name) {
            self.own = Some(name);
            let own = self.at(0);
            own.side = true;
            if own.parent.is_none() {
                own.parent = parent;
            }
            return 0;
        }
        // A side chain without a named parent belongs to the file's own session.
        let parent = parent.or_else(|| self.own.clone());
        self.find_or_add(name, parent, true)
    }

    fn find_or_add(&mut self, name: Box<str>, parent: Option<Box<str>>, side: bool) -> u32 {
        if let Some(found) = self.by_name.get(&name) {
            return *found;
        }
        let index = u32::try_from(self.others.len() + 1).unwrap_or(0);
        self.others.push(FileSession { name: name.clone(), parent, side, ..FileSession::default() });
        self.by_name.insert(name, index);
        index
    }

    pub(super) fn get(&mut self, at: &RecordOwner) -> &mut FileSession {
        self.at(at.session)
    }

    fn at(&mut self, session: u32) -> &mut FileSession {
        let other = (session as usize).checked_sub(1).and_then(|index| self.others.get_mut(index));
        other.unwrap_or(&mut self.first)
    }

    /// Remembers a compaction until its summary is read.
    pub(super) fn compacting(&mut self, at: &RecordOwner, boundary: CompactBoundary, kept: &[Box<str>]) {
        let session = self.get(at);
        session.boundary = Some(boundary);
        session.kept = kept.iter().map(|id| hash([&**id])).collect();
        session.begun = true;
    }

    pub(super) fn place(&mut self, record: &mut TranscriptRecord, at: &RecordOwner) {
        record.place = at.place.clone();
        let session = self.get(at);
        record.parent_session.clone_from(&session.parent);
        if at.session != 0 {
            record.session = Some(session.name.clone());
        }
    }

    /// Adds a title to a record, or keeps it until the session is opened.
    pub(super) fn title(&mut self, record: &mut TranscriptRecord, at: &RecordOwner, title: &str) {
        let session = self.get(at);
        record.kept = RecordStatus::Understood;
        if session.opened {
            record.push(RecordItem::titled(title));
        } else {
            session.title = Some(title.into());
        }
    }

    /// Inserts the items that must precede those of a record: the session's opening, or a compaction without a
    /// summary.
    pub(super) fn complete(&mut self, record: &mut TranscriptRecord, at: &RecordOwner, object: &Object<'_>) {
        if record.items.is_empty() {
            return;
        }
        let session = self.get(at);
        session.begun = true;
        if let Some(boundary) = session.boundary.take() {
            record.items.insert(0, boundary.into_item(None));
        }
        if !std::mem::replace(&mut session.opened, true) {
            let (cwd, version) = (object.word("cwd"), object.word("version"));
            record.items.insert(
                0,
                RecordItem::opened("claude-code", cwd, version).on_branch(object.word("gitBranch")),
            );
            record.items.extend(session.title.take().map(|title| RecordItem::titled(&title)));
        }
    }
}
