//! What a simulation found.

use super::history::History;
use super::index::Index;
use crate::request::target::Target;
use serde::Serialize;

/// A session under several policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulation {
    /// The session; the first, where several were played as one.
    pub session: String,
    /// How many sessions were played, one after the other.
    pub sessions: u64,
    /// The model the requests are for.
    pub model: String,
    /// Its window, in tokens.
    pub window: u64,
    /// What a request may take, in tokens.
    pub limit: u64,
    /// How many requests were to be built: one before each reply of the model.
    pub requests: u64,
    /// What all that was said takes, in tokens.
    pub history_tokens: u64,
    /// How often the agent's replies name something that was said last more than 8,000 tokens before.
    pub far_references: u64,
    /// How many different paths, identifiers, numbers and ids were named before the last request.
    pub literals: u64,
    /// What each policy came to, the highest recall first, then the lowest cost.
    pub policies: Vec<PolicyResult>,
}

/// What a policy came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyResult {
    /// Its name.
    pub name: String,
    /// How many requests were sent.
    pub requests: u64,
    /// How many requests could not be built: what cannot be left out did not fit.
    pub refused: u64,
    /// How often a request that was sent exceeded the limit. Always 0.
    pub over_budget: u64,
    /// How often the lane was compacted.
    pub compactions: u64,
    /// How often a compaction was tried and changed nothing.
    pub rejected: u64,
    /// How many summaries of a model were refused.
    pub refused_summaries: u64,
    /// How often the plan left out the oldest because the request did not fit.
    pub steps: u64,
    /// Tokens of all requests.
    pub tokens_sent: u64,
    /// … of which the provider finds so many in its cache.
    pub cached_tokens: u64,
    /// … and so many not.
    pub fresh_tokens: u64,
    /// What the requests cost, answers not counted, and the summaries of models, in millionths of a dollar; none where no
    /// price is known.
    pub cost: Option<u64>,
    /// … of which models' work on summaries.
    pub summary_cost: u64,
    /// The largest request.
    pub peak_tokens: u64,
    /// … as a part of the limit.
    pub peak_share: f64,
    /// Which part of the user's turns stood word for word in the last request.
    pub user_messages_verbatim: f64,
    /// … and on average over all requests.
    pub user_messages_verbatim_mean: f64,
    /// Which part of the far references stood in the request that the reply answers.
    pub far_reference_recall: f64,
    /// … or could be read back in one step, by a line of the request that shows where and says what it is.
    pub far_reference_reachable: f64,
    /// How many of them stood there.
    pub recalled: u64,
    /// How many of them stood there or could be read back.
    pub reached: u64,
    /// What the next three calls after each compaction needed of what was known before it: paths and ids in their arguments,
    /// and texts that they replace.
    pub needed: u64,
    /// How many of them stood in the request that the call answers.
    pub needed_shown: u64,
    /// How many of them stood there or could be read back in one step of at most 2,000 tokens.
    pub needed_reached: u64,
    /// Which part of them stood there; 1 where nothing was needed.
    pub needs_visible: f64,
    /// … or could be read back.
    pub needs_reachable: f64,
    /// How many of the literals neither stand in the last request nor can be read back from it in one step.
    pub literals_lost: u64,
    /// How many summaries were made.
    pub summaries: u64,
    /// Their tokens.
    pub summary_tokens: u64,
    /// The time spent on building requests and compacting, in milliseconds of the machine that simulated. The only figure that
    /// differs from run to run.
    pub time_ms: u64,
    /// The policies that recall no less and cost no more than a twentieth more, and are better in one of the two.
    pub dominated_by: Vec<String>,
    /// The policies of which this one is that.
    pub dominates: Vec<String>,
    /// The same with what could be read back in one step.
    pub dominated_by_reachable: Vec<String>,
    /// The same with what could be read back in one step.
    pub dominates_reachable: Vec<String>,
    /// The tokens of each request, in order; 0 for one that could not be built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<u64>,
}

/// What one may cost more than another and still not be the dearer one: a twentieth.
const TOLERANCE: u128 = 20;

impl PolicyResult {
    /// Whether it recalls no less than another and costs no more than 5 % more, and is better in one of the two. Where no
    /// price is known, tokens that are not cached are compared.
    fn dominates(&self, other: &Self, recall: impl Fn(&Self) -> u64) -> bool {
        let price = |result: &Self| u128::from(result.cost.unwrap_or(result.fresh_tokens));
        let (mine, theirs) = (price(self), price(other));
        let no_dearer = mine * TOLERANCE <= theirs * (TOLERANCE + 1);
        let (kept, their) = (recall(self), recall(other));
        kept >= their && no_dearer && (kept > their || mine < theirs)
    }
}

/// Puts the results in order, and compares them.
pub(super) fn simulation(
    history: &History,
    index: &Index,
    target: &Target,
    mut policies: Vec<PolicyResult>,
) -> Simulation {
    policies.sort_by(|a, b| {
        let dear = |result: &PolicyResult| result.cost.unwrap_or(result.fresh_tokens);
        b.recalled.cmp(&a.recalled).then(dear(a).cmp(&dear(b))).then_with(|| a.name.cmp(&b.name))
    });
    let compared = policies.clone();
    let names = |is: &dyn Fn(&PolicyResult) -> bool| -> Vec<String> {
        compared.iter().filter(|other| is(other)).map(|other| other.name.clone()).collect()
    };
    for policy in &mut policies {
        let (shown, reached) =
            (|result: &PolicyResult| result.recalled, |result: &PolicyResult| result.reached);
        let me = policy.clone();
        policy.dominates = names(&|other| me.dominates(other, shown));
        policy.dominated_by = names(&|other| other.dominates(&me, shown));
        policy.dominates_reachable = names(&|other| me.dominates(other, reached));
        policy.dominated_by_reachable = names(&|other| other.dominates(&me, reached));
    }
    Simulation {
        session: history.job.stream.to_string(),
        sessions: 1,
        model: target.model.clone(),
        window: target.budget.window.0,
        limit: target.budget.limit().tokens.0,
        requests: index.moments.len() as u64,
        history_tokens: index.tokens.0,
        far_references: index.moments.iter().map(|moment| moment.far.len() as u64).sum(),
        literals: index.ever.len() as u64,
        policies,
    }
}
