//! Neutral records: one for each raw record of a transcript.

use wunderblock_core::author;
use wunderblock_core::event::{
    Fact, SessionDescribed, SessionOpened, SubagentReturned, SubagentSpawned, TurnCompleted, UsageMeasured,
};
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::message::Message;
use wunderblock_core::units::{Millis, Tokens};

/// Maximum length of a title, in characters. The ledger accepts no longer titles.
const MAX_TITLE: usize = 200;

/// Place of a record in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// After the previous record of the same session.
    Next,
    /// After the record with this native id. If that record already has a successor, a branch begins.
    After(Box<str>),
    /// At the beginning of the session. If the session already has records, a branch begins.
    Root,
    /// Before the last `turns` user turns, which were taken back.
    RolledBack {
        /// Number of user turns that were taken back.
        turns: u64,
    },
}

/// Content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordItem {
    /// Known facts about the session as a whole.
    Opened(SessionOpened),
    /// A message.
    Message(Message),
    /// Usage that a provider reported.
    Usage(UsageMeasured),
    /// The end of a turn.
    Turn(TurnCompleted),
    /// The agent compacted everything before this record, or before `before` if that is set.
    Compacted {
        /// Native id of the first summarised record, if the format names it. Otherwise the summary begins where the
        /// previous summary ended.
        from: Option<Box<str>>,
        /// Native id of the first kept record, if the format names it.
        before: Option<Box<str>>,
        /// The summary, if it is text.
        summary: Option<String>,
        /// Cause of the compaction.
        trigger: Option<Box<str>>,
        /// Number of tokens in the context before the compaction, as counted by the agent.
        tokens_before: Option<Tokens>,
    },
    /// Start of a sub-agent in this session.
    Spawned(Box<SubagentSpawned>),
    /// End of a sub-agent's work.
    Returned(Box<SubagentReturned>),
    /// A pin or a hide of another record. Callers fill in the position in the fact.
    About {
        /// Native id of the pinned or hidden record.
        record: Box<str>,
        /// The pin or hide.
        fact: Box<Fact>,
    },
    /// An event of our own that refers to no position: a task, or the end of a session.
    Fact(Box<Fact>),
}

impl RecordItem {
    /// Returns the opening of a session. The session's project is the folder in which the agent worked.
    pub(crate) fn opened(format: &str, cwd: Option<Box<str>>, version: Option<Box<str>>) -> Self {
        let scope = Scope { project: cwd.as_deref().map(str::to_owned), ..Scope::default() };
        let format = Some(format.into());
        Self::Opened(SessionOpened { scope, format, cwd, version, ..SessionOpened::default() })
    }

    /// Names the branch of the repository in which the agent worked, if this is the opening of a session.
    pub(crate) fn on_branch(mut self, name: Option<Box<str>>) -> Self {
        if let Self::Opened(opened) = &mut self {
            opened.branch = name.filter(|name| !name.is_empty());
        }
        self
    }

    /// Returns the title that a session got, on one line and of a length that any title may have. An empty title
    /// removes the one given before.
    pub(crate) fn titled(title: &str) -> Self {
        let words: Vec<&str> = title.split(|c: char| c.is_control() || c.is_whitespace()).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let title: String = words.join(" ").chars().take(MAX_TITLE).collect();
        let described = SessionDescribed { title: Some(title.into()), tags: None };
        Self::Fact(Box::new(Fact::SessionDescribed(described)))
    }

    /// Returns the start of a sub-agent. `None` if the name of its session is invalid.
    pub(crate) fn spawned(session: &str) -> Option<SubagentSpawned> {
        StreamId::new(session.to_owned()).ok().map(SubagentSpawned::new)
    }

    /// Returns the end of a turn: the reason, and an error's code and text.
    pub(crate) fn turn(reason: &str, error_code: Option<Box<str>>, detail: Option<Box<str>>) -> Self {
        Self::Turn(TurnCompleted { stop_reason: reason.into(), error_code, detail, overflow: None })
    }
}

/// How well a record was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// Understood. The items hold the record's content.
    Understood,
    /// Known, but not part of the conversation. The record stays in the source and does not become an event.
    Bookkeeping,
    /// Unknown shape. The role and text were taken from wherever they were found.
    Opaque {
        /// Description of the unknown element.
        why: String,
    },
    /// Unreadable (invalid JSON, wrong encoding), kept verbatim.
    Broken {
        /// Description of the error.
        why: String,
    },
}

/// One raw record and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptRecord {
    /// Offset of the record's first byte in the file.
    pub offset: u64,
    /// Length in bytes, without the line end.
    pub len: u64,
    /// Line on which the record begins, counted from 1.
    pub line: u64,
    /// The format's id of the record's session. `None` for the file's own session.
    pub session: Option<Box<str>>,
    /// Session that started this one, if this one is a sub-agent's.
    pub parent_session: Option<Box<str>>,
    /// Place in the session.
    pub place: RecordPlace,
    /// Native id of the record, if the format has one.
    pub id: Option<Box<str>>,
    /// Time at which the record was written.
    pub at: Option<Millis>,
    /// Type of the record in the format's own spelling, for the report of what was read.
    pub kind: Box<str>,
    /// Content in order. Empty for bookkeeping.
    pub items: Vec<RecordItem>,
    /// How well the record was understood.
    pub kept: RecordStatus,
}

/// Position of a raw record in its file: offset and length in bytes, and line number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteSpan {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) line: u64,
}

impl TranscriptRecord {
    /// Creates a record without content.
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

    /// Marks the record as opaque, with a description of its unknown element.
    pub(crate) fn set_opaque(&mut self, why: impl Into<String>) {
        self.kept = RecordStatus::Opaque { why: why.into() };
    }

    /// Adds an item and marks the record as understood.
    pub(crate) fn push(&mut self, item: RecordItem) {
        self.kept = RecordStatus::Understood;
        self.items.push(item);
    }

    /// Adds a message. A text that a harness wrote in the user's place does not count as the user's.
    pub(crate) fn say(&mut self, message: Message) {
        self.push(RecordItem::Message(author::settled(message)));
    }

    /// Inserts the opening of a session before all other items. Only its format is known.
    pub(crate) fn open(&mut self, format: &str) {
        self.items.insert(0, RecordItem::opened(format, None, None));
    }

    /// Returns the base for ids of calls without an id: the record's native id, or else its line.
    pub(crate) fn id_base(&self) -> Box<str> {
        self.id.clone().unwrap_or_else(|| self.line.to_string().into())
    }
}
