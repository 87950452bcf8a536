//! Builds requests. A build is a value that does no input or output; the holder of the lane drives it.
//!
//! ```text
//! load     Need::Lane                               Loaded
//! weigh    Need::Texts                              Weighed
//! shorten  Need::Texts, Need::Known                 Shortened
//! gather   Need::Texts, Need::Search, Need::Outside Gathered
//! decide   Need::Texts                              Planned, or Bench for a compaction
//! show     Need::Shown, then named texts            Rendered
//! encode                                            Draft
//! ```
//! [`named`] finds what the newest turn names. [`build`] contains the stages from top to bottom, [`stages`] their results, and [`need`] the interface to drivers.
//! Drivers are the engine ([`crate::compaction::drive`]) and a lane in memory ([`crate::lanes::in_memory`]), which simulations use.

pub(crate) mod build;
pub(crate) mod decision;
pub(crate) mod desk;
pub(crate) mod input;
pub(crate) mod measured;
pub(crate) mod named;
pub(crate) mod need;
pub(crate) mod packer;
pub(crate) mod stages;
pub(crate) mod steps;
