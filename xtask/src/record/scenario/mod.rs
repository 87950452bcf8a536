//! The session as a list of steps: what is said and what is called. What the tools answer is not here.

mod grouping;
mod library;
mod orientation;
mod pairing;
mod since;
mod step;
mod tail_bug;
mod wire;

pub(super) use step::{Status, Step, Tool};

/// The whole session.
pub(super) fn all() -> Vec<Step> {
    let parts = [
        orientation::STEPS,
        since::STEPS,
        tail_bug::STEPS,
        pairing::STEPS,
        library::STEPS,
        grouping::STEPS,
        wire::STEPS,
    ];
    parts.concat()
}
