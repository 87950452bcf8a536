//! What delegates are handed, and what is known of them.

mod handoff;
