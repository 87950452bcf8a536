//! Comparisons of policies with known results.

use super::*;
use crate::show::simulate::result::RecallCounts;

fn replies(recalled: impl Iterator<Item = u64>) -> Vec<ReplyRecall> {
    recalled
        .map(|recalled| {
            let far = RecallCounts { references: 10, recalled, reached: recalled, in_lists: 0 };
            ReplyRecall { far, ..ReplyRecall::default() }
        })
        .collect()
}

fn policy(name: &str, replies: Vec<ReplyRecall>) -> PolicyResult {
    let mut policy =
        PolicyResult { name: name.to_owned(), cost: Some(100), replies, ..PolicyResult::default() };
    policy.finish(policy.replies.clone().iter());
    policy
}

fn compared(histories: &[SimulatedHistory], costs: &[u64]) -> Vec<PolicyResult> {
    let mut pooled: Vec<PolicyResult> = histories[0].policies.clone();
    pooled.iter_mut().zip(costs).for_each(|(policy, cost)| policy.cost = Some(*cost));
    compare(&mut pooled, &histories.iter().collect::<Vec<_>>(), "base");
    pooled
}

fn history(policies: Vec<PolicyResult>) -> SimulatedHistory {
    SimulatedHistory { policies, ..SimulatedHistory::default() }
}

#[test]
fn a_steady_gain_is_won_and_noise_is_not() {
    let base = policy("base", replies((0..100).map(|at| at % 7)));
    let better = policy("better", replies((0..100).map(|at| at % 7 + 2)));
    let noise = policy("noise", replies((0..100).map(|at| (at * 5 + 3) % 7)));
    let found = compared(&[history(vec![base, better, noise])], &[100, 100, 100]);
    assert_eq!(found[0].difference, None, "nothing is compared with itself");
    let gain = found[1].difference.unwrap();
    assert_eq!((gain.recall_per_reply.seen, gain.verdict), (0.2, PairedVerdict::Won));
    assert_eq!(
        (gain.recall_per_reply.low, gain.recall_per_reply.high),
        (0.2, 0.2),
        "paired: the same at each reply"
    );
    let open = found[2].difference.unwrap();
    assert_eq!(open.verdict, PairedVerdict::Open, "{open:?}");
    assert!(open.recall_per_reply.low < 0.0 && open.recall_per_reply.high > 0.0);
    assert_eq!(found[1].dominates, ["base", "noise"]);
    assert_eq!(found[0].dominated_by, ["better"]);
}

#[test]
fn what_costs_more_dominates_nothing() {
    let base = policy("base", replies((0..100).map(|_| 5)));
    let better = policy("better", replies((0..100).map(|_| 7)));
    let both = [history(vec![base, better])];
    assert_eq!(compared(&both, &[100, 105])[1].dominates, ["base"]);
    assert!(compared(&both, &[100, 106])[1].dominates.is_empty());
}

/// A single session in which a policy is far better is not evidence about the next.
#[test]
fn what_one_session_shows_is_not_shown_by_many() {
    let session = |gain: u64| {
        let base = policy("base", replies((0..60).map(|_| 4)));
        history(vec![base, policy("one", replies((0..60).map(|_| 4 + gain)))])
    };
    let alone = compared(&[session(6)], &[100, 100]);
    assert_eq!(alone[1].difference.unwrap().verdict, PairedVerdict::Won);
    let among: Vec<SimulatedHistory> = [6, 0, 0, 0, 0, 0].map(session).into_iter().collect();
    let among = compared(&among, &[100, 100]);
    assert_eq!(among[1].difference.unwrap().verdict, PairedVerdict::Open, "{:?}", among[1].difference);
    let all: Vec<SimulatedHistory> = (0..6).map(|_| session(2)).collect();
    assert_eq!(compared(&all, &[100, 100])[1].difference.unwrap().verdict, PairedVerdict::Won);
}

#[test]
fn few_replies_give_no_interval() {
    let few = |gain: u64| replies((0..4).map(|_| 4 + gain));
    let found = compared(&[history(vec![policy("base", few(0)), policy("better", few(3))])], &[100, 100]);
    assert_eq!(found[1].difference, None);
    assert!(found[1].dominates.is_empty());
}

#[test]
fn equal_policies_are_said_to_be() {
    let same = || replies((0..20).map(|at| at % 5));
    let found = compared(&[history(vec![policy("base", same()), policy("twin", same())])], &[100, 100]);
    assert_eq!(found[1].same_as.as_deref(), Some("base"));
    assert_eq!(found[0].same_as, None);
    assert_eq!(found[1].difference.unwrap().verdict, PairedVerdict::Open);
}

#[test]
fn draws_are_spread_evenly() {
    let mut random = SplitMix(1);
    let mut counts = [0_u32; 7];
    (0..7_000).for_each(|_| counts[random.below(7)] += 1);
    assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    assert_eq!(random.below(0), 0);
}
