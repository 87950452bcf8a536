//! Events that affect measurements by providers.

use wunderblock_core::event::{Event, EventSource, Fact, TurnCompleted, UsageMeasured};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::usage::Calibration;

/// Event, other than an entry, that affects measurements.
#[derive(Clone, Debug)]
pub(crate) struct MeasurementNote {
    pub(in crate::request) seq: Seq,
    pub(in crate::request) what: What,
}

#[derive(Clone, Debug)]
pub(in crate::request) enum What {
    Measured(Box<UsageMeasured>, Live),
    Built { model: Box<str>, estimate: Option<Tokens>, ours: bool },
    CutShort,
    Blur,
    Reset,
}

/// Whether usage was reported live rather than imported.
type Live = bool;

impl MeasurementNote {
    /// Returns how an event affects the measurements of one lane.
    pub(crate) fn of(event: &Event, lane: &LaneId) -> Option<Self> {
        let what = match &event.fact {
            // The content was erased, so its effect is unknown.
            None => What::Blur,
            Some(Fact::UsageMeasured(usage)) => {
                What::Measured(Box::new(usage.clone()), event.source == EventSource::Live)
            }
            Some(Fact::ContextBuilt(built)) => What::Built {
                model: built.model.clone(),
                estimate: uncorrected(built.total_tokens, built.calibration),
                ours: built.lane == *lane,
            },
            Some(Fact::TurnCompleted(turn)) if is_cut_short(turn) => What::CutShort,
            Some(Fact::SessionCompacted(compacted))
                if compacted.lane.as_ref().is_none_or(|of| of == lane) =>
            {
                What::Reset
            }
            Some(Fact::ViewTrimmed(trimmed)) if trimmed.lane == *lane => What::Reset,
            Some(Fact::PreambleChanged(changed)) if changed.lane == *lane => What::Reset,
            Some(Fact::ContentErased(_)) => What::Reset,
            _ => return None,
        };
        Some(Self { seq: event.seq, what })
    }
}

/// Returns whether a turn was cut short. A turn that was refused for lack of room does not count as cut short,
/// because no call was made.
fn is_cut_short(turn: &TurnCompleted) -> bool {
    matches!(&*turn.stop_reason, "aborted" | "error")
        && turn.error_code.as_deref() != Some("context_overflow")
}

/// Returns the uncorrected estimate of a request. `None` if the estimate was corrected downwards, because a downward
/// correction stops at the o200k count and cannot be reversed.
fn uncorrected(total: Tokens, calibration: Option<Calibration>) -> Option<Tokens> {
    match calibration.map_or(1_000, |calibration| u64::from(calibration.per_mille)) {
        per_mille @ 1_000.. => Some(Tokens(total.0.saturating_mul(1_000) / per_mille)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_upwards_is_taken_back_and_one_downwards_is_not() {
        let calibration = |per_mille| Some(Calibration { per_mille, replies: 8 });
        assert_eq!(uncorrected(Tokens(900), None), Some(Tokens(900)));
        assert_eq!(uncorrected(Tokens(1_500), calibration(1_250)), Some(Tokens(1_200)));
        assert_eq!(uncorrected(Tokens(900), calibration(999)), None);
    }
}
