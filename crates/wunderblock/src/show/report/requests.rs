//! Reports about recorded requests that were rebuilt, compared or searched.

use super::visibility::EntryReport;
use crate::compaction::drive::replay::{Difference, Replayed};
use crate::lanes::explain::found::Found;
use crate::lanes::explain::placement::Placement;
use serde::Serialize;

/// A request that was rebuilt from its record.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Id of the session.
    pub session: String,
    /// Position at which the request is recorded.
    pub seq: u64,
    /// Time of the build in milliseconds since 1970.
    pub at: i64,
    /// Id of the lane.
    pub lane: String,
    /// Name of the model.
    pub model: String,
    /// Dialect of the request.
    pub dialect: &'static str,
    /// Size of the request in bytes.
    pub bytes: usize,
    /// BLAKE3 of the request, in hexadecimal.
    pub digest: String,
    /// Whether some of the request's content has been erased since it was recorded.
    pub erased: bool,
    /// Whether the rebuilt bytes have been proved to equal the recorded ones.
    pub proved: bool,
}

/// First difference between two recorded requests.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DifferenceReport {
    /// Position at which the first request is recorded.
    pub first: u64,
    /// Position at which the second request is recorded.
    pub second: u64,
    /// Whether the two requests have the same bytes.
    pub same: bool,
    /// Whether the second request only adds to the first.
    pub append_only: bool,
    /// Number of leading bytes that both requests share.
    pub common_bytes: u64,
    /// Size of the first request in bytes.
    pub first_bytes: u64,
    /// Size of the second request in bytes.
    pub second_bytes: u64,
    /// Text around the difference in the first request.
    pub first_around: String,
    /// Text around the difference in the second request.
    pub second_around: String,
    /// Events between the two requests that explain the difference.
    pub causes: Vec<CauseReport>,
}

/// An event that explains why two requests differ.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// Position of the event.
    pub seq: u64,
    /// Explanation of the difference.
    pub why: String,
}

/// Place of a text in a request, or the reason why it is not in the request.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PlacementReport {
    /// Position of the entry. Null if no event of the conversation contains the text.
    pub seq: Option<u64>,
    /// Name of the source, or a short description of the entry.
    pub what: String,
    /// Form of the entry in the request.
    pub treatment: &'static str,
    /// Section that contains the text or would contain it.
    pub section: Option<&'static str>,
    /// Tokens of the entry.
    pub tokens: Option<u64>,
    /// Reason why the text is or is not in the request.
    pub reason: String,
    /// Whether the request shows the text itself.
    pub shown: bool,
    /// Advice on how to read the text or bring it into the request.
    pub gives: Option<String>,
    /// Handle for reading the text.
    pub handle: Option<String>,
    /// Line that contains the text, or the part of that line around the text.
    pub text: String,
    /// Entry of the text. This field is set only for the best places.
    pub entry: Option<EntryReport>,
}

/// Result of searching for a text or a handle.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FoundReport {
    /// Text or handle that was searched for, in the spelling that was found.
    pub sought: String,
    /// Number of places that were found.
    pub count: usize,
    /// Number of the found places that the request shows.
    pub in_request: usize,
    /// Whether there may be more places than were found.
    pub more: bool,
    /// Places, with the five best first.
    pub places: Vec<PlacementReport>,
}

impl ReplayReport {
    /// Creates the report of a rebuilt request.
    #[must_use]
    pub fn new(session: &str, replayed: &Replayed) -> Self {
        Self {
            session: session.to_owned(),
            seq: replayed.seq.0,
            at: replayed.at.0,
            lane: replayed.lane.to_string(),
            model: replayed.model.clone(),
            dialect: replayed.dialect.name(),
            bytes: replayed.body.len(),
            digest: replayed.digest.clone(),
            erased: replayed.erased,
            // A rebuild that produces bytes other than the recorded ones is an error, so only an erasure leaves a
            // request unproved.
            proved: !replayed.erased,
        }
    }
}

impl DifferenceReport {
    /// Creates the report of a comparison.
    #[must_use]
    pub fn new(first: &Replayed, second: &Replayed, difference: &Difference) -> Self {
        let cause = |(seq, why): &(wunderblock_core::units::Seq, String)| CauseReport {
            seq: seq.0,
            why: why.clone(),
        };
        Self {
            first: first.seq.0,
            second: second.seq.0,
            same: first.body == second.body,
            append_only: difference.append_only,
            common_bytes: difference.common,
            first_bytes: difference.lengths.0,
            second_bytes: difference.lengths.1,
            first_around: difference.around.0.clone(),
            second_around: difference.around.1.clone(),
            causes: difference.causes.iter().map(cause).collect(),
        }
    }
}

impl PlacementReport {
    /// Creates the report of a place.
    #[must_use]
    pub fn new(placement: &Placement) -> Self {
        Self {
            seq: placement.seq.map(|seq| seq.0),
            what: placement.what.clone(),
            treatment: placement.treatment.label(),
            section: placement.section.map(|section| section.name()),
            tokens: placement.tokens.map(|tokens| tokens.0),
            reason: placement.why.clone(),
            shown: placement.shown,
            gives: placement.advice.as_ref().map(ToString::to_string),
            handle: placement.handle.map(|handle| handle.to_string()),
            text: placement.line.clone(),
            entry: None,
        }
    }
}

impl FoundReport {
    /// Creates the report of a search.
    #[must_use]
    pub fn new(sought: &str, found: &Found) -> Self {
        let best = found.best.iter().filter_map(|(index, entry)| {
            let place = PlacementReport::new(found.places.get(*index)?);
            Some(PlacementReport { entry: entry.as_ref().map(EntryReport::new), ..place })
        });
        let is_best = |index: usize| found.best.iter().any(|(best, _)| *best == index);
        let rest = found.places.iter().enumerate().filter(|(index, _)| !is_best(*index));
        Self {
            sought: found.spelling.clone().unwrap_or_else(|| sought.to_owned()),
            count: found.places.len(),
            in_request: found.in_request(),
            more: found.more,
            places: best.chain(rest.map(|(_, place)| PlacementReport::new(place))).collect(),
        }
    }
}
