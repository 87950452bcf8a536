//! Size of the chunks that a sweep summarises.

use wunderblock_core::policy::{Action, Policy};
use wunderblock_core::units::Tokens;

/// Number of tokens in a chunk if the policy specifies none: lossless-claw's `leafChunkTokens`.
const CHUNK: Tokens = Tokens(20_000);

/// Returns the number of tokens in a chunk under a policy, for a window.
pub(in crate::compaction::compact) fn chunk(policy: &Policy, window: Tokens) -> Tokens {
    if let Some(ahead) = policy.chunk_ahead(window) {
        return ahead;
    }
    let named = policy.steps.iter().find_map(|act| match act {
        Action::Summarise { chunk, .. } => chunk.get(),
        _ => None,
    });
    named.unwrap_or(CHUNK)
}
