//! What can go wrong, whose move it is, and whether the same call can succeed later.

use crate::catalog::CatalogError;
use crate::edit_error::EditError;
use crate::hint::Hint;
use crate::index::SegmentError;
use crate::policy::PolicyError;
use crate::sources::SourceError;
use crate::store::StoreError;
use crate::store::codec::CodecError;
use std::path::Path;
use wunderblock_core::id::{EventId, Handle, IdError, LaneId, StreamId};
use wunderblock_core::plan::PlanRefusal;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_wire::{LiveError, WireError};

/// Who can do something about an error, and whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller asked for something that cannot be. The same call fails again.
    Usage,
    /// We refuse on purpose: over budget, conflict, denied. The same call fails again.
    Refused,
    /// Somebody else is at work on the ledger, or it moved on meanwhile. The same call can succeed later.
    Busy,
    /// Something outside failed: a file, the disk, a damaged record. It has to be put right first.
    Failed,
    /// A defect of ours, or the operating system gave no thread or no random bytes.
    Internal,
}

impl ErrorKind {
    /// Whether the same call can succeed later, with nothing else changed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Busy)
    }
}

/// Why a file is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportReason {
    /// It is in no known format: in a folder that is no failure.
    NotATranscript,
    /// It is not a file, or too large for its format.
    Unsuited,
}

/// Why an event is not taken from a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unappendable {
    /// See [`Fact::OPEN_KINDS`](wunderblock_core::event::Fact::OPEN_KINDS).
    #[error("only the engine writes events of kind `{0}`")]
    Kind(&'static str),
    /// `session.opened` can only be the first event.
    #[error("the session is open already")]
    SecondOpening,
    /// The other origins are given by an import and by the engine.
    #[error("its source is not `live`")]
    Source,
    /// The engine names its own events by kind and position.
    #[error("ids that begin with `{0}` are the engine's own")]
    Id(String),
}

/// An engine's error. [`Error::hint`] says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text index.
    #[error(transparent)]
    Index(#[from] SegmentError),
    /// A record.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// An id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// An event that callers may not append.
    #[error("the event `{id}` was refused: {why}")]
    Unappendable {
        /// Its id.
        id: EventId,
        /// Why.
        why: Unappendable,
    },
    /// A provider's format.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A line that is neither an event nor a message.
    #[error(transparent)]
    Line(#[from] LiveError),
    /// A policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A catalog of models.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A workspace whose instruction files are to be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No such session.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// A prefix fits several sessions.
    #[error("`{prefix}` fits {} sessions: {}", grouped(matches.len() as u64), named(matches))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// What it fits.
        matches: Vec<StreamId>,
    },
    /// Even the least does not fit.
    #[error(transparent)]
    OverBudget(#[from] Box<PlanRefusal>),
    /// The encoded request would be invalid; a defect of ours.
    #[error("the request for `{dialect}` would be refused: {first}")]
    Invalid {
        /// The dialect.
        dialect: &'static str,
        /// The first violation.
        first: String,
    },
    /// A handle that names nothing here.
    #[error("nothing here has the handle {0}")]
    NoHandle(String),
    /// The beginning of several handles.
    #[error("`{prefix}` fits several handles: {}", listed(matches))]
    AmbiguousHandle {
        /// What was given.
        prefix: String,
        /// What it fits, or the first of that.
        matches: Vec<Handle>,
    },
    /// No line of a text has what was looked for.
    #[error("no line has `{0}`")]
    NoMatch(String),
    /// A range or address that cannot be.
    #[error("{0}")]
    Address(String),
    /// An address that names something else than was asked for.
    #[error("{why}")]
    OtherAddress {
        /// What it names.
        why: String,
        /// How that is read.
        hint: Hint,
    },
    /// There is no recorded request at a position.
    #[error("there is no recorded request at or before position {0}")]
    NoRequest(Seq),
    /// There is nothing yet that a request could hold.
    #[error("nothing has been said in `{0}` so far that a request could hold")]
    Silence(StreamId),
    /// A replayed request is not what was recorded.
    #[error("the request recorded at position {at} cannot be rebuilt: {why}")]
    Replay {
        /// Where it is recorded.
        at: Seq,
        /// What differs.
        why: String,
    },
    /// What was read was erased.
    #[error("erased: {0}")]
    Erased(String),
    /// A pattern that is no regular expression.
    #[error("the pattern is not a regular expression: {0}")]
    Pattern(String),
    /// A query that cannot be searched for.
    #[error("{0}")]
    Query(String),
    /// A file that cannot be imported.
    #[error("{path}: {why}")]
    Import {
        /// The file.
        path: String,
        /// What kind of reason.
        reason: ImportReason,
        /// Why.
        why: String,
    },
    /// A session whose import was cut short.
    #[error(
        "the import of `{path}` into session `{session}` is not finished: what is kept is only its beginning"
    )]
    Unfinished {
        /// The session.
        session: StreamId,
        /// The file.
        path: String,
    },
    /// A setting.
    #[error("{0}")]
    Config(String),
    /// The system refused a resource, or a defect of ours.
    #[error("internal error: {0}")]
    Internal(String),
    /// A file that cannot be read or written.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// What was asked for cannot be handed over.
    #[error("the output cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// There is no compaction that could be undone.
    #[error("there is no compaction of lane `{0}` that could be undone")]
    NothingToUndo(LaneId),
    /// A summary or a range that a person named is left as it is.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Somebody else changed the lane while it was swept.
    #[error("somebody else changed lane `{0}` while it was being swept; what was published stays")]
    Overtaken(LaneId),
    /// The session kept growing while a request was being built.
    #[error("the session kept growing while its request was being built")]
    Restless,
}

