//! Recall over real sessions: policies played over each session as if it were live, and compared over all of them.

use super::corpus::{FreshLedger, RealSession};
use super::table::{median, part, thousands};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::fmt::Write as _;
use std::sync::Arc;
use wunderblock::policy::Policies;
use wunderblock::{
    ContextOptions, PairedDifference, PolicyDifference, PolicyResult, SimulateOptions, SimulatedHistory,
    Simulation,
};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;

/// Maximum by which a policy's recall may fall below that of `off`.
const TOLERATED: f64 = 0.01;
/// Maximum cost of a policy as a multiple of another's, for a comparison at equal cost.
const EQUAL_COST: f64 = 1.05;

/// A session under every policy in one window.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct RecallRow {
    session: String,
    window: u64,
    history: SimulatedHistory,
}

/// Returns the policies with these names or in these files; all presets but those for tests if one name is `all`.
pub(crate) fn policies(names: &[String]) -> ChoreResult<Vec<Arc<Policy>>> {
    let presets = Policies::embedded();
    let all = names.iter().any(|name| name == "all");
    let known: Vec<String> =
        presets.names().filter(|name| !matches!(*name, "always" | "never")).map(str::to_owned).collect();
    let names = if all { &known } else { names };
    let found = names.iter().map(|name| {
        if !name.ends_with(".toml") {
            return Ok(presets.named(name)?);
        }
        Ok(Arc::new(presets.parse(&std::fs::read_to_string(name)?, name)?.policy))
    });
    found.collect()
}

/// Plays a session under every policy. Returns `None` if the model never replies in it, or if no request fits.
pub(crate) fn row(
    session: &RealSession,
    window: u64,
    policies: &[Arc<Policy>],
) -> ChoreResult<Option<RecallRow>> {
    let ledger = FreshLedger::open()?;
    let own = ledger.import_whole(session)?;
    let options = SimulateOptions {
        context: ContextOptions { window: Some(Tokens(window)), ..ContextOptions::uncompacted() },
        policies: policies.to_vec(),
        against: baseline(policies).into(),
        windows: 0,
        recall: false,
        summary_tokens: None,
        summariser: None,
        progress: None,
    };
    let played = match block_on(ledger.engine.simulate(&[vec![own]], &options)) {
        Ok(played) => played,
        Err(wunderblock::Error::Silence(_)) => None,
        Err(error) => return Err(error.into()),
    };
    // Where the parts that cannot be left out do not fit, no policy recalls anything.
    let is_built = |history: &SimulatedHistory| history.policies.iter().any(|policy| policy.requests > 0);
    let history = played.and_then(|found| found.histories.into_iter().next()).filter(is_built);
    let session = session.title().to_owned();
    Ok(history.map(|history| RecallRow { session, window, history }))
}

fn baseline(policies: &[Arc<Policy>]) -> &str {
    policies.first().map_or("", |policy| &policy.name)
}

/// Returns a policy's cost, or its tokens without the cache if no price is known.
fn price(policy: &PolicyResult) -> u64 {
    policy.cost.unwrap_or(policy.fresh_tokens)
}

/// Writes a row of the table of sessions: recall / reach of each policy, and its cost against the first policy's.
pub(crate) fn line(row: &RecallRow) -> String {
    let first = row.history.policies.first().map_or(1, price).max(1);
    let cells = row.history.policies.iter().map(|policy| {
        let far = policy.far;
        format!(
            " {} / {} · {:.2} |",
            percent(far.recall_per_reply),
            percent(far.reach_per_reply),
            ratio(price(policy), first)
        )
    });
    let time: u64 = row.history.policies.iter().map(|policy| policy.time_ms).sum();
    let (far, replies) = (row.history.far_references, row.history.far_replies);
    let cells = cells.collect::<String>();
    format!("| {} | {} | {far} in {replies} |{cells} {:.0} |", row.session, row.window, ratio(time, 1_000))
}

/// Returns the head of the table of sessions.
pub(crate) fn head(policies: &[Arc<Policy>]) -> String {
    let names: String = policies.iter().map(|policy| format!(" {} |", policy.name)).collect();
    let rule: String = policies.iter().map(|_| "---|").collect();
    format!(
        "Recall per reply / reach · cost against the first policy's:\n\n| session | window | far references |{names} s |\n|---|--:|---|{rule}--:|\n"
    )
}

