//! What can go wrong, in words for whoever can mend it.

use crate::door::Unappendable;
use crate::store::StoreError;
use crate::store::codec::CodecError;
use wunderblock_core::id::{EventId, Handle, IdError, LaneId, StreamId};
use wunderblock_core::plan::Refusal;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_wire::WireError;

/// Whose move it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The caller asked for something that cannot be.
    Usage,
    /// We refuse on purpose: over budget, conflict, denied.
    Refused,
    /// Something failed.
    Failed,
}

/// Why a file is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportReason {
    /// It is in no known format: in a folder that is no failure.
    NotATranscript,
    /// It is not a file, or too large for its format.
    Unsuited,
}

/// An engine's error. [`Error::hint`] says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
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
    OverBudget(#[from] Box<Refusal>),
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
    NoHandle(Handle),
    /// A range or address that cannot be.
    #[error("{0}")]
    Address(String),
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
    /// Somebody else changed the lane while it was swept.
    #[error("somebody else changed lane `{0}` while it was being swept; what was published stays")]
    Overtaken(LaneId),
    /// The session kept growing while a request was being built.
    #[error("the session kept growing while its request was being built")]
    Restless,
}

impl Error {
    /// Whose move it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::OverBudget(_)
            | Self::Unappendable { .. }
            | Self::Store(
                StoreError::Conflict { .. } | StoreError::StreamExists(_) | StoreError::Exists(_),
            ) => ErrorKind::Refused,
            Self::Id(_)
            | Self::Wire(WireError::Unsupported { .. })
            | Self::NoSession(_)
            | Self::Ambiguous { .. }
            | Self::NoHandle(_)
            | Self::Address(_)
            | Self::NoRequest(_)
            | Self::Silence(_)
            | Self::Pattern(_)
            | Self::Query(_)
            | Self::Config(_) => ErrorKind::Usage,
            _ => ErrorKind::Failed,
        }
    }

    /// What to do next, where there is something to be done.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoSession(_) => {
                "`wunderblock sessions` lists what there is; `wunderblock import PATH` adds a transcript"
            }
            Self::Ambiguous { .. } => "give more of the id",
            Self::OverBudget(_) => {
                "use a larger --window, a smaller --reserve, fewer tools and instructions, or unpin what is pinned; the parts are listed above"
            }
            Self::Unappendable { why: Unappendable::Kind(_), .. } => {
                "callers may append session.opened, session.closed, task.started, task.finished, message.appended, content.pinned, usage.measured, turn.completed and subagent.spawned; `wunderblock import` reads a whole export"
            }
            Self::Unappendable { why: Unappendable::SecondOpening, .. } => {
                "append to a session id that does not exist yet, or leave the opening out"
            }
            Self::Unappendable { why: Unappendable::Id(_), .. } => "give the event an id of its own",
            Self::File { .. } => "check the path and who may read or write there",
            Self::NoHandle(_) => "handles belong to one ledger and tenant; check --db and --tenant",
            Self::NoRequest(_) => "`wunderblock context SESSION` builds and records a request",
            Self::Silence(_) => {
                "`wunderblock append SESSION` adds messages; with --at, give a later position"
            }
            Self::Pattern(_) => "without --regex the pattern is taken literally",
            Self::NothingToUndo(_) => {
                "`wunderblock describe SESSION` lists the summaries; --lane names another lane"
            }
            Self::Overtaken(_) => "say it again: it goes on where it was",
            Self::Unfinished { .. } => {
                "`wunderblock import PATH` finishes it, or waits for the one under way"
            }
            Self::Restless => "another process is appending; try again",
            Self::Store(error) => return store_hint(error),
            Self::Codec(CodecError::TooNew(_)) => "use the newer program that wrote this ledger",
            _ => return None,
        })
    }
}

/// Sessions that an ambiguous prefix lists.
const LISTED: usize = 12;

/// All of a few sessions; of many the first three, and how many more there are.
fn named(sessions: &[StreamId]) -> String {
    let shown = if sessions.len() > LISTED { 3 } else { sessions.len() };
    let names = sessions.iter().take(shown).map(StreamId::as_str).collect::<Vec<_>>().join(", ");
    match sessions.len() - shown {
        0 => names,
        more => format!("{names} and {} more", grouped(more as u64)),
    }
}

fn store_hint(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::Conflict { .. } => "an id names one event for good: give the new event an id of its own",
        StoreError::Held { .. } => "wait for the other import, or end it; then import again",
        StoreError::Locked => "another process is writing; try again when it is done",
        StoreError::ReadOnly => "check the permissions of the file and its folder",
        StoreError::Full => "free some space and try again: nothing that was acknowledged is lost",
        StoreError::TooNew { .. } => "use the newer program that wrote it",
        StoreError::TooOld { .. } => {
            "upgrade it once: say any command as a user who may write the file and its folder, or copy the file to a folder of your own and give the copy with --db"
        }
        StoreError::Damaged(_) => {
            "`wunderblock doctor` says what can be saved; `wunderblock restore` brings a backup back"
        }
        StoreError::Foreign(_) => {
            "give the path of a Wunderblock database with --db, or a path that does not exist yet"
        }
        StoreError::Replaced => {
            "what was acknowledged before is in the ledger that the restore kept beside it"
        }
        StoreError::Unscrubbed(_) => {
            "end the other program: the next command that writes finishes it, or `wunderblock doctor --repair`"
        }
        StoreError::Unrestored { .. } => {
            "`wunderblock restore FILE` with the highest number in its name brings back the ledger that was there last"
        }
        StoreError::Exists(_) => {
            "give a path where nothing is; `restore --replace` keeps the ledger that is there beside it"
        }
        StoreError::Missing(_) => "`wunderblock import PATH` creates it; --db names another one",
        _ => return None,
    })
}
