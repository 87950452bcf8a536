//! Errors of the engine: what failed, who can fix it, and whether the same call can succeed later.

use crate::base::edit_error::EditError;
use crate::base::hint::Hint;
use crate::rules::catalog::CatalogError;
use crate::rules::policy::PolicyError;
use std::path::Path;
use wunderblock_core::delegate::brief::BriefRefusal;
use wunderblock_core::id::{EventId, Handle, IdError, LaneId, StreamId};
use wunderblock_core::plan::PlanRefusal;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_index::SegmentError;
use wunderblock_sources::SourceError;
use wunderblock_store::StoreError;
use wunderblock_store::codec::CodecError;
use wunderblock_summary::CallFailure;
use wunderblock_wire::{LiveError, WireError};

/// Who can fix an error, and whether to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call is invalid, or names something that does not exist. The same call fails again.
    Usage,
    /// The engine refuses the call on purpose, for example because of the budget, a conflict, or a lack of
    /// permission. The same call fails again.
    Refused,
    /// Another process is using the ledger, or the session has changed in the meantime. The same call can succeed
    /// later.
    Busy,
    /// Something outside the engine failed, for example a file or the disk, or a record is damaged. The cause must be
    /// fixed before the call can succeed.
    Failed,
    /// The engine has a defect, or the operating system provided no thread or no random bytes.
    Internal,
}

impl ErrorKind {
    /// Returns whether the same call can succeed later, with nothing else changed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Busy)
    }
}

/// Reason why a file is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportReason {
    /// The format is unknown. In a folder, an unknown format is not a failure: the other files are still imported.
    NotATranscript,
    /// The path is not a file, or the file is too large for its format.
    Unsuited,
}

/// Reason why an event from a caller is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unappendable {
    /// The kind is not one of [`Fact::OPEN_KINDS`](wunderblock_core::event::Fact::OPEN_KINDS).
    #[error("only the engine writes events of kind `{0}`")]
    Kind(&'static str),
    /// A `session.opened` event can only be the first event.
    #[error("the session is already open")]
    SecondOpening,
    /// The source is not `live`. Only an import and the engine set other sources.
    #[error("its source must be `live`")]
    Source,
    /// The id begins like one of the engine's own ids, which consist of a kind and a position.
    #[error("ids that begin with `{0}` are reserved for the engine")]
    Id(String),
    /// The title or a tag of a session is invalid.
    #[error("{0}")]
    Description(String),
}

