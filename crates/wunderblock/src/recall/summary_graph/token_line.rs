//! Positions of a session on the line of tokens.
//!
//! If the ledger has counted the range, its running sums give the places, and any place is found with a few queries,
//! however long the session is. Otherwise (after a fresh import, or in a read-only ledger), the range is counted
//! here.

use super::grid::HEAD;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_texts};
use crate::rules::tokens::Vocabulary;
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, StoredEvent, TallyRow};

/// Number of positions per query when searching for a place. Each query reduces the range to about a sixteenth of its
/// length.
const PROBES: u64 = 15;
/// Maximum number of events counted at a time.
const COUNTED: u64 = 1_024;
/// Maximum size of the texts counted at a time.
const COUNTED_TEXT: Bytes = Bytes(16 << 20);

/// The token line of a range of positions.
pub(super) struct TokenLine<'e> {
    engine: &'e Engine,
    stream: StreamId,
    from: Seq,
    to: Seq,
    /// The ledger's running sum before the range.
    base: u64,
    /// Length of the line in tokens.
    pub(super) length: u64,
    /// End of each message on the line, if the range was counted here.
    counted: Option<Vec<(Seq, u64)>>,
}

fn along(tally: &TallyRow) -> Option<u64> {
    tally.tokens.map(|tokens| tokens.0.saturating_add(tally.messages.saturating_mul(HEAD)))
}

/// Returns all texts of a message in order. Media data is included, but counts as zero tokens.
pub(super) fn leaves(message: &Message) -> Vec<(&Part, &Body)> {
    message.parts.iter().flat_map(Part::leaves).collect()
}

impl<'e> TokenLine<'e> {
    pub(super) async fn of(engine: &'e Engine, stream: &StreamId, from: Seq, to: Seq) -> Result<Self, Error> {
        let (tenant, seqs) = (engine.tenant.no, vec![from.prev(), to]);
        let query = Query::Tallies { tenant, stream: stream.clone(), seqs };
        let tallies = engine.ask(query, Answer::tallies).await?;
        let mut line = Self { engine, stream: stream.clone(), from, to, base: 0, length: 0, counted: None };
        let ends = tallies.first().and_then(along).zip(tallies.get(1).and_then(along));
        if let Some((before, after)) = ends {
            (line.base, line.length) = (before, after.saturating_sub(before));
        } else {
            let counted = line.count().await?;
            line.length = counted.last().map_or(0, |(_, end)| *end);
            line.counted = Some(counted);
        }
        Ok(line)
    }

    /// Returns the place on the line after each of the given positions.
    pub(super) async fn ends(&self, seqs: Vec<Seq>) -> Result<Vec<u64>, Error> {
        if let Some(counted) = &self.counted {
            let end = |seq: Seq| {
                let after = counted.partition_point(|(at, _)| *at <= seq);
                after.checked_sub(1).and_then(|last| counted.get(last)).map_or(0, |(_, end)| *end)
            };
            return Ok(seqs.into_iter().map(end).collect());
        }
        let query = Query::Tallies { tenant: self.engine.tenant.no, stream: self.stream.clone(), seqs };
        let tallies = self.engine.ask(query, Answer::tallies).await?;
        Ok(tallies.iter().map(|tally| along(tally).unwrap_or_default().saturating_sub(self.base)).collect())
    }

    /// Returns the first position whose end is beyond a place on the line.
    pub(super) async fn first_past(&self, place: u64) -> Result<Seq, Error> {
        if place == 0 {
            return Ok(self.from);
        }
        let (mut low, mut high) = (self.from, self.to);
        while low < high {
            let step = ((high.0 - low.0) / (PROBES + 1)).max(1);
            let probes = (1..=PROBES).map(|nth| Seq(low.0 + nth * step - 1)).filter(|seq| *seq < high);
            let probes: Vec<Seq> = probes.collect();
            let ends = self.ends(probes.clone()).await?;
            let before = ends.partition_point(|end| *end <= place);
            if let Some(past) = probes.get(before) {
                high = *past;
            }
            if let Some(last) = before.checked_sub(1).and_then(|last| probes.get(last)) {
                low = last.next();
            }
        }
        Ok(low)
    }

    /// Returns the events from a given position onwards, in order.
    pub(super) async fn events(&self, from: Seq, limit: u64, text: Bytes) -> Result<Vec<StoredEvent>, Error> {
        let query = Query::Events {
            tenant: self.engine.tenant.no,
            stream: self.stream.clone(),
            from,
            to: self.to,
            order: ReadOrder::Ascending,
            limit,
            text,
            counts: true,
            filter: EventFilter::default(),
        };
        self.engine.ask(query, Answer::events).await
    }

    async fn count(&self) -> Result<Vec<(Seq, u64)>, Error> {
        let (mut ends, mut sum, mut from) = (Vec::new(), 0_u64, self.from);
        while from <= self.to {
            let rows = self.events(from, COUNTED, COUNTED_TEXT).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            let rows = rows.into_iter().filter(|row| row.kind == "message.appended");
            let mut said = Vec::new();
            for row in rows {
                let fact = decode_event(self.engine, &self.stream, &row)?.fact;
                said.push((row, fact));
            }
            let counts = counts_of(self.engine, &said).await?;
            for (row, fact) in &said {
                let own = tokens_of(fact.as_ref(), &counts);
                sum = sum.saturating_add(own.iter().sum::<u64>()).saturating_add(HEAD);
                ends.push((row.seq, sum));
            }
            from = last.next();
        }
        Ok(ends)
    }
}

/// Returns the number of tokens in each text of an event, in the order of [`leaves`].
pub(super) fn tokens_of(fact: Option<&Fact>, counts: &HashMap<Handle, u64>) -> Vec<u64> {
    let Some(Fact::MessageAppended(said)) = fact else { return Vec::new() };
    let own = |(part, body): (&Part, &Body)| match body {
        _ if part.is_data() => 0,
        Body::Inline(text) => u64::from(Vocabulary::O200k.count(text)),
        Body::Blob { blob, .. } => counts.get(blob).copied().unwrap_or_default(),
    };
    leaves(&said.message).into_iter().map(own).collect()
}

/// Returns the token counts of events' bodies. Bodies without a stored count are counted here, and the result is not
/// stored.
pub(super) async fn counts_of(
    engine: &Engine,
    events: &[(StoredEvent, Option<Fact>)],
) -> Result<HashMap<Handle, u64>, Error> {
    let known = events.iter().flat_map(|(row, _)| &row.counts);
    let mut counts: HashMap<Handle, u64> =
        known.map(|(handle, count)| (*handle, u64::from(count.o200k))).collect();
    let mut open = Vec::new();
    for (_, fact) in events {
        let Some(Fact::MessageAppended(said)) = fact else { continue };
        let counted = leaves(&said.message).into_iter().filter(|(part, _)| !part.is_data());
        open.extend(
            counted.filter_map(|(_, body)| body.handle()).filter(|handle| !counts.contains_key(handle)),
        );
    }
    let texts = read_texts(engine, open.iter().copied()).await?;
    for handle in open {
        if let Some(text) = texts.text(handle) {
            counts.entry(handle).or_insert_with(|| u64::from(Vocabulary::O200k.count(text)));
        }
    }
    Ok(counts)
}