impl Error {
    /// Whether the same call can succeed later, with nothing put right: [`ErrorKind::is_retryable`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable()
    }

    /// Who can do something about it, and whether to try again.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => store_kind(error),
            Self::OverBudget(_) | Self::Unappendable { .. } | Self::Edit(EditError::NoRoom { .. }) => {
                ErrorKind::Refused
            }
            Self::Restless | Self::Overtaken(_) => ErrorKind::Busy,
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
            | Self::Edit(_)
            | Self::Config(_) => ErrorKind::Usage,
            Self::Internal(_) | Self::Invalid { .. } => ErrorKind::Internal,
            _ => ErrorKind::Failed,
        }
    }

    /// What to do next, where there is something to be done.
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
            Self::Restless => Hint::Retry,
            Self::Store(error) => return store_hint(error),
            Self::Codec(CodecError::TooNew(_)) => Hint::UseNewerProgram,
            _ => return None,
        })
    }
}

fn store_kind(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Conflict { .. } | StoreError::StreamExists(_) | StoreError::Exists(_) => {
            ErrorKind::Refused
        }
        StoreError::Locked | StoreError::Held { .. } | StoreError::HeadMoved { .. } => ErrorKind::Busy,
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

/// Sessions that an ambiguous prefix lists.
const LISTED: usize = 12;

fn listed(handles: &[Handle]) -> String {
    handles.iter().map(Handle::to_string).collect::<Vec<_>>().join(", ")
}

/// All of a few sessions; of many the first three, and how many more there are.
fn named(sessions: &[StreamId]) -> String {
    let shown = if sessions.len() > LISTED { 3 } else { sessions.len() };
    let names = sessions.iter().take(shown).map(StreamId::as_str).collect::<Vec<_>>().join(", ");
    match sessions.len() - shown {
        0 => names,
        more => format!("{names} and {} more", grouped(more as u64)),
    }
}

pub(crate) fn file_error(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), why: error.to_string() }
}

pub(crate) fn write_error(error: &std::io::Error) -> Error {
    Error::Output(std::io::Error::new(error.kind(), error.to_string()))
}
