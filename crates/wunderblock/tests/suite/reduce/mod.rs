//! Large output of tools that enters requests shorter: once, the same for good, and never without a way back.
//!
//! What the reducers make of a text is theirs to test. Here it only matters that they make something of these.

mod alone;
mod crowd;
mod scene;
mod story;
mod told;
