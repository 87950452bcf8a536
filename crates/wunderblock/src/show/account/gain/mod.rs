//! What was gained by showing less than the whole: tokens of shown texts had they stood verbatim, within the window,
//! against the tokens that were sent. `docs/design/0018-gain.md` defines the terms.
//!
//! ```text
//! content.reduced ─ outputs ──┐
//! context.built ─ requests ───┼─► ShownText ─ group ─► Gain, summed
//! calls that read ─ reads ────┤
//! session.compacted ─ requests┘
//! ```
//! Only recorded figures are used. A text whose figures are not recorded counts as unknown.

mod facts;
mod outputs;
mod reads;
mod requests;

pub use facts::Gain;
pub(super) use reads::tokens_of;

use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use facts::LedgerFacts;
use std::collections::BTreeMap;
use wunderblock_core::units::Millis;
use wunderblock_store::{StreamFilter, StreamInfo};

/// One shown text, as [`gain`] groups it.
#[derive(Clone, Copy, Debug)]
pub struct GainedText<'g> {
    /// Session to which the text was shown.
    pub session: &'g StreamInfo,
    /// Time at which the text was shown.
    pub at: Millis,
    /// Program whose output was shown, such as `cargo test`; our own command for other texts: `context`, `compact`,
    /// `reduce` or `read`. `unknown` if the call was erased.
    pub command: &'g str,
}

/// Sums the gain in the sessions that pass a filter, in groups: `group` names the group of a text, or leaves the text
/// out. The filter's time limits the texts. An output belongs to the session for which its command ran.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn gain<'a>(
    engine: &'a Engine,
    filter: StreamFilter,
    group: &'a (dyn Fn(GainedText<'_>) -> Option<String> + Sync),
) -> BoxFuture<'a, BTreeMap<String, Gain>> {
    Box::pin(async move {
        let since = filter.since;
        let ledger = LedgerFacts::read(engine, since).await?;
        let mut outputs = outputs::shown(engine, &ledger).await?;
        let mut texts = requests::shown(&ledger);
        texts.append(&mut reads::attributed(engine, &ledger, since, &mut outputs).await?);
        texts.extend(outputs.into_iter().map(|output| output.text));
        // A session may have older messages than the texts, so its time is not a condition.
        let filter = StreamFilter { since: None, ..filter };
        let mut sums: BTreeMap<String, Gain> = BTreeMap::new();
        for text in texts.iter().filter(|text| filter.accepts(&text.session)) {
            let shown = GainedText { session: &text.session, at: text.at, command: &text.command };
            let Some(name) = group(shown) else { continue };
            *sums.entry(name).or_default() += &text.gain;
        }
        Ok(sums)
    })
}

#[cfg(test)]
mod tests;
