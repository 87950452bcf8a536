//! Sums of results: over the windows of a history, and over all histories.

use super::SimulateOptions;
use super::compare::compare;
use super::play::PlayedWindow;
use super::result::{PolicyResult, SimulatedHistory, Simulation, share};
use crate::request::input::target::Target;
use crate::show::simulate::reading::history::History;
use crate::show::simulate::reading::index::{Index, Moment};

/// Sums the results of a history under each policy. `results` are ordered by policy, then by window.
pub(super) fn history(
    history: &History,
    index: &Index,
    target: &Target,
    windows: &[PlayedWindow],
    results: Vec<PolicyResult>,
) -> SimulatedHistory {
    let mut policies: Vec<PolicyResult> = Vec::new();
    for (nth, result) in results.into_iter().enumerate() {
        match policies.last_mut().filter(|_| !nth.is_multiple_of(windows.len())) {
            Some(sum) => sum.add_window(&result),
            None => policies.push(result),
        }
    }
    for policy in &mut policies {
        let replies = std::mem::take(&mut policy.replies);
        policy.finish(replies.iter());
        policy.replies = replies;
    }
    let count = |of: fn(&Moment) -> usize| index.moments.iter().map(|moment| of(moment) as u64).sum();
    SimulatedHistory {
        session: history.house.stream.to_string(),
        sessions: 1,
        model: target.model.clone(),
        window: target.budget.window.0,
        limits: windows.iter().map(|window| window.target.budget.limit().tokens.0).collect(),
        requests: index.moments.len() as u64,
        history_tokens: index.tokens.0,
        far_references: count(|moment| moment.far.len()),
        far_replies: count(|moment| usize::from(!moment.far.is_empty())),
        near_references: count(|moment| moment.near.len()),
        rereads: index.rereads.len() as u64,
        literals: index.ever.len() as u64,
        policies,
    }
}

/// Sums all histories, and compares the policies over them.
pub(super) fn pool(histories: Vec<SimulatedHistory>, asked: usize, options: &SimulateOptions) -> Simulation {
    let mut policies: Vec<PolicyResult> = Vec::new();
    for (nth, _) in options.policies.iter().enumerate() {
        let own = || histories.iter().filter_map(move |one| one.policies.get(nth));
        let Some(first) = own().next() else { continue };
        let mut sum = PolicyResult { replies: Vec::new(), ..first.clone() };
        own().skip(1).for_each(|other| sum.add(other));
        sum.finish(own().flat_map(|one| &one.replies));
        policies.push(sum);
    }
    compare(&mut policies, &histories.iter().collect::<Vec<_>>(), &options.against);
    policies.sort_by(|a, b| {
        let recalled = b.far.recall_per_reply.total_cmp(&a.far.recall_per_reply);
        recalled.then(a.price().cmp(&b.price())).then_with(|| a.name.cmp(&b.name))
    });
    let sum = |of: fn(&SimulatedHistory) -> u64| histories.iter().map(of).sum::<u64>();
    let windows = histories.first().map_or(0, |one| one.limits.len() as u64);
    // Every window has the same replies.
    let replies = histories.iter().filter_map(|one| one.policies.first()).flat_map(|policy| &policy.replies);
    let largest = replies.map(|reply| reply.far.references).max().unwrap_or_default();
    let far_references = sum(|one| one.far_references);
    Simulation {
        silent: asked.saturating_sub(histories.len()) as u64,
        windows,
        requests: sum(|one| one.requests) * windows,
        history_tokens: sum(|one| one.history_tokens),
        far_references,
        far_replies: sum(|one| one.far_replies),
        largest_reply: if largest == 0 { 0.0 } else { share(largest, far_references * windows) },
        near_references: sum(|one| one.near_references),
        rereads: sum(|one| one.rereads),
        summary_tokens: options.summary_tokens.map(|size| size.0),
        against: options.against.to_string(),
        policies,
        histories,
    }
}
