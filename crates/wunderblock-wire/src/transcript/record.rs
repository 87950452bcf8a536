//! Neutral records: one per raw record of a transcript.

use wunderblock_core::event::{Fact, SessionOpened, TurnCompleted, UsageMeasured};
use wunderblock_core::id::Scope;
use wunderblock_core::message::Message;
use wunderblock_core::typed;
use wunderblock_core::units::{Millis, Tokens};

/// Where a record belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// After the record before it in the same session.
    Next,
    /// After the record with this native id. If that one already has a successor, a branch begins.
    After(Box<str>),
    /// At the beginning: a branch of its own if something stands there already.
    Root,
    /// After the last position at which fewer than `turns` further user turns follow: the newest ones were taken back.
    RolledBack {
        /// How many user turns were taken back.
        turns: u64,
    },
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordItem {
    /// What is known of the session as a whole.
    Opened(SessionOpened),
    /// Something was said.
    Message(Message),
    /// A provider reported usage.
    Usage(UsageMeasured),
    /// A turn ended.
    Turn(TurnCompleted),
    /// The agent compacted everything before this place (or everything up to `before`, exclusively).
    Compacted {
        /// The native id of the first record that was summarised, if the format names it; else the summary goes on where
        /// the one before it ended.
        from: Option<Box<str>>,
        /// The native id of the first record that was kept, if the format names it.
        before: Option<Box<str>>,
        /// The summary, where it is text.
        summary: Option<String>,
        /// What set it off.
        trigger: Option<Box<str>>,
        /// The context's tokens before, as the agent counted.
        tokens_before: Option<Tokens>,
    },
    /// A sub-agent was started in this session.
    Spawned(Box<str>),
    /// A pin or a hide of a record; the position it names is for the reader to fill in.
    About {
        /// The native id of the record.
        record: Box<str>,
        /// What is said of it.
        fact: Box<Fact>,
    },
    /// An event of ours that speaks of no position: a task, the end of a session.
    Fact(Box<Fact>),
}

impl RecordItem {
    /// The opening of a session; the project is where the agent worked.
    pub(crate) fn opened(format: &str, cwd: Option<Box<str>>, version: Option<Box<str>>) -> Self {
        let scope = Scope { project: cwd.as_deref().map(str::to_owned), ..Scope::default() };
        Self::Opened(SessionOpened { scope, format: Some(format.into()), cwd, version, parent: None })
    }
}

/// How well a record was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// Understood; its items say what it holds.
    Understood,
    /// A known record that is no part of the conversation: kept in the source, no event is made of it.
    Bookkeeping,
    /// An unknown shape; role and text were taken where found.
    Opaque {
        /// What was not known.
        why: String,
    },
    /// Not readable at all (bad JSON, wrong encoding); kept verbatim.
    Broken {
        /// What is wrong with it.
        why: String,
    },
}

/// One raw record and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptRecord {
    /// First byte of the raw record in its file.
    pub offset: u64,
    /// Its length in bytes, line end excluded.
    pub len: u64,
    /// The line it begins on, counted from 1.
    pub line: u64,
    /// The session it belongs to by the format's own id; `None`: the file's own session.
    pub session: Option<Box<str>>,
    /// The session that one was started from, if it is a sub-agent's.
    pub parent_session: Option<Box<str>>,
    /// Where in that session.
    pub place: RecordPlace,
    /// The record's native id, if the format has one.
    pub id: Option<Box<str>>,
    /// When it was made.
    pub at: Option<Millis>,
    /// The record's type in the format's own word, for the account of what was read.
    pub kind: Box<str>,
    /// What it says, in order. Empty for bookkeeping.
    pub items: Vec<RecordItem>,
    /// How well it was understood.
    pub kept: RecordStatus,
}

/// Where a raw record stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteSpan {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) line: u64,
}

impl TranscriptRecord {
    /// A record that says nothing yet.
    pub(crate) fn bookkeeping(span: ByteSpan, kind: &str) -> Self {
        Self {
            offset: span.offset,
            len: span.len,
            line: span.line,
            session: None,
            parent_session: None,
            place: RecordPlace::Next,
            id: None,
            at: None,
            kind: kind.into(),
            items: Vec::new(),
            kept: RecordStatus::Bookkeeping,
        }
    }

    pub(crate) fn broken(span: ByteSpan, why: String) -> Self {
        Self { kept: RecordStatus::Broken { why }, ..Self::bookkeeping(span, "broken") }
    }

    pub(crate) fn opaque(span: ByteSpan, kind: &str, why: impl Into<String>) -> Self {
        Self { kept: RecordStatus::Opaque { why: why.into() }, ..Self::bookkeeping(span, kind) }
    }

    /// Says what of it is unknown.
    pub(crate) fn set_opaque(&mut self, why: impl Into<String>) {
        self.kept = RecordStatus::Opaque { why: why.into() };
    }

    /// Adds something that was understood.
    pub(crate) fn push(&mut self, item: RecordItem) {
        self.kept = RecordStatus::Understood;
        self.items.push(item);
    }

    /// Adds a message. What a harness wrote in the user's place is not the user's.
    pub(crate) fn say(&mut self, message: Message) {
        self.push(RecordItem::Message(typed::settled(message)));
    }

    /// Puts the opening of a session first of which nothing is known but its format.
    pub(crate) fn open(&mut self, format: &str) {
        self.items.insert(0, RecordItem::opened(format, None, None));
    }

    /// The native id, else the line: what ids are made of for calls that have none.
    pub(crate) fn id_base(&self) -> Box<str> {
        self.id.clone().unwrap_or_else(|| self.line.to_string().into())
    }
}
