//! Recorded facts from which gain is computed, and its sums.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{EVERY, QueryBatch};
use crate::ledger::reading::stored::decode_event;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Tokens};
use wunderblock_store::{Answer, Query, StoredEvent, StreamFilter, StreamInfo, StreamKind, StreamNo};

/// Sum over texts that were shown: outputs of commands and requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Gain {
    /// Number of shown texts with recorded figures.
    pub texts: u64,
    /// Number of shown texts without recorded figures. They are part of no other figure.
    pub unknown: u64,
    /// Tokens that the texts would have taken within the window, had they stood verbatim.
    pub verbatim: Tokens,
    /// Tokens that were sent.
    pub sent: Tokens,
    /// Number of times that an original was read after all.
    pub reads: u64,
    /// Tokens of what was read.
    pub read: Tokens,
    /// Tokens that models took in and wrote for summaries, including rejected ones.
    pub summaries: Tokens,
    /// Number of texts that cost more than they saved.
    pub losses: u64,
    /// Tokens that these texts lost.
    pub lost: Tokens,
}

impl Gain {
    /// Returns what a shown text gained.
    #[must_use]
    pub fn of_text(verbatim: Tokens, sent: Tokens) -> Self {
        Self { texts: 1, verbatim, sent, ..Self::default() }.with_loss()
    }

    /// Returns the gain in tokens: verbatim − sent − read − summaries. Negative for a loss.
    #[must_use]
    pub fn saved(&self) -> i64 {
        let signed = |tokens: Tokens| i64::try_from(tokens.0).unwrap_or(i64::MAX);
        let spent = self.sent + self.read + self.summaries;
        signed(self.verbatim).saturating_sub(signed(spent))
    }

    /// Adds reads of a text's original.
    pub(super) fn with_reads(self, reads: u64, read: Tokens) -> Self {
        Self { reads: self.reads + reads, read: self.read + read, ..self }.with_loss()
    }

    /// Sets the loss of a single text.
    fn with_loss(self) -> Self {
        let lost = self.saved().min(0).unsigned_abs();
        Self { losses: u64::from(lost > 0), lost: Tokens(lost), ..self }
    }
}

impl AddAssign<&Self> for Gain {
    fn add_assign(&mut self, other: &Self) {
        self.texts += other.texts;
        self.unknown += other.unknown;
        self.verbatim += other.verbatim;
        self.sent += other.sent;
        self.reads += other.reads;
        self.read += other.read;
        self.summaries += other.summaries;
        self.losses += other.losses;
        self.lost += other.lost;
    }
}

/// A shown text with its gain.
pub(super) struct ShownText {
    pub(super) session: StreamInfo,
    pub(super) at: Millis,
    pub(super) command: String,
    pub(super) gain: Gain,
}

/// Recorded facts from which gain is computed, and the sessions.
pub(super) struct LedgerFacts {
    pub(super) streams: HashMap<StreamNo, StreamInfo>,
    pub(super) numbers: HashMap<StreamId, StreamNo>,
    pub(super) events: Vec<RecordedFact>,
}

pub(super) struct RecordedFact {
    pub(super) stream: StreamNo,
    pub(super) at: Millis,
    /// Whether the event records how an output was shown.
    pub(super) is_output: bool,
    pub(super) fact: Fact,
}

/// Kinds of the events that hold the figures.
const KINDS: [&str; 4] = ["content.reduced", "context.built", "session.compacted", "compaction.rejected"];

impl LedgerFacts {
    pub(super) async fn read(engine: &Engine, since: Option<Millis>) -> Result<Self, Error> {
        let tenant = engine.tenant.no;
        let mut batch = QueryBatch::default();
        let all = Query::Streams { tenant, filter: StreamFilter::default(), limit: EVERY };
        let streams = batch.ask(all, Answer::streams);
        let events = batch.ask(
            Query::OfKinds { tenant, of: StreamKind::Session, kinds: KINDS.to_vec(), since },
            Answer::events,
        );
        let mut answers = engine.ask_all(batch).await?;
        let (streams, rows) = (answers.take(streams)?, answers.take(events)?);
        let numbers = streams.iter().map(|info| (info.id.clone(), info.no)).collect();
        let streams: HashMap<_, _> = streams.into_iter().map(|info| (info.no, info)).collect();
        let fact = |row: &StoredEvent| {
            let Some(info) = streams.get(&row.stream) else { return Ok(None) };
            let fact = decode_event(engine, &info.id, row)?.fact;
            let is_output = crate::ledger::recording::output::is_shown_form(&row.id);
            let recorded = |fact| RecordedFact { stream: row.stream, at: row.at, is_output, fact };
            Ok::<_, Error>(fact.map(recorded))
        };
        let events = rows.iter().filter_map(|row| fact(row).transpose()).collect::<Result<_, _>>()?;
        Ok(Self { streams, numbers, events })
    }

    /// Returns the session for which a stream keeps outputs, or else the stream itself.
    pub(super) fn session(&self, stream: StreamNo) -> Option<&StreamInfo> {
        let own = self.streams.get(&stream)?;
        let parent = own.parent.as_ref().filter(|_| crate::ledger::recording::output::keeps_outputs(&own.id));
        let parent = parent.and_then(|id| self.numbers.get(id)).and_then(|no| self.streams.get(no));
        Some(parent.unwrap_or(own))
    }
}
