//! A record in an index, and searches in it.

use super::sets::{Asked, Record, Turn};
use crate::program::ChoreResult;
use std::convert::Infallible;
use wunderblock_embed::{Table, Vector, scan};
use wunderblock_index::{
    DocKey, DocScope, Header, PassageHit, PassageOrder, PassageSearch, Profiles, Question, Segment,
    SegmentBuilder, Voice, VoiceRole, passages as cut_passages,
};

/// Passages that are scored even without a word of the question near them, so that 8,192 tokens are filled.
const FILL: usize = 4_096;

/// A record with its index.
pub(super) struct Searched<'r> {
    pub(super) record: &'r Record,
    segment: Segment,
    header: Header,
    order: PassageOrder,
    /// Vectors of the passages that the table knows, and their positions.
    vectors: (Vec<usize>, Vec<u8>),
}

/// How passages are ranked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ranking {
    pub(super) profiles: Profiles,
    /// Whether vectors are compared.
    pub(super) by_meaning: bool,
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
    Voice { role, name, day: turn.day }
}

impl<'r> Searched<'r> {
    pub(super) fn new(record: &'r Record) -> ChoreResult<Self> {
        let mut said = SegmentBuilder::new();
        for (turn, seq) in record.turns.iter().zip(0..) {
            let key = DocKey { stream: turn.session, seq };
            said.add_spoken(&voice(turn), &turn.text)?;
            said.end_document(key)?;
        }
        let segment = said.finish()?;
        let header = Header::decode(&segment.header)?;
        let order = PassageOrder::of(&[&header], &DocScope::everything());
        let vectors = order.passages().filter_map(|(at, key, part)| {
            let turn = record.turns.get(usize::try_from(key.seq).ok()?)?;
            let passage = cut_passages(&voice(turn), &turn.text).nth(part as usize)?;
            Some((at, Table::embedded().vector(passage.text)?))
        });
        let (places, vectors): (_, Vec<_>) = vectors.unzip();
        let vectors = (places, vectors.iter().flat_map(Vector::bytes).copied().collect());
        Ok(Self { record, segment, header, order, vectors })
    }

    /// Returns the similarity of each passage to a question, if the table knows it.
    fn similarity(&self, question: &str) -> Option<Vec<u16>> {
        let question = Table::embedded().vector(question)?;
        let (mut similarity, mut scanned) = (vec![0; self.order.len()], Vec::new());
        scan(&question, &self.vectors.1, &mut scanned);
        for (at, value) in self.vectors.0.iter().zip(scanned) {
            similarity.iter_mut().skip(*at).take(1).for_each(|own| *own = value);
        }
        Some(similarity)
    }

    /// Returns the size of the index, and of the texts.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.segment.bytes(), self.record.turns.iter().map(|turn| turn.text.len()).sum())
    }

    pub(super) fn rank(&self, asked: &Asked, by: &Ranking, limit: usize) -> ChoreResult<Vec<PassageHit>> {
        let question = Question::from_text(&asked.text)?;
        let similarity = by.by_meaning.then(|| self.similarity(&asked.text)).flatten();
        let search = PassageSearch {
            question: &question,
            order: &self.order,
            similarity: similarity.as_deref(),
            profiles: &by.profiles,
            windows: true,
            fill: FILL,
            passing: None,
            limit,
        };
        let block = |number: u32| self.segment.blocks.get(number as usize).map_or(&[][..], Vec::as_slice);
        let fetch = |_: usize, number: u32| Ok::<_, Infallible>(block(number));
        Ok(wunderblock_index::rank(&search, &[&self.header], None, fetch)?)
    }

    /// Returns what the arms find, each turn shown by its best passage.
    pub(super) fn shown(&self, hits: &[PassageHit]) -> Vec<Shown> {
        let show = |hit: &PassageHit| {
            let turn = usize::try_from(hit.doc.seq).ok()?;
            let said = self.record.turns.get(turn)?;
            let passage = cut_passages(&voice(said), &said.text).nth(hit.part as usize)?;
            Some(Shown { turn, chars: passage.text.chars().count() })
        };
        hits.iter().filter_map(show).collect()
    }
}
