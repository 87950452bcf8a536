//! Simulation of a session under many policies.

use super::ingest::{open, stream};
use crate::bench::figure::Figure;
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::Path;
use std::time::Instant;
use wunderblock::policy::Policies;
use wunderblock::{ContextOptions, SimulateOptions};
use wunderblock_core::units::Tokens;

/// Maximum length of a simulated session in events. The time of a simulation grows in proportion to the session's
/// length.
const MOST: usize = 1_000;
/// Number of presets.
const POLICIES: usize = 12;

pub(in crate::bench) fn run(events: usize, path: &Path) -> ChoreResult<Vec<Figure>> {
    if events > MOST {
        return Ok(Vec::new());
    }
    let presets = Policies::embedded();
    let policies = presets.names().filter_map(|name| presets.preset(name)).take(POLICIES).collect();
    let context = ContextOptions { window: Some(Tokens(128_000)), ..ContextOptions::uncompacted() };
    let options = SimulateOptions {
        context,
        policies,
        against: wunderblock::policy::DEFAULT.into(),
        windows: 1,
        recall: false,
        summary_tokens: None,
        summariser: None,
        progress: None,
    };
    let engine = open(path)?;
    let begun = Instant::now();
    block_on(engine.simulate(&[vec![engine.session_by_id(stream()?)]], &options))?;
    let millis = begun.elapsed().as_secs_f64() * 1_000.0;
    let what = "simulate, 12 policies, window of 128k";
    Ok(vec![Figure::millis(events, what, millis).at_most(30_000.0)])
}
