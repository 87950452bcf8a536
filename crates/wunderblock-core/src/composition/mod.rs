//! From the offer of the sources to a preamble and a tail: the room of each section, and what is cut to fit.

pub mod allocate;
pub mod compose;
mod truncate;
