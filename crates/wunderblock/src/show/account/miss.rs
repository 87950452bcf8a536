//! Cache misses: tokens that a request shares with the one before it, but that were not read from the cache.

use super::model_rows::ModelRows;
use crate::rules::catalog::{BilledTokens, CacheMode};
use serde::Serialize;
use wunderblock_core::units::Tokens;
use wunderblock_store::UsageRow;

/// Why tokens were not read from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissCause {
    /// The session was idle for longer than the provider keeps a cache.
    Idle,
    /// Another model replied before. Models do not share a cache.
    Model,
    /// The beginning of the request had changed, or the provider had dropped the cache early.
    Changed,
}

impl MissCause {
    /// Returns the cause in words, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Idle => "idle for longer than the cache lives",
            Self::Model => "another model replied before",
            Self::Changed => "the beginning of the request changed",
        }
    }
}

/// Tokens of a request that were not read from the cache although the previous request contained them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheMiss {
    /// Number of tokens.
    pub tokens: Tokens,
    /// Why they were not read from the cache.
    pub cause: MissCause,
}

/// Minimum part of the previous request, in percent, whose loss counts as a miss. Providers cache in steps, and the end
/// of a request, such as an environment note, is often replaced by the next one.
const MIN_PERCENT: u64 = 10;

/// The previous reply of the stream that is being read.
#[derive(Default)]
pub(super) struct MissWatch<'r>(Option<&'r UsageRow>);

impl<'r> MissWatch<'r> {
    /// Compares a reply with the one before it in its stream. Replies must come in order.
    ///
    /// A request that is smaller than the one before it was compacted or belongs to something else, so what it shares
    /// with the previous one is unknown, and no miss is claimed. The same applies to models that do not cache.
    pub(super) fn next(&mut self, models: &mut ModelRows<'r>, row: &'r UsageRow) -> Option<CacheMiss> {
        let usage = &row.usage;
        let prompt = BilledTokens::from(usage).prompt();
        let last = self.0.replace(row)?;
        let shared = BilledTokens::from(&last.usage).prompt();
        let rule = models.of(usage.model.as_deref()?).cache;
        let tokens = shared.saturating_sub(usage.cache_read);
        let is_small = tokens.0.saturating_mul(100) < shared.0.saturating_mul(MIN_PERCENT);
        if last.stream != row.stream || rule.mode == CacheMode::None || prompt < shared || is_small {
            return None;
        }
        // Below the provider's minimum, nothing is cached.
        if shared < rule.minimum {
            return None;
        }
        let idle = row.at.0.saturating_sub(last.at.0);
        let cause = match () {
            () if last.usage.model != usage.model => MissCause::Model,
            () if idle > rule.lifetime.0 => MissCause::Idle,
            () => MissCause::Changed,
        };
        Some(CacheMiss { tokens, cause })
    }
}
