//! A record in an index, and searches in it.

use super::sets::{Asked, Record, Turn};
use crate::program::ChoreResult;
use std::convert::Infallible;
use wunderblock_index::{
    DocKey, DocScope, Header, IndexSearch, ParsedQuery, PassageHit, PassageOrder, PassageSearch, Profiles,
    Question, SearchOrder, Segment, SegmentBuilder, Voice, VoiceRole, passages,
};

/// Passages that are scored even without a word of the question near them, so that 8,192 tokens are filled.
const FILL: usize = 4_096;

/// A record with its index of passages and, to compare with, one of whole messages.
pub(super) struct Searched<'r> {
    pub(super) record: &'r Record,
    passages: (Segment, Header),
    messages: (Segment, Header),
    order: PassageOrder,
}

/// A hit: the turn, and the number of characters that show it.
pub(super) struct Shown {
    pub(super) turn: usize,
    pub(super) chars: usize,
}

fn voice(turn: &Turn) -> Voice<'_> {
    let (role, name) = match turn.speaker.as_str() {
        "user" => (VoiceRole::User, None),
        "assistant" => (VoiceRole::Assistant, None),
        "document" => (VoiceRole::Other, None),
        name => (VoiceRole::Other, Some(name)),
    };
    Voice { role, name, day: turn.day, is_summary: false }
}

impl<'r> Searched<'r> {
    pub(super) fn new(record: &'r Record) -> ChoreResult<Self> {
        let (mut said, mut whole) = (SegmentBuilder::new(), SegmentBuilder::new());
        for (turn, seq) in record.turns.iter().zip(0..) {
            let key = DocKey { stream: turn.session, seq };
            said.add_spoken(&voice(turn), &turn.text)?;
            said.end_document(key)?;
            whole.add(key, [turn.text.as_str()])?;
        }
        let read = |segment: Segment| -> ChoreResult<(Segment, Header)> {
            let header = Header::decode(&segment.header)?;
            Ok((segment, header))
        };
        let (passages, messages) = (read(said.finish()?)?, read(whole.finish()?)?);
        let order = PassageOrder::of(&[&passages.1], &DocScope::everything());
        Ok(Self { record, passages, messages, order })
    }

    /// Returns the size of the index, and of the texts.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.passages.0.bytes(), self.record.turns.iter().map(|turn| turn.text.len()).sum())
    }

    pub(super) fn rank(
        &self,
        asked: &Asked,
        profiles: &Profiles,
        limit: usize,
    ) -> ChoreResult<Vec<PassageHit>> {
        let question = Question::from_text(&asked.text)?;
        let (order, windows, fill) = (&self.order, true, FILL);
        let search =
            PassageSearch { question: &question, order, similarity: None, profiles, windows, fill, limit };
        let fetch = |_: usize, number: u32| Ok::<_, Infallible>(block(&self.passages.0, number));
        Ok(wunderblock_index::rank(&search, &[&self.passages.1], None, fetch, |_| Ok(true))?)
    }

    /// Returns what the arms find, each turn shown by its best passage.
    pub(super) fn shown(&self, hits: &[PassageHit]) -> Vec<Shown> {
        let show = |hit: &PassageHit| {
            let turn = usize::try_from(hit.doc.seq).ok()?;
            let said = self.record.turns.get(turn)?;
            let passage = passages(&voice(said), &said.text).nth(hit.part as usize)?;
            Some(Shown { turn, chars: passage.text.chars().count() })
        };
        hits.iter().filter_map(show).collect()
    }

    /// Returns what a search for whole messages finds.
    pub(super) fn plain(&self, asked: &Asked, limit: usize) -> ChoreResult<Vec<Shown>> {
        let (query, scope) = (ParsedQuery::from_text(&asked.text)?, DocScope::everything());
        let search = IndexSearch { query: &query, scope: &scope, order: SearchOrder::Ranked, limit };
        let fetch = |_: usize, number: u32| Ok::<_, Infallible>(block(&self.messages.0, number));
        let hits = wunderblock_index::search(&search, &[&self.messages.1], None, fetch, |_, _| Ok(true))?;
        let show =
            |turn: usize| Some(Shown { turn, chars: self.record.turns.get(turn)?.text.chars().count() });
        Ok(hits.iter().filter_map(|hit| show(usize::try_from(hit.doc.seq).ok()?)).collect())
    }
}

fn block(segment: &Segment, number: u32) -> &[u8] {
    segment.blocks.get(number as usize).map_or(&[], Vec::as_slice)
}
