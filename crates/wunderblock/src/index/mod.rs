//! The text index: from words to the documents that have them. Data structures only; somebody else stores the bytes.
//!
//! In reading order: [`words`] cuts texts into terms. [`segment`] packs a batch of documents into bytes,
//! [`mod@merge`] joins and prunes those, [`tiers`] says when. [`query`] parses what is asked, [`scope`] says who may see
//! what, [`tail`] reads what is not indexed yet, [`mod@search`] finds, [`score`] ranks.
//!
//! ```text
//! texts ─ words ─► terms ─ SegmentBuilder ─► Segment {header, blocks} ─► storage ◄─ merge, without
//!                                                                          │
//! query ─ words ─► terms ──────────────────────── search ◄── one block per term and segment
//! ```
//! Why not a full-text engine: `docs/design/0003-text-index.md`. The index has no positions (phrases are checked in the
//! text), no floats, no clock; the same documents in the same order give the same bytes.

mod block;
mod checker;
mod frame;
mod header;
pub mod merge;
mod postings;
pub mod query;
mod rank;
mod reader;
mod request;
pub mod scope;
pub mod score;
pub mod search;
pub mod segment;
pub mod tail;
mod terms;
pub mod tiers;
mod varint;
pub mod words;

#[cfg(test)]
mod tests;

pub use frame::SegmentError;
pub use header::{DocKey, Header, MAX_DOCS};
pub use merge::{MergePlan, TermRange, merge, verify, without};
pub use query::{MAX_QUERY_TERMS, ParsedQuery, Phrase, QueryError};
pub use request::{DocHit, IndexSearch, SearchError, SearchOrder};
pub use scope::DocScope;
pub use search::search;
pub use segment::{Segment, SegmentBuilder, SegmentPart};
pub use tail::Tail;
pub use tiers::{MergeJob, SegmentMeta, propose_merges};
