//! Decides whether a lane is due for compaction.

use super::guard::is_open;
use crate::form::stub::grouped;
use crate::lane::pair::{Arrangement, ExchangeKind};
use crate::lane::view::View;
use crate::policy::{Boundary, FractionBase, Permille, Policy, TriggerLevel};
use crate::record::compaction::SessionCompacted;
use crate::units::{Millis, Tokens};
use std::fmt;

/// Measurements of a lane before a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneMeasurement {
    /// Tokens in the request, by our count or by the provider's measurement, whichever is larger.
    pub tokens: Tokens,
    /// Maximum number of tokens in the request.
    pub limit: Tokens,
    /// The model's window, in tokens.
    pub window: Tokens,
    /// Whether the request does not fit.
    pub overflows: bool,
    /// Whether the provider rejected the lane's last request as too long, whatever our count is.
    pub refused: bool,
    /// Number of messages shown.
    pub messages: u64,
    /// Time since the last compaction, or since the session began.
    pub age: Millis,
    /// Time until the provider's cache of the lane's last request expires; `None` if nothing is cached.
    pub cache_left: Option<Millis>,
    /// Whether the lane has not built a request yet.
    pub first: bool,
    /// Whether the provider's cache of the lane's last request is lost: it expired, or belongs to another model.
    pub cache_lost: bool,
    /// Tokens of the conversation outside summaries.
    pub unsummarised: Tokens,
    /// Tokens of `unsummarised` that lie after the summaries made ahead.
    pub unprepared: Tokens,
    /// Tokens in the request after the last compaction; `None` if there was no compaction.
    pub after_last: Option<Tokens>,
    /// State of the conversation.
    pub stands: ConversationState,
}

/// State of a conversation, from a pending call to the end of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConversationState {
    /// A call waits for its result.
    #[default]
    InCall,
    /// All calls have their results, and the model continues.
    InTurn,
    /// A turn has ended, or the next has just begun.
    BetweenTurns,
    /// A task has ended.
    BetweenTasks,
}

/// Urgency of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A chunk is full, and its summary is made before the level is reached. No request changes yet.
    Ahead,
    /// The policy's soft level fired, at a boundary.
    Soft,
    /// The policy's hard level fired.
    Hard,
    /// The request does not fit, or the provider rejected the last request as too long.
    Overflow,
    /// The lane's first request does not fit, or reached a level.
    Cold,
    /// A person asked for the compaction.
    Manual,
}

impl Urgency {
    /// Returns the word used in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ahead => SessionCompacted::AHEAD,
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Overflow => "overflow",
            Self::Cold => "cold",
            Self::Manual => "manual",
        }
    }
}

/// A compaction that is due, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Urgency of the compaction.
    pub level: Urgency,
    /// Cause, in words.
    pub why: String,
}

/// Returns the compaction that a policy requires now; `None` if the lane is not due. A policy that is off never
/// requires a compaction.
#[must_use]
pub fn due(policy: &Policy, measure: &LaneMeasurement) -> Option<Due> {
    let Some(found) = live(policy, measure) else { return ahead(policy, measure) };
    let is_cold = measure.first && !measure.refused && policy.trigger.cold.get().is_some();
    Some(if is_cold { Due { level: Urgency::Cold, ..found } } else { found })
}

fn live(policy: &Policy, measure: &LaneMeasurement) -> Option<Due> {
    if policy.is_off() {
        return None;
    }
    if measure.overflows || measure.refused {
        let why = if measure.refused {
            format!(
                "the provider found the last request too long; by our count it has {} tokens",
                grouped(measure.tokens.0)
            )
        } else {
            format!("not all of it fits into {} tokens", grouped(measure.limit.0))
        };
        return Some(Due { level: Urgency::Overflow, why });
    }
    let trigger = &policy.trigger;
    if let Some(why) = fires(&trigger.hard, measure, trigger.of).filter(|_| has_regrown(policy, measure)) {
        return Some(Due { level: Urgency::Hard, why });
    }
    let why = fires(&trigger.soft, measure, trigger.of).or_else(|| idle(policy, measure))?;
    let at_boundary = match trigger.boundary {
        Boundary::Exchange => measure.stands >= ConversationState::InTurn,
        Boundary::Turn => measure.stands >= ConversationState::BetweenTurns,
        Boundary::Task => measure.stands >= ConversationState::BetweenTasks,
    };
    let cool = measure.after_last.is_none() || measure.age.0 >= seconds(policy.limits.cooldown_s);
    (at_boundary && cool && has_regrown(policy, measure)).then_some(Due { level: Urgency::Soft, why })
}

/// Returns the reason if the request reaches the idle level and the provider's cache is lost. When the cache is lost,
/// shortening the request costs nothing.
fn idle(policy: &Policy, measure: &LaneMeasurement) -> Option<String> {
    let trigger = &policy.trigger;
    let level = trigger.idle.get().filter(|_| measure.cache_lost)?.of(whole(trigger.of, measure));
    (measure.tokens >= level)
        .then(|| format!("the provider's cache is lost, and {} tokens are {} or more", measure.tokens, level))
}

