//! Differences between policies over the same replies, with their uncertainty.
//!
//! A figure for one session is based on few replies, a few of which have most of the references. A difference is
//! therefore given with the interval that contains 95 % of draws. Each draw takes, with replacement, as many sessions
//! as there are, and from each session as many blocks of consecutive replies as it has. Thus similar replies of one
//! session, or neighbouring replies, are not counted as independent evidence. The same draws are used for all
//! policies, so whatever is hard for every policy cancels out.

use super::result::{PolicyResult, ReplyRecall, SimulatedHistory, Simulation, number, ratio, rounded};
use serde::Serialize;

/// Number of draws.
const DRAWS: usize = 2_000;
/// Maximum length of a block, in replies that have far references.
const BLOCK: usize = 10;
/// Minimum number of blocks. With fewer blocks, an interval would claim more than is known.
const BLOCKS_MIN: usize = 5;
/// Inverse of the fraction (a twentieth) by which a policy may cost more than another and still dominate it.
const TOLERANCE: u128 = 20;
/// Seed of the draws. A fixed seed gives the same intervals for the same replies.
const SEED: u64 = 0x5eed_0015;

/// A difference with the interval that contains 95 % of draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PairedDifference {
    /// Observed difference.
    pub seen: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Differences of a policy from the baseline, over the same replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PolicyDifference {
    /// Difference in the recall of far references, averaged over replies.
    pub recall_per_reply: PairedDifference,
    /// Difference in the recall of far references, taken over all references together.
    pub recall: PairedDifference,
    /// Difference in the reach of far references, averaged over replies.
    pub reach_per_reply: PairedDifference,
    /// Difference in cost, as a fraction of the baseline's cost.
    pub cost: f64,
    /// Verdict on the recall per reply.
    pub verdict: PairedVerdict,
}

/// Whether a difference exceeds what chance explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PairedVerdict {
    /// The whole interval is above 0.
    Won,
    /// The whole interval is below 0.
    Lost,
    /// The interval contains 0.
    #[default]
    Open,
}

impl PairedDifference {
    /// Returns whether the difference exceeds what chance explains.
    #[must_use]
    pub fn verdict(&self) -> PairedVerdict {
        if self.low > 0.0 {
            PairedVerdict::Won
        } else if self.high < 0.0 {
            PairedVerdict::Lost
        } else {
            PairedVerdict::Open
        }
    }
}

/// Sums over some replies, from which the figures are computed.
#[derive(Clone, Copy, Default)]
struct RecallSums {
    replies: f64,
    references: f64,
    recalled: f64,
    /// Sum over replies of the share of references recalled.
    recalled_shares: f64,
    reached_shares: f64,
}

/// Computes a figure from the sums over some replies.
type Figure = fn(&RecallSums) -> f64;

const RECALL_PER_REPLY: Figure = |sums| sums.recalled_shares / sums.replies;
const RECALL: Figure = |sums| sums.recalled / sums.references;
const REACH_PER_REPLY: Figure = |sums| sums.reached_shares / sums.replies;

impl RecallSums {
    fn of(replies: &[ReplyRecall]) -> Self {
        let mut sums = Self::default();
        for far in replies.iter().map(|reply| reply.far) {
            sums.add(&Self {
                replies: 1.0,
                references: number(far.references),
                recalled: number(far.recalled),
                recalled_shares: ratio(far.recalled, far.references),
                reached_shares: ratio(far.reached, far.references),
            });
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.replies += other.replies;
        self.references += other.references;
        self.recalled += other.recalled;
        self.recalled_shares += other.recalled_shares;
        self.reached_shares += other.reached_shares;
    }
}

/// Replies of some histories under several policies, and draws from them.
pub(super) struct Draws {
    /// Sums over all replies and over each draw, by policy. There are no draws if there are too few blocks.
    sums: Vec<(RecallSums, Vec<RecallSums>)>,
}

impl Draws {
    /// Draws from histories whose policies are in the same order.
    pub(super) fn of(histories: &[&SimulatedHistory]) -> Self {
        let sessions: Vec<Vec<Vec<RecallSums>>> =
            histories.iter().map(|one| blocks(one)).filter(|blocks| !blocks.is_empty()).collect();
        let policies = histories.first().map_or(0, |one| one.policies.len());
        let total = |policy: usize| {
            let mut sums = RecallSums::default();
            let blocks = sessions.iter().flatten();
            blocks.filter_map(|block| block.get(policy)).for_each(|block| sums.add(block));
            (sums, Vec::new())
        };
        let mut draws = Self { sums: (0..policies).map(total).collect() };
        if sessions.iter().map(Vec::len).sum::<usize>() < BLOCKS_MIN {
            return draws;
        }
        let mut random = SplitMix(SEED);
        for _ in 0..DRAWS {
            let mut drawn = vec![RecallSums::default(); policies];
            for _ in 0..sessions.len() {
                let Some(session) = sessions.get(random.below(sessions.len())) else { continue };
                for _ in 0..session.len() {
                    let Some(block) = session.get(random.below(session.len())) else { continue };
                    drawn.iter_mut().zip(block).for_each(|(sums, block)| sums.add(block));
                }
            }
            draws.sums.iter_mut().zip(drawn).for_each(|((_, draws), drawn)| draws.push(drawn));
        }
        draws
    }

    /// Returns the observed difference of a figure between two policies.
    fn seen(&self, (one, other): (usize, usize), figure: Figure) -> f64 {
        let of = |policy: usize| self.sums.get(policy).map_or(0.0, |(all, _)| figure(all));
        let seen = of(one) - of(other);
        // Without replies, computing the figure would divide by zero.
        if seen.is_finite() { rounded(seen) } else { 0.0 }
    }

