//! Building a request: a value that does no input or output, driven by the holder of the lane.
//!
//! ```text
//! Need::Lane ───► Loaded ─ weigh ─► Weighed ─ shorten ─► Shortened ─ gather ─► Gathered ─ decide ─► Planned ─ show ─► Rendered ─ encode ─► Draft
//! Need::Texts, Known ───────┴───────────────────┘           │  │                  │                  │
//! Need::Search ─────────────────────────────────────────────┘  │                  └► Bench           │
//! Need::Outside (files, state providers) ──────────────────────┘               (for a compaction)    │
//! Need::Shown (texts, tallies) ──────────────────────────────────────────────────────────────────────┘
//! ```
//! [`build`] has the stages from top to bottom, [`stages`] what stands after each, [`need`] how a driver answers. Drivers are
//! the engine ([`crate::drive`]), and a lane in memory ([`crate::memory`]), which a simulation plays.

pub(crate) mod build;
pub(crate) mod compose;
pub(crate) mod decision;
pub(crate) mod draft;
pub(crate) mod job;
pub(crate) mod lane;
pub(crate) mod measured;
mod mention;
pub(crate) mod need;
mod note;
mod offer;
pub(crate) mod options;
pub(crate) mod packer;
pub(crate) mod prefix;
pub(crate) mod provider;
pub(crate) mod recall;
mod shorten;
pub(crate) mod snapshot;
pub(crate) mod sources;
pub(crate) mod stages;
pub(crate) mod target;
mod withhold;
pub(crate) mod work;
