//! Text index: finds the documents that contain given words. The index consists only of data structures; callers
//! store the bytes.
//!
//! Modules in reading order: [`words`] cuts texts into terms. [`segment`] packs a batch of documents into bytes.
//! [`mod@merge`] joins segments and removes documents, and [`tiers`] decides when to join. [`query`] parses queries,
//! [`scope`] restricts which documents a searcher may see, and [`tail`] reads documents that are not indexed yet.
//! [`mod@search`] finds the newest documents, and [`ranking`] the best passages by [`score`]. [`fragments`] finds documents that may contain a string.
//!
//! ```text
//! texts ─ words ─► terms ─ SegmentBuilder ─► Segment {header, blocks} ─► storage ◄─ merge, without
//!                                                                          │
//! query ─ words ─► terms ──────────────────────── search ◄── one block per term and segment
//! ```
//! `docs/design/0003-text-index.md` explains why no full-text engine is used. The index stores no positions, so
//! phrases are checked in the text. The index uses no floats and no clock: the same documents in the same order
//! produce the same bytes.
pub mod passages;
pub mod ranking;
mod searching;
mod storing;
pub mod tiers;
pub mod words;

#[cfg(test)]
mod tests;

pub use searching::{fragments, query, scope, score, search, tail};
pub use storing::{merge, segment, vectors};

pub use passages::cut::cut;
pub use passages::traits::Traits;
pub use passages::voice::{Day, Voice, VoiceRole};
pub use passages::{Passage, passages};
pub use ranking::order::PassageOrder;
pub use ranking::question::Question;
pub use ranking::rank::{PassageHit, PassageSearch, RELATED, rank};
pub use ranking::weights::{ARMS, Arm, ArmValues, Profiles, Weights};
pub use searching::fragments::Fragments;
pub use searching::query::{
    MAX_QUERY_BYTES, MAX_QUERY_TERMS, MAX_QUERY_WORDS, ParsedQuery, Phrase, QueryError,
};
pub use searching::request::{DocHit, IndexSearch, SearchError};
pub use searching::scope::DocScope;
pub use searching::score::HitStrength;
pub use searching::search::search;
pub use searching::tail::{Tail, TailWriter, TermCounter, TermCounts};
pub use storing::docs::DocKey;
pub use storing::frame::SegmentError;
pub use storing::header::{Header, MAX_DOCS};
pub use storing::merge::{MergePlan, TermRange, merge, verify, without};
pub use storing::segment::{Segment, SegmentBuilder, SegmentPart};
pub use storing::vectors::{
    EventRange, PassageKey, VectorBuilder, VectorHeader, join_vectors, part_of_vectors,
};
pub use tiers::{MergeJob, SegmentMeta, propose_merges};