/// Returns the totals of one window: each policy's medians, and its differences from the first policy and from `off`.
pub(crate) fn totals(rows: &[RecallRow], policies: &[Arc<Policy>]) -> ChoreResult<String> {
    let mut windows: Vec<u64> = rows.iter().map(|row| row.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let mut out = String::new();
    for window in windows {
        let histories: Vec<SimulatedHistory> = rows
            .iter()
            .filter(|row| row.window == window && row.history.far_replies > 0)
            .map(|row| row.history.clone())
            .collect();
        write_window(&mut out, window, &histories, policies)?;
    }
    Ok(out)
}

fn write_window(
    out: &mut String,
    window: u64,
    histories: &[SimulatedHistory],
    policies: &[Arc<Policy>],
) -> ChoreResult<()> {
    let ours = baseline(policies);
    let against = |name: &str| {
        let all =
            Simulation { histories: histories.to_vec(), against: name.to_owned(), ..Simulation::default() };
        all.over(|_| true)
    };
    let (from_ours, from_off) = (against(ours), against("off"));
    let replies: u64 = histories.iter().map(|one| one.far_replies).sum();
    writeln!(
        out,
        "\n### {} tokens: {} sessions, {replies} replies with far references\n\n| policy | recall per reply: mean over replies | median of sessions | reach: median | cost | from {ours} (95 %) | reach from {ours} | cost | from off (95 %) |\n|---|--:|--:|--:|--:|---|---|--:|---|",
        thousands(window),
        histories.len()
    )?;
    for (nth, policy) in policies.iter().enumerate() {
        let own: Vec<&PolicyResult> = histories.iter().filter_map(|one| one.policies.get(nth)).collect();
        let weighted: f64 = histories
            .iter()
            .zip(&own)
            .map(|(one, policy)| policy.far.recall_per_reply * number(one.far_replies))
            .sum();
        let middle = |of: fn(&PolicyResult) -> f64| {
            percent(number(median(own.iter().map(|policy| ten_thousandths(of(policy))).collect())) / 10_000.0)
        };
        let found = |gains: &[wunderblock::PolicyGain]| gains.get(nth).and_then(|gain| gain.difference);
        let ours = found(&from_ours).filter(|_| nth > 0);
        let off = found(&from_off).filter(|_| &*policy.name != "off");
        writeln!(
            out,
            "| {} | {} | {} | {} | ${:.2} | {} | {} | {} | {} |",
            policy.name,
            percent(weighted / number(replies.max(1))),
            middle(|policy| policy.far.recall_per_reply),
            middle(|policy| policy.far.reach_per_reply),
            ratio(own.iter().map(|policy| price(policy)).sum(), 1_000_000),
            ours.map_or_else(String::new, |found| with_verdict(&found)),
            ours.map_or_else(String::new, |found| interval(found.reach_per_reply)),
            ours.map_or_else(String::new, |found| format!("{:+.1} %", found.cost * 100.0)),
            off.map_or_else(String::new, |found| with_verdict(&found)),
        )?;
    }
    write_verdicts(out, histories, policies, &from_ours)
}

/// Returns the small table of the README: each policy's recall, reach and cost in each window, and how often it wins.
pub(crate) fn comparison(rows: &[RecallRow], policies: &[Arc<Policy>]) -> ChoreResult<String> {
    let mut windows: Vec<u64> = rows.iter().map(|row| row.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let heads: String = windows
        .iter()
        .map(|window| format!(" {}: recall | reach | cost | most |", thousands(*window)))
        .collect();
    let rule: String = windows.iter().map(|_| "--:|--:|--:|--:|").collect();
    let mut out = format!("| policy |{heads}\n|---|{rule}\n");
    for (nth, policy) in policies.iter().enumerate() {
        write!(out, "| {} |", policy.name)?;
        for window in &windows {
            let own: Vec<&SimulatedHistory> = rows
                .iter()
                .filter(|row| row.window == *window && row.history.far_replies > 0)
                .map(|row| &row.history)
                .collect();
            let replies: u64 = own.iter().map(|one| one.far_replies).sum();
            let mean = |of: fn(&PolicyResult) -> f64| {
                let sum =
                    own.iter().filter_map(|one| Some(of(one.policies.get(nth)?) * number(one.far_replies)));
                percent(sum.sum::<f64>() / number(replies.max(1)))
            };
            let cost: u64 = own.iter().filter_map(|one| one.policies.get(nth)).map(price).sum();
            let first: u64 = own.iter().filter_map(|one| one.policies.first()).map(price).sum();
            let most = |one: &&&SimulatedHistory| {
                let recalls = |policy: &PolicyResult| ten_thousandths(policy.far.recall_per_reply);
                one.policies.get(nth).map(recalls) == one.policies.iter().map(recalls).max()
            };
            write!(
                out,
                " {} | {} | {:.2} | {} of {} |",
                mean(|policy| policy.far.recall_per_reply),
                mean(|policy| policy.far.reach_per_reply),
                ratio(cost, first.max(1)),
                own.iter().filter(most).count(),
                own.len()
            )?;
        }
        out.push('\n');
    }
    out.push_str("\nRecall and reach of far references per reply in %, cost as a multiple of the first row's, and in how many sessions no other row recalls more. All rows use our summaries.\n");
    Ok(out)
}

/// Writes the share of sessions in which the first policy holds against `off`, and the policies that beat it.
fn write_verdicts(
    out: &mut String,
    histories: &[SimulatedHistory],
    policies: &[Arc<Policy>],
    gains: &[wunderblock::PolicyGain],
) -> ChoreResult<()> {
    let ours = baseline(policies);
    let named =
        |one: &SimulatedHistory, name: &str| one.policies.iter().find(|policy| policy.name == name).cloned();
    let pairs: Vec<(PolicyResult, PolicyResult)> =
        histories.iter().filter_map(|one| named(one, ours).zip(named(one, "off"))).collect();
    let holds = |(own, off): &&(PolicyResult, PolicyResult)| {
        own.far.recall_per_reply >= off.far.recall_per_reply - TOLERATED
            && number(price(own)) <= number(price(off)) * EQUAL_COST
    };
    let recalls = |(own, off): &&(PolicyResult, PolicyResult)| {
        own.far.recall_per_reply >= off.far.recall_per_reply - TOLERATED
    };
    let (held, recalled) = (pairs.iter().filter(holds).count(), pairs.iter().filter(recalls).count());
    let beaten: Vec<&str> = gains
        .iter()
        .filter(|gain| {
            gain.difference
                .is_some_and(|found| found.recall_per_reply.low > 0.0 && found.cost <= EQUAL_COST - 1.0)
        })
        .map(|gain| gain.name.as_str())
        .collect();
    let beaten = if beaten.is_empty() { "none".to_owned() } else { beaten.join(", ") };
    let share = |count: usize| part((count * 1_000 / pairs.len().max(1)) as u64);
    writeln!(
        out,
        "\n{ours} recalls at least as much as off (less .01) at ≤ 105 % of its cost in {held} of {} sessions ({}); at any cost in {recalled} ({}). Beaten at ≤ 105 % of its cost, lower bound above 0, by: {beaten}.",
        pairs.len(),
        share(held),
        share(recalled),
    )?;
    Ok(())
}

/// Returns a share in hundredths with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Returns a difference in hundredths, with its interval.
pub(crate) fn interval(found: PairedDifference) -> String {
    format!("{:+.1} ({:+.1}…{:+.1})", found.seen * 100.0, found.low * 100.0, found.high * 100.0)
}

/// Returns the verdict on a difference in a word; nothing if it is open.
pub(crate) fn verdict(found: &PolicyDifference) -> &'static str {
    match found.verdict {
        wunderblock::PairedVerdict::Won => "won",
        wunderblock::PairedVerdict::Lost => "lost",
        wunderblock::PairedVerdict::Open => "",
    }
}

fn with_verdict(found: &PolicyDifference) -> String {
    format!("{} {}", interval(found.recall_per_reply), verdict(found)).trim_end().to_owned()
}

/// Counts are far below 2^52.
#[allow(clippy::cast_precision_loss)]
fn number(count: u64) -> f64 {
    count as f64
}

fn ratio(part: u64, whole: u64) -> f64 {
    number(part) / number(whole)
}

/// Shares lie between 0 and 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ten_thousandths(share: f64) -> u64 {
    (share * 10_000.0).round() as u64
}
