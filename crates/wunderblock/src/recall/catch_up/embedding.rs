//! Vectors of passages: by the table, or by the embedder of the engine.

use super::pack::packed_vectors;
use crate::base::error::Error;
use crate::rules::embedder::{Embedder, TEXTS_MAX};
use wunderblock_embed::{DIMENSIONS, Table};
use wunderblock_index::{EventRange, PassageKey, VectorBuilder, VectorHeader};
use wunderblock_store::{PackedSegment, SegmentReach};

/// A segment of vectors in the making.
pub(super) struct Embedding<'e> {
    /// The embedder; `None` for the table.
    by: Option<&'e Embedder>,
    table: Table,
    /// Redacted passages that wait for a call of the embedder.
    waiting: Vec<(PassageKey, String)>,
    vectors: VectorBuilder,
}

impl<'e> Embedding<'e> {
    /// Begins a segment. An embedder whose number of dimensions is not known is asked for it.
    pub(super) fn begin(by: Option<&'e Embedder>) -> Result<Self, Error> {
        let table = Table::embedded();
        let vectors = match by {
            Some(embedder) => VectorBuilder::new(embedder.model(), embedder.dimensions()?),
            None => VectorBuilder::new(table.model(), DIMENSIONS),
        };
        Ok(Self { by, table, waiting: Vec::new(), vectors })
    }

    /// Adds a redacted passage.
    pub(super) fn add(&mut self, key: PassageKey, text: &str) -> Result<(), Error> {
        if self.by.is_some() {
            self.waiting.push((key, text.to_owned()));
            return if self.waiting.len() < TEXTS_MAX { Ok(()) } else { self.embed() };
        }
        match self.table.vector(text) {
            Some(vector) => Ok(self.vectors.add(key, vector.bytes())?),
            None => Ok(()),
        }
    }

    /// Embeds the passages that wait.
    fn embed(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<&str> = waiting.iter().map(|(_, text)| text.as_str()).collect();
        let Some(embedder) = self.by.filter(|_| !texts.is_empty()) else { return Ok(()) };
        let made = embedder.vectors(&texts, &mut |_| true)?;
        for ((key, _), vector) in waiting.iter().zip(made) {
            self.vectors.add(*key, vector.bytes())?;
        }
        Ok(())
    }

    /// Returns the segment, which covers ranges of events.
    pub(super) fn finish(mut self, reaches: &[SegmentReach]) -> Result<PackedSegment, Error> {
        self.embed()?;
        for SegmentReach { stream, after, through } in reaches {
            self.vectors.cover(EventRange { stream: stream.0, after: after.0, through: through.0 });
        }
        packed_vectors(self.vectors.finish()?)
    }
}

/// Returns whether vectors are those that an embedder makes now; `None` asks for those of the table.
pub(crate) fn is_made_by(header: &VectorHeader, by: Option<&Embedder>) -> bool {
    let (model, dimensions) = match by {
        Some(embedder) => (embedder.model(), embedder.known_dimensions()),
        None => (Table::embedded().model(), Some(DIMENSIONS)),
    };
    header.model() == model && dimensions.is_none_or(|own| own == header.dimensions())
}
