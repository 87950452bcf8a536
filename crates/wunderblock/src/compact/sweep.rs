//! Sweeping: what lies before a lane's view becomes summaries, from the oldest end, a chunk at a time.
//!
//! A chunk is read, summarised and let go; every few chunks what there is is published. So a sweep holds no more than a chunk
//! and the summaries that stand, is linear in what it reads, and goes on where it was interrupted.
