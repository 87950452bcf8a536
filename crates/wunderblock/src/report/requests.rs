//! What is said of recorded requests: rebuilt, compared, searched.

use super::visibility::EntryReport;
use crate::drive::replay::{Difference, Replayed};
use crate::found::Found;
use crate::placement::Placement;
use serde::Serialize;

/// A request rebuilt from its record.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The session.
    pub session: String,
    /// Where it is recorded.
    pub seq: u64,
    /// When it was built, in milliseconds since 1970.
    pub at: i64,
    /// The lane.
    pub lane: String,
    /// The model.
    pub model: String,
    /// The format.
    pub dialect: &'static str,
    /// Its bytes.
    pub bytes: usize,
    /// Their BLAKE3, hexadecimal.
    pub digest: String,
    /// Whether content of it has been erased since.
    pub erased: bool,
    /// Whether the bytes are those that were recorded.
    pub proved: bool,
}

/// Where two recorded requests part.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DifferenceReport {
    /// Where the first is recorded.
    pub first: u64,
    /// Where the second is.
    pub second: u64,
    /// Whether they are the same bytes.
    pub same: bool,
    /// Whether the second only adds to the first.
    pub append_only: bool,
    /// Bytes they have in common at the beginning.
    pub common_bytes: u64,
    /// Bytes of the first.
    pub first_bytes: u64,
    /// Bytes of the second.
    pub second_bytes: u64,
    /// What stands around the place in the first.
    pub first_around: String,
    /// … in the second.
    pub second_around: String,
    /// What was recorded between them that explains it.
    pub causes: Vec<CauseReport>,
}

/// Something that explains why two requests differ.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// Where it is recorded.
    pub seq: u64,
    /// What.
    pub why: String,
}

/// Where a text is in a request, or why it is not there.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PlacementReport {
    /// Its position; none for what no event of the conversation holds.
    pub seq: Option<u64>,
    /// The source, or the entry in a few words.
    pub what: String,
    /// The form it has.
    pub treatment: &'static str,
    /// Where it is, or would be.
    pub section: Option<&'static str>,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// Why it is there, or not.
    pub reason: String,
    /// Whether the request shows the text that was looked for.
    pub shown: bool,
    /// What brings it there, or gives it back.
    pub gives: Option<String>,
    /// How to read it.
    pub handle: Option<String>,
    /// The line that has it, or as much of it as stands around it.
    pub text: String,
    /// The entry, of the best places.
    pub entry: Option<EntryReport>,
}

/// What was found of a text or a handle.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FoundReport {
    /// What was looked for.
    pub sought: String,
    /// In how many places it is.
    pub count: usize,
    /// How many of them the request shows.
    pub in_request: usize,
    /// Whether there may be more places.
    pub more: bool,
    /// The places, the best five first.
    pub places: Vec<PlacementReport>,
}

impl ReplayReport {
    /// The report of a rebuilt request.
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
            proved: !replayed.erased,
        }
    }
}

impl DifferenceReport {
    /// The report of a comparison.
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
    /// The report of a place.
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
    /// The report of what was found.
    #[must_use]
    pub fn new(sought: &str, found: &Found) -> Self {
        let best = found.best.iter().filter_map(|(index, entry)| {
            let place = PlacementReport::new(found.places.get(*index)?);
            Some(PlacementReport { entry: entry.as_ref().map(EntryReport::new), ..place })
        });
        let is_best = |index: usize| found.best.iter().any(|(best, _)| *best == index);
        let rest = found.places.iter().enumerate().filter(|(index, _)| !is_best(*index));
        Self {
            sought: sought.to_owned(),
            count: found.places.len(),
            in_request: found.in_request(),
            more: found.more,
            places: best.chain(rest.map(|(_, place)| PlacementReport::new(place))).collect(),
        }
    }
}
