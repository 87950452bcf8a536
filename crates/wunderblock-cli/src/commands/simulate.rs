//! `simulate`: a session under several policies, side by side.

use crate::args::{Global, SimulateArgs};
use crate::chart::draw;
use crate::columns::{fit, pad, wrap};
use crate::console::answer;
use crate::exit::{Exit, unwritten};
use crate::lookup::reading_file;
use crate::paint::Paint;
use crate::policy::policy;
use crate::progress::{bar, update};
use crate::settings::Settings;
use crate::terminal::{clean, width};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use wunderblock::catalog::MicroDollars;
use wunderblock::policy::Policies;
use wunderblock::{ContextOptions, PolicyResult, SimulateOptions, Simulation};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Tokens;

/// Presets that are for tests.
const TESTS: [&str; 2] = ["always", "never"];

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: SimulateArgs) -> Exit {
    let named: Vec<&str> = match wanted.policies.as_slice() {
        [] => Policies::embedded().names().filter(|name| !TESTS.contains(name)).collect(),
        typed => typed.iter().map(|name| name.trim()).collect(),
    };
    let policies = named.into_iter().map(policy).collect::<Result<Vec<_>, _>>()?;
    let typed = &wanted.session.session;
    let (engine, session) = reading_file(settings, global, typed).await?;
    let sessions = if Path::new(typed).is_file() {
        session.siblings().await?.into_iter().map(|one| engine.session_by_id(one.id)).collect()
    } else {
        vec![session]
    };
    let defaults = &settings.file.context;
    let context = ContextOptions {
        model: wanted.reader.model.or_else(|| defaults.model.clone()),
        window: wanted.reader.window.or(defaults.window).map(Tokens),
        reserve: wanted.reader.reserve.or(defaults.reserve).map(Tokens),
        shares: settings.file.budget.clone(),
        ..ContextOptions::uncompacted()
    };
    let bar = bar(global, "simulating", "{msg} [{bar:32}] {pos}/{len} requests {eta}");
    let shown = bar.clone();
    let progress = Arc::new(move |done, of| {
        update(&shown, done, of);
        true
    });
    let options = SimulateOptions { context, policies, summariser: None, progress: Some(progress) };
    let found = engine.simulate(&sessions, &options).await;
    bar.finish_and_clear();
    // Nobody stops it but by ending the program.
    let Some(mut found) = found? else { return Ok(ExitCode::SUCCESS) };
    if let Some(path) = &wanted.svg {
        std::fs::write(path, draw(&found)).map_err(|error| unwritten(path, &error))?;
    }
    if !wanted.per_turn {
        found.policies.iter_mut().for_each(|policy| policy.series.clear());
    }
    answer(global, &found, || picture(&found, wanted.per_turn, Paint::stdout()))
}

/// What was found, for people.
fn picture(found: &Simulation, per_turn: bool, paint: Paint) -> String {
    let more = match found.sessions {
        0 | 1 => String::new(),
        many => format!(" and {} more, one after the other", grouped(many - 1)),
    };
    let mut out = format!(
        "{}{more} · {} · window {}, {} for a request\n",
        paint.bold(&clean(&found.session)),
        clean(&found.model),
        grouped(found.window),
        grouped(found.limit)
    );
    out.push_str(&format!(
        "{} requests over a history of {} tokens; {} far references\n\n",
        grouped(found.requests),
        grouped(found.history_tokens),
        grouped(found.far_references)
    ));
    out.push_str(&paint.dim(HEAD));
    out.push('\n');
    for policy in &found.policies {
        out.push_str(&row(policy, paint));
    }
    if per_turn {
        out.push('\n');
        let name = names(found);
        for policy in &found.policies {
            let bars = bars(&policy.series, found.limit, width().saturating_sub(name + 2));
            let shown = pad(&fit(&clean(&policy.name), name + 1), name);
            out.push_str(&format!("{shown}  {}\n", paint.dim(&bars)));
        }
    }
    out.push('\n');
    for line in notes(found) {
        out.push_str(&wrap(&line, width().min(100), 0));
    }
    out
}

const HEAD: &str =
    "policy         recall reach next words cuts tries    sent cached      cost peak  lost   time   won";

/// The longest name, up to where the table has room.
fn names(found: &Simulation) -> usize {
    let longest = found.policies.iter().map(|policy| policy.name.chars().count()).max();
    longest.unwrap_or_default().min(NAME)
}

/// Columns of a name.
const NAME: usize = 14;

