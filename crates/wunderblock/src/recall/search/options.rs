//! What a search is asked for.

use crate::base::deadline::Deadline;
use crate::recall::catch_up::SEARCHED;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::{EventFilter, StreamFilter, StreamKind};

/// Where a search looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchIn {
    /// Sessions and documents.
    #[default]
    Everything,
    /// Only sessions.
    Sessions,
    /// Only documents that a person added.
    Documents,
}

impl SearchIn {
    /// Returns the kinds of the streams that are searched.
    pub(crate) const fn kinds(self) -> &'static [StreamKind] {
        match self {
            Self::Everything => &SEARCHED,
            Self::Sessions => &[StreamKind::Session],
            Self::Documents => &[StreamKind::Document],
        }
    }
}

/// Order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Best hits first.
    Ranked,
    /// Newest first.
    Newest,
}

/// Options of a search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Whether to search sessions, documents, or both, if `session` is `None`.
    pub within: SearchIn,
    /// Session to search, including the events before its fork. `None` searches all sessions of the tenant.
    pub session: Option<StreamId>,
    /// Session to leave out, if `session` is `None`: with its branches and sub-agents, and the sessions that it continues.
    pub except: Option<StreamId>,
    /// Position of a session before which its own events are searched, together with those that it shares with the
    /// sessions that it continues. Its later events are left out.
    pub before: Option<(StreamId, Seq)>,
    /// Order of the hits: best first or newest first.
    pub order: SearchOrder,
    /// Maximum number of hits.
    pub limit: usize,
    /// Maximum number of tokens (o200k) of the texts of all hits together. A hit that does not fit is passed over, and
    /// later ones may fit.
    pub tokens: Option<Tokens>,
    /// Whether the query is plain text, in which there are no operators and every word is optional.
    pub free_text: bool,
    /// Whether to return no hits if more messages wait for the index than a search scans quickly.
    pub brief: bool,
    /// Sessions to search, if `session` is `None`. Documents must pass the filter, too.
    pub sessions: StreamFilter,
    /// Filter for the messages.
    pub events: EventFilter,
    /// Whether to leave out texts that are kept as bytes: outputs of commands that are too long for a message, and
    /// records that are too long to be parsed. A brief search leaves them out, too.
    pub messages_only: bool,
    /// Whether to compare the meaning of texts, too. A brief search, one for a single word and one for the newest never
    /// do.
    pub meaning: bool,
    /// Time at which the search is given up.
    pub deadline: Deadline,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            within: SearchIn::default(),
            session: None,
            except: None,
            before: None,
            order: SearchOrder::Ranked,
            limit: 10,
            tokens: None,
            free_text: false,
            brief: false,
            sessions: StreamFilter::default(),
            events: EventFilter::default(),
            messages_only: false,
            meaning: true,
            deadline: Deadline::default(),
        }
    }
}