/// Error of an engine. [`Error::hint`] returns what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Error of the ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Error of the text index.
    #[error(transparent)]
    Index(#[from] SegmentError),
    /// Failure of the model that embeds texts.
    #[error("the embedder failed: {0}")]
    Embedder(#[from] CallFailure),
    /// Record that cannot be decoded or encoded.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// Invalid id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// Event that callers may not append.
    #[error("the event `{id}` was refused: {why}")]
    Unappendable {
        /// Id of the event.
        id: EventId,
        /// Reason for the rejection.
        why: Unappendable,
    },
    /// Error of a provider's format.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Line that is neither an event nor a message.
    #[error(transparent)]
    Line(#[from] LiveError),
    /// Invalid policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Invalid catalog of models.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Error while reading the instruction files of a workspace.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The session does not exist.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// Prefix that several sessions match.
    #[error("`{prefix}` matches {} sessions: {}", grouped(matches.len() as u64), named(matches))]
    Ambiguous {
        /// Prefix that was given.
        prefix: String,
        /// Sessions that match it.
        matches: Vec<StreamId>,
    },
    /// Even the smallest possible request exceeds the budget.
    #[error(transparent)]
    OverBudget(#[from] Box<PlanRefusal>),
    /// The encoded request would be invalid, which is a defect of the engine.
    #[error("the request for `{dialect}` would be refused: {first}")]
    Invalid {
        /// Dialect of the request.
        dialect: &'static str,
        /// First violation that the validator found.
        first: String,
    },
    /// Handle that is unknown in this ledger.
    #[error("unknown handle `{0}`")]
    NoHandle(String),
    /// Prefix that several handles match.
    #[error("`{prefix}` matches several handles: {}", listed(matches))]
    AmbiguousHandle {
        /// Prefix that was given.
        prefix: String,
        /// Handles that match the prefix, or only the first few of them.
        matches: Vec<Handle>,
    },
    /// No line of a text matches the pattern.
    #[error("no line matches `{0}`")]
    NoMatch(String),
    /// Invalid range or address.
    #[error("{0}")]
    Address(String),
    /// Address of a different kind of content from the kind that the call reads.
    #[error("{why}")]
    OtherAddress {
        /// Description of the content that the address names.
        why: String,
        /// How to read that content.
        hint: Hint,
    },
    /// No request is recorded at or before the given position.
    #[error("there is no recorded request at or before position {0}")]
    NoRequest(Seq),
    /// The session does not yet hold anything that a request could show.
    #[error("session `{0}` has no messages yet that a request could show")]
    Silence(StreamId),
    /// A replayed request differs from the recorded one.
    #[error("the request recorded at position {at} cannot be rebuilt: {why}")]
    Replay {
        /// Position at which the request is recorded.
        at: Seq,
        /// Difference between the rebuilt and the recorded request.
        why: String,
    },
    /// The content was erased.
    #[error("erased: {0}")]
    Erased(String),
    /// Pattern that is not a valid regular expression.
    #[error("the pattern is not a regular expression: {0}")]
    Pattern(String),
    /// Invalid note.
    #[error("{0}")]
    Note(String),
    /// Name that no memory, and no proposal of one, has in the scope.
    #[error("no memory in scope has the name `{0}`")]
    NoMemory(String),
    /// Invalid claim.
    #[error("{0}")]
    Claim(String),
    /// Change of a memory that its state does not allow.
    #[error("{0}")]
    Memory(String),
    /// Set of questions that cannot be used.
    #[error("{0}")]
    Eval(String),
    /// Command that cannot be run.
    #[error("{0}")]
    Command(String),
    /// Invalid search query.
    #[error("{0}")]
    Query(String),
    /// File that cannot be imported.
    #[error("{path}: {why}")]
    Import {
        /// Path of the file.
        path: String,
        /// Category of the reason.
        reason: ImportReason,
        /// Reason in words.
        why: String,
    },
    /// Session whose import was interrupted.
    #[error(
        "the import of `{path}` into session `{session}` is not finished: only the beginning of the file is stored"
    )]
    Unfinished {
        /// Session that holds the beginning of the file.
        session: StreamId,
        /// Path of the file.
        path: String,
    },
    /// An import writes what is to be erased.
    #[error("`{path}` is being imported, and nothing was erased from it or its sessions")]
    Importing {
        /// Path of the file.
        path: String,
    },
    /// Invalid setting.
    #[error("{0}")]
    Config(String),
    /// Task that cannot be handed to a delegate.
    #[error(transparent)]
    Brief(#[from] BriefRefusal),
    /// The operating system refused a resource, or the engine has a defect.
    #[error("internal error: {0}")]
    Internal(String),
    /// File that cannot be read or written.
    #[error("{path}: {why}")]
    File {
        /// Path of the file.
        path: String,
        /// Error message from the operating system.
        why: String,
    },
    /// Nothing was indexed from a path, or from below it.
    #[error("no document was indexed from `{0}`; give the path as it was indexed, or a folder above it")]
    NoDocument(String),
    /// The requested output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// The lane has no compaction that can be undone.
    #[error("lane `{0}` has no compaction that can be undone")]
    NothingToUndo(LaneId),
    /// Summary or range that cannot be edited by hand.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Another process changed the lane while it was being swept.
    #[error("another process changed lane `{0}` during the sweep; summaries published before are kept")]
    Overtaken(LaneId),
    /// Other processes kept changing what the work was made from.
    #[error("other processes kept changing the session while the work was in progress")]
    Restless,
}

impl Error {
    /// Returns whether the same call can succeed later, with nothing else changed: [`ErrorKind::is_retryable`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable()
    }

    /// Returns who can fix the error, and whether to retry.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => store_kind(error),
            Self::OverBudget(_)
            | Self::Unappendable { .. }
            | Self::Memory(_)
            | Self::Edit(EditError::NoRoom { .. }) => ErrorKind::Refused,
            Self::Restless | Self::Overtaken(_) | Self::Importing { .. } => ErrorKind::Busy,
            Self::Id(_)
            | Self::Line(_)
            | Self::Policy(_)
            | Self::Catalog(_)
            | Self::Source(_)
            | Self::NoSession(_)
            | Self::Ambiguous { .. }
            | Self::NoHandle(_)
            | Self::Address(_)
            | Self::AmbiguousHandle { .. }
            | Self::OtherAddress { .. }
            | Self::NoRequest(_)
            | Self::Silence(_)
            | Self::Pattern(_)
            | Self::Query(_)
            | Self::Note(_)
            | Self::NoMemory(_)
            | Self::Claim(_)
            | Self::Eval(_)
            | Self::Edit(_)
            | Self::Brief(_)
            | Self::Config(_) => ErrorKind::Usage,
            Self::Internal(_) | Self::Invalid { .. } => ErrorKind::Internal,
            _ => ErrorKind::Failed,
        }
    }

    /// Returns what to do next, if anything can be done.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Self::NoSession(_) => Hint::ListSessions,
            Self::Ambiguous { .. } | Self::AmbiguousHandle { .. } => Hint::LengthenId,
            Self::OverBudget(refusal) => {
                Hint::RaiseWindow { limit: refusal.limit.tokens, needed: refusal.needed.tokens }
            }
            Self::Unappendable { why: Unappendable::Kind(_), .. } => Hint::AppendOpenKinds,
            Self::Unappendable { why: Unappendable::SecondOpening, .. } => Hint::OmitOpening,
            Self::Unappendable { why: Unappendable::Id(_), .. } => Hint::ChooseOwnId,
            Self::File { .. } => Hint::CheckPath,
            Self::NoHandle(_) => Hint::CheckLedger,
            Self::OtherAddress { hint, .. } => hint.clone(),
            Self::Index(_) => Hint::RebuildIndex,
            Self::NoRequest(_) => Hint::BuildRequest,
            Self::Silence(_) => Hint::AppendMessages,
            Self::Pattern(_) => Hint::MatchLiterally,
            Self::Edit(EditError::NoRoom { .. }) => Hint::RewriteInstead,
            Self::NothingToUndo(_) | Self::Edit(_) => Hint::ListSummaries,
            Self::Overtaken(_) => Hint::GoOn,
            Self::Unfinished { path, .. } => Hint::FinishImport { path: path.clone() },
            Self::Importing { .. } => Hint::WaitForImport,
            Self::Restless => Hint::Retry,
            Self::Store(error) => return store_hint(error),
            Self::Codec(CodecError::TooNew(_)) => Hint::UseNewerProgram,
            _ => return None,
        })
    }
}