    /// Returns the difference of a figure between two policies; `None` if there are too few replies.
    fn difference(&self, (one, other): (usize, usize), figure: Figure) -> Option<PairedDifference> {
        let seen = self.seen((one, other), figure);
        let ((_, ones), (_, others)) = (self.sums.get(one)?, self.sums.get(other)?);
        let mut drawn: Vec<f64> =
            ones.iter().zip(others).map(|(one, other)| figure(one) - figure(other)).collect();
        drawn.sort_by(f64::total_cmp);
        // 2.5 % of the draws lie beyond each end of the interval.
        let tail = drawn.len() / 40;
        let (low, high) = (drawn.get(tail)?, drawn.get(drawn.len().checked_sub(tail + 1)?)?);
        Some(PairedDifference { seen, low: rounded(*low), high: rounded(*high) })
    }

    /// Returns the differences between two policies, including their costs.
    fn compare(&self, pair: (usize, usize), (cost, other): (u64, u64)) -> Option<PolicyDifference> {
        let recall_per_reply = self.difference(pair, RECALL_PER_REPLY)?;
        Some(PolicyDifference {
            recall_per_reply,
            recall: self.difference(pair, RECALL)?,
            reach_per_reply: self.difference(pair, REACH_PER_REPLY)?,
            cost: if other == 0 { 0.0 } else { rounded(ratio(cost, other) - 1.0) },
            verdict: recall_per_reply.verdict(),
        })
    }
}

/// Returns the replies of a history that have far references, in blocks. Each block has the sums of every policy.
fn blocks(history: &SimulatedHistory) -> Vec<Vec<RecallSums>> {
    let far = |policy: &PolicyResult| -> Vec<ReplyRecall> {
        policy.replies.iter().filter(|reply| reply.far.references > 0).copied().collect()
    };
    let replies: Vec<Vec<ReplyRecall>> = history.policies.iter().map(far).collect();
    let count = replies.first().map_or(0, Vec::len);
    // A short history gets shorter blocks, so that there are enough blocks to draw from.
    let length = (count / BLOCK).clamp(1, BLOCK);
    let block = |from: usize| {
        let of = |replies: &Vec<ReplyRecall>| {
            RecallSums::of(replies.get(from..(from + length).min(count)).unwrap_or_default())
        };
        replies.iter().map(of).collect()
    };
    (0..count).step_by(length).map(block).collect()
}

/// Compares policies over some histories: each policy with the baseline `against` and with every other policy.
/// `policies` must be in the histories' order.
pub(super) fn compare(policies: &mut [PolicyResult], histories: &[&SimulatedHistory], against: &str) {
    let draws = Draws::of(histories);
    let baseline = policies.iter().position(|policy| policy.name == against);
    let seen = policies.to_vec();
    for (one, policy) in policies.iter_mut().enumerate() {
        let prices = |other: &PolicyResult| (seen.get(one).map_or(0, PolicyResult::price), other.price());
        policy.difference = baseline
            .filter(|other| *other != one)
            .and_then(|other| draws.compare((one, other), prices(seen.get(other)?)));
        let dominates = |pair: (usize, usize), (mine, theirs): (u64, u64)| {
            let gained = draws.difference(pair, RECALL_PER_REPLY).is_some_and(|found| found.low > 0.0);
            // Integer arithmetic: `mine` exceeds `theirs` by at most a twentieth.
            gained && u128::from(mine) * TOLERANCE <= u128::from(theirs) * (TOLERANCE + 1)
        };
        for (other, its) in seen.iter().enumerate().filter(|(other, _)| *other != one) {
            let (mine, theirs) = prices(its);
            if dominates((one, other), (mine, theirs)) {
                policy.dominates.push(its.name.clone());
            }
            if dominates((other, one), (theirs, mine)) {
                policy.dominated_by.push(its.name.clone());
            }
        }
        let is_same = |its: &&PolicyResult| its.series == policy.series && its.far == policy.far;
        policy.same_as = seen.iter().take(one).find(is_same).map(|its| its.name.clone());
    }
}

/// Difference of a policy from the baseline over some of the histories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyGain {
    /// Name of the policy.
    pub name: String,
    /// Observed difference in the recall of far references per reply; 0 if no reply has any.
    pub gain: f64,
    /// All differences with their intervals; `None` if there are too few replies.
    pub difference: Option<PolicyDifference>,
}

impl Simulation {
    /// Compares the policies over some of the histories, for example with one left out. The result is in the
    /// policies' original order.
    #[must_use]
    pub fn over(&self, is_in: impl Fn(&SimulatedHistory) -> bool) -> Vec<PolicyGain> {
        let histories: Vec<&SimulatedHistory> = self.histories.iter().filter(|one| is_in(one)).collect();
        let draws = Draws::of(&histories);
        let Some(first) = histories.first() else { return Vec::new() };
        let names: Vec<&str> = first.policies.iter().map(|policy| policy.name.as_str()).collect();
        let other = names.iter().position(|name| *name == self.against).unwrap_or_default();
        let price = |nth: usize| {
            histories.iter().filter_map(|one| one.policies.get(nth)).map(PolicyResult::price).sum::<u64>()
        };
        let gain = |nth: usize| PolicyGain {
            name: names.get(nth).map(|name| (*name).to_owned()).unwrap_or_default(),
            gain: draws.seen((nth, other), RECALL_PER_REPLY),
            difference: draws.compare((nth, other), (price(nth), price(other))),
        };
        (0..names.len()).map(gain).collect()
    }
}

/// SplitMix64 generator (Steele, Lea, Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0. The probabilities of the numbers differ by at most one part
    /// in 2^32.
    fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