fn row(policy: &PolicyResult, paint: Paint) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let whole = |share: f64| format!("{:.0}", share * 100.0);
    let ratio = |part: u64, of: u64| (part * 100).checked_div(of).unwrap_or_default();
    let cost = policy.cost.map_or_else(|| "—".to_owned(), dollars);
    let name = pad(&fit(&clean(&policy.name), NAME + 1), NAME);
    let won = format!("{}/{}", policy.dominates.len(), policy.dominated_by.len());
    let seconds = f64::from(u32::try_from(policy.time_ms).unwrap_or(u32::MAX)) / 1_000.0;
    let mut line = format!(
        "{} {:>6} {:>5} {:>4} {:>5} {:>4} {:>5} {:>7} {:>4} % {:>9} {:>4} {:>5} {:>4.1} s {:>5}",
        paint.bold(&name),
        percent(policy.far_reference_recall),
        percent(policy.far_reference_reachable),
        if policy.needed > 0 { format!("{:.0}", policy.needs_reachable * 100.0) } else { "–".to_owned() },
        whole(policy.user_messages_verbatim_mean),
        policy.compactions,
        policy.rejected,
        short(policy.tokens_sent),
        ratio(policy.cached_tokens, policy.tokens_sent),
        cost,
        whole(policy.peak_share),
        policy.literals_lost,
        seconds,
        won,
    );
    if policy.refused > 0 {
        line.push_str(&format!("  {} could not be built", policy.refused));
    }
    if policy.over_budget > 0 {
        line.push_str(&format!("  {} OVER BUDGET", policy.over_budget));
    }
    line.push('\n');
    line
}

/// `$1.23`; rounded, for people.
fn dollars(micro: u64) -> String {
    if micro < 10_000 {
        return MicroDollars(micro).to_string();
    }
    let cents = micro.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

/// `950`, `12.3k`, `4.56M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}.{}k", tokens / 1_000, tokens % 1_000 / 100),
        _ => format!("{}.{:02}M", tokens / 1_000_000, tokens % 1_000_000 / 10_000),
    }
}

/// A line of bars, each as high as the largest request of its turns.
fn bars(series: &[u64], limit: u64, columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = series.len().div_ceil(columns.max(1)).max(1);
    let high = |turns: &[u64]| turns.iter().copied().max().unwrap_or_default();
    let height = |tokens: u64| usize::try_from(tokens.saturating_mul(8) / limit.max(1)).unwrap_or(usize::MAX);
    series.chunks(each).filter_map(|turns| HEIGHTS.get(height(high(turns)).min(7))).collect()
}

/// What the columns mean.
fn notes(found: &Simulation) -> Vec<String> {
    let sent: u64 = found.policies.iter().map(|policy| policy.requests).sum();
    let over: u64 = found.policies.iter().map(|policy| policy.over_budget).sum();
    vec![
        format!("{} requests were sent, {} of them over budget.", grouped(sent), grouped(over)),
        "recall: of the paths, identifiers, numbers and ids in the agent's real replies that were said last more than \
         8,000 tokens before, how many in a hundred stood in the request. reach: or could be read in one step, by a line of \
         the request that shows where and says what it is."
            .to_owned(),
        "next: of the paths, ids and replaced texts that the three calls after each compaction need and that were known before \
         it, how many in a hundred stood in the request or could be read in one step."
            .to_owned(),
        "words: the user's turns that stood word for word, on average, in a hundred. peak: the largest request, in hundredths of \
         the limit. cuts, tries: compactions, and those that changed \
         nothing. lost: what was named, and is neither in the last request nor in reach of it. time: of building and \
         compacting."
            .to_owned(),
        "cost: of the requests by the catalog's prices, caching included, answers not. won: how many policies it beats, \
         and how many beat it: with no less recall at a cost of no more than 5 % above, and better in one of the two."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        for (tokens, text) in
            [(0, "0"), (999, "999"), (1_000, "1.0k"), (999_999, "999.9k"), (12_345_678, "12.34M")]
        {
            assert_eq!(short(tokens), text);
        }
        for (micro, text) in
            [(0, "$0.0000"), (9_900, "$0.0099"), (10_000, "$0.01"), (1_234_567_890, "$1,234.57")]
        {
            assert_eq!(dollars(micro), text);
        }
        assert_eq!(bars(&[0, 50, 100], 100, 10), "▁▅█");
        assert_eq!(bars(&[], 0, 0), "");
    }

    #[test]
    fn the_table_fits_a_hundred_columns() {
        let policy = PolicyResult {
            name: "a-policy-with-a-long-name".to_owned(),
            tokens_sent: 123_456_789,
            time_ms: 12_345,
            cost: Some(1_234_567_890),
            compactions: 1_234,
            rejected: 12_345,
            far_reference_recall: 1.0,
            far_reference_reachable: 1.0,
            needed: 1,
            needs_reachable: 1.0,
            user_messages_verbatim_mean: 1.0,
            peak_share: 1.0,
            literals_lost: 12_345,
            ..PolicyResult::default()
        };
        let row = row(&policy, Paint::none());
        assert!(row.trim_end().chars().count() <= 100, "{} {row}", row.chars().count());
        assert!(HEAD.chars().count() <= 100);
    }
}