fn store_kind(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Conflict { .. }
        | StoreError::StreamExists(_)
        | StoreError::Exists(_)
        | StoreError::Linked { .. } => ErrorKind::Refused,
        StoreError::Locked
        | StoreError::Held { .. }
        | StoreError::HeadMoved { .. }
        | StoreError::EpochMoved { .. } => ErrorKind::Busy,
        _ => ErrorKind::Failed,
    }
}

fn store_hint(error: &StoreError) -> Option<Hint> {
    Some(match error {
        StoreError::Conflict { .. } => Hint::ChooseNewId,
        StoreError::Held { .. } => Hint::WaitForImport,
        StoreError::Locked => Hint::WaitForWriter,
        StoreError::ReadOnly => Hint::CheckPermissions,
        StoreError::Full => Hint::FreeSpace,
        StoreError::Linked { .. } => Hint::GiveOneName,
        StoreError::TooNew { .. } => Hint::UseNewerProgram,
        StoreError::TooOld { .. } => Hint::UpgradeLedger,
        StoreError::Damaged(_) => Hint::InspectLedger,
        StoreError::Foreign(_) => Hint::ChooseLedger,
        StoreError::Replaced => Hint::LookBesideLedger,
        StoreError::Unscrubbed(_) => Hint::FinishErasure,
        StoreError::Unrestored { .. } => Hint::RestoreNewest,
        StoreError::Exists(_) => Hint::ChooseFreePath,
        StoreError::Missing(_) => Hint::CreateLedger,
        _ => return None,
    })
}

/// Maximum number of sessions that an error about an ambiguous prefix lists in full.
const LISTED: usize = 12;

fn listed(handles: &[Handle]) -> String {
    handles.iter().map(Handle::to_string).collect::<Vec<_>>().join(", ")
}

/// Lists all sessions if there are only a few; otherwise, lists the first three and the number of remaining ones.
fn named(sessions: &[StreamId]) -> String {
    let shown = if sessions.len() > LISTED { 3 } else { sessions.len() };
    let names = sessions.iter().take(shown).map(StreamId::as_str).collect::<Vec<_>>().join(", ");
    match sessions.len() - shown {
        0 => names,
        more => format!("{names} and {} more", grouped(more as u64)),
    }
}

pub(crate) fn file_error(path: &Path, error: &std::io::Error) -> Error {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        _ => error.to_string(),
    };
    Error::File { path: path.display().to_string(), why }
}

pub(crate) fn write_error(error: &std::io::Error) -> Error {
    Error::Output(std::io::Error::new(error.kind(), error.to_string()))
}

/// Returns the error for a source that cannot be imported.
pub(crate) fn refused(path: &Path, why: &str) -> Error {
    Error::Import { path: path.display().to_string(), reason: ImportReason::Unsuited, why: why.to_owned() }
}