/// Returns the compaction that summarises a full chunk before the level is reached.
fn ahead(policy: &Policy, measure: &LaneMeasurement) -> Option<Due> {
    let chunk = policy.chunk_ahead(measure.window)?;
    let tail = policy.protect.tail(measure.window);
    (measure.unprepared >= chunk + tail).then(|| Due {
        level: Urgency::Ahead,
        why: format!("{} tokens wait for a summary", measure.unprepared.saturating_sub(tail)),
    })
}

/// Returns whether the context has grown enough since the last compaction for a level to fire again.
fn has_regrown(policy: &Policy, measure: &LaneMeasurement) -> bool {
    let min = policy.trigger.regrow.of(whole(policy.trigger.of, measure));
    measure.after_last.is_none_or(|after| measure.tokens > after + min || min == Tokens::ZERO)
}

/// Returns the number of tokens that a policy's fractions refer to.
#[must_use]
pub fn whole(of: FractionBase, measure: &LaneMeasurement) -> Tokens {
    match of {
        FractionBase::Budget => measure.limit,
        FractionBase::Window => measure.window,
    }
}

/// Returns the number of tokens that a level's fraction refers to. Products that express levels as fractions of the
/// window keep the room for the reply inside the window; here, the reply and a margin are subtracted first. A level
/// above the remaining room is therefore taken as a fraction of the limit. Without this rule, 0.92 of the window
/// could not be reached in any window up to 272,000 tokens.
fn reachable(fraction: Permille, of: FractionBase, measure: &LaneMeasurement) -> Tokens {
    let whole = whole(of, measure);
    if fraction.of(whole) > measure.limit { measure.limit } else { whole }
}

/// Describes the condition of the level that fired.
fn fires(level: &TriggerLevel, measure: &LaneMeasurement, of: FractionBase) -> Option<String> {
    let tokens = measure.tokens;
    let reached = |fraction: &Permille| tokens >= fraction.of(reachable(*fraction, of, measure));
    if let Some(fraction) = level.fraction.filter(reached) {
        let whole = reachable(fraction, of, measure);
        return Some(format!("{tokens} tokens are {fraction} or more of {whole}"));
    }
    if let Some(max) = level.tokens.filter(|max| tokens > *max) {
        return Some(format!("{tokens} tokens are more than {max}"));
    }
    let unsummarised = measure.unsummarised;
    if let Some(max) = level.unsummarised.filter(|max| unsummarised > *max) {
        return Some(format!("{unsummarised} tokens outside summaries are more than {max}"));
    }
    if let Some(free) = level.free.filter(|free| measure.window.saturating_sub(tokens) < *free) {
        return Some(format!("less than {free} tokens of the window are left"));
    }
    if let Some(max) = level.messages.filter(|max| measure.messages > *max) {
        return Some(format!("{} messages are more than {max}", measure.messages));
    }
    if let Some(max) = level.age_s.filter(|max| measure.age.0 > seconds(*max)) {
        return Some(format!("more than {max} seconds since the last compaction"));
    }
    let left = measure.cache_left?;
    let within = level.cache_s.filter(|within| left.0 <= seconds(*within))?;
    Some(format!("the provider's cache ends within {within} seconds"))
}

/// A level of a policy that no request in a window can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfReach {
    /// Key of the level, as in a policy file.
    pub key: &'static str,
    /// Number of tokens at which the level would fire.
    pub level: Tokens,
    /// Maximum number of tokens in a request.
    pub limit: Tokens,
}

impl fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, level, limit } = self;
        write!(f, "{key} can never fire here: it stands at {level} tokens, and a request may take {limit}")
    }
}

/// Returns the policy's levels that can never fire in a window: a request that large does not fit, and is compacted
/// for that reason.
#[must_use]
pub fn out_of_reach(policy: &Policy, limit: Tokens, window: Tokens) -> Vec<OutOfReach> {
    let keys = [
        (&policy.trigger.soft, ["trigger.soft.tokens", "trigger.soft.free"]),
        (&policy.trigger.hard, ["trigger.hard.tokens", "trigger.hard.free"]),
    ];
    let levels = keys.into_iter().flat_map(|(level, keys)| {
        let at = [level.tokens, level.free.map(|free| window.saturating_sub(free))];
        keys.into_iter().zip(at)
    });
    let beyond = levels.filter_map(|(key, at)| Some((key, at.filter(|at| *at > limit)?)));
    beyond.map(|(key, level)| OutOfReach { key, level, limit }).collect()
}

fn seconds(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(1_000)
}

/// Returns the state of a conversation. `between_tasks` says that a task has ended and no other has begun.
#[must_use]
pub fn stands(arrangement: &Arrangement, view: &View, between_tasks: bool) -> ConversationState {
    let Some(newest) = arrangement.exchanges.iter().max_by_key(|exchange| exchange.last) else {
        return ConversationState::BetweenTurns;
    };
    let newest_user = view.newest_user();
    let open = arrangement.exchanges.iter().any(|exchange| is_open(exchange, newest_user));
    match &newest.shape {
        _ if open => ConversationState::InCall,
        _ if between_tasks => ConversationState::BetweenTasks,
        ExchangeKind::Exchange { calls } if !calls.is_empty() => ConversationState::InTurn,
        _ => ConversationState::BetweenTurns,
    }
}
