//! Compaction levels of a policy in words, so that a report can name a level that was never reached.

use wunderblock_core::policy::{FractionBase, Policy, TriggerLevel};
use wunderblock_core::stub::grouped;

/// Returns the levels of a policy, soft before hard, for example: `76 % of the budget`, `100 messages`.
pub(super) fn levels(policy: &Policy) -> Vec<String> {
    let of = match policy.trigger.of {
        FractionBase::Budget => "budget",
        FractionBase::Window => "window",
    };
    let mut words: Vec<String> = Vec::new();
    for level in [policy.trigger.soft, policy.trigger.hard] {
        let TriggerLevel { fraction, tokens, free, messages, age_s, cache_s, unsummarised } = level;
        words.extend(fraction.map(|part| format!("{} % of the {of}", f64::from(part.0) / 10.0)));
        words.extend(tokens.map(|tokens| format!("{} tokens", grouped(tokens.0))));
        words.extend(unsummarised.map(|tokens| format!("{} tokens without a summary", grouped(tokens.0))));
        words.extend(free.map(|tokens| format!("{} tokens free", grouped(tokens.0))));
        words.extend(messages.map(|count| format!("{} messages", grouped(count))));
        words.extend(age_s.map(|seconds| format!("{} s after the last", grouped(seconds))));
        words.extend(cache_s.map(|seconds| format!("{} s before the cache ends", grouped(seconds))));
    }
    words.dedup();
    words
}
