//! What a document must still show when parts of it are left out.

pub(super) mod fact_needs;
pub(super) mod facts;
pub(super) mod item_worth;
pub(super) mod query_hits;
