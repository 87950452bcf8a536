//! Formats the results of a simulation for people.

use crate::drawing::columns::{fit, pad, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use wunderblock::catalog::MicroDollars;
use wunderblock::{PairedVerdict, PolicyResult, SimulatedHistory, Simulation, SummaryWriter};
use wunderblock_core::stub::grouped;

/// Maximum width of a policy's name, in columns.
const NAME: usize = 13;
/// Maximum number of sessions listed separately.
const LISTED: usize = 8;

/// A column of the table: its head, its width, the function that fills its cells, and its explanation.
struct TableColumn {
    head: &'static str,
    wide: usize,
    cell: fn(&PolicyResult) -> String,
    about: &'static str,
}

/// All columns, the most informative first. Only columns that fit into the width are shown.
const COLUMNS: [TableColumn; 19] = [
    TableColumn {
        head: "recall",
        wide: 6,
        cell: |policy| percent(policy.far.recall_per_reply),
        about: "% of the far references of a reply (names, paths, numbers, ids last said more than 8,000 tokens ago) that an entry or a meaningful line of the request still states; mean over replies",
    },
    TableColumn { head: "difference", wide: 12, cell: difference, about: "" },
    // This column is explained together with the difference, by `interval`.
    TableColumn { head: "", wide: 4, cell: verdict, about: "" },
    TableColumn {
        head: "sum",
        wide: 5,
        cell: |policy| percent(policy.far.recall),
        about: "the same over all references, so that replies with many count more",
    },
    TableColumn {
        head: "near",
        wide: 5,
        cell: |policy| percent(policy.near.recall_per_reply),
        about: "as recall, for what was said later than that",
    },
    TableColumn {
        head: "reach",
        wide: 5,
        cell: |policy| percent(policy.far.reach_per_reply),
        about: "as recall, or on the first page (2,000 tokens) of a read that a line of the request names",
    },
    TableColumn {
        head: "cost",
        wide: 8,
        cell: |policy| policy.cost.map_or_else(|| "—".to_owned(), dollars),
        about: "of all requests at catalog prices with caching, without the answers",
    },
    TableColumn {
        head: "words",
        wide: 5,
        cell: |policy| whole(policy.user_words_share),
        about: "% of the words of the user's turns so far that stand in the request as they were said",
    },
    TableColumn {
        head: "cuts",
        wide: 5,
        cell: |policy| policy.compactions.to_string(),
        about: "compactions that changed something",
    },
    TableColumn {
        head: "again",
        wide: 5,
        cell: |policy| policy.repeated_reads.to_string(),
        about: "files read again whose earlier result was no longer shown",
    },
    TableColumn {
        head: "lists",
        wide: 5,
        cell: |policy| percent(policy.far.listed),
        about: "% of the far references that stand in bare lists only",
    },
    TableColumn {
        head: "next",
        wide: 4,
        cell: |policy| if policy.needed > 0 { whole(policy.needs_reachable) } else { "–".to_owned() },
        about: "% of what the three calls after each compaction need (paths, ids, replaced texts) that is shown or one read away",
    },
    TableColumn {
        head: "beats",
        wide: 5,
        cell: |policy| format!("{}/{}", policy.dominates.len(), policy.dominated_by.len()),
        about: "policies with less recall beyond chance that cost at least 95 % as much / policies that beat this one",
    },
    TableColumn {
        head: "sent",
        wide: 7,
        cell: |policy| short(policy.tokens_sent),
        about: "tokens of all requests",
    },
    TableColumn {
        head: "cached",
        wide: 6,
        cell: |policy| {
            format!("{} %", (policy.cached_tokens * 100).checked_div(policy.tokens_sent).unwrap_or_default())
        },
        about: "% of these tokens in the provider's cache",
    },
    TableColumn {
        head: "tries",
        wide: 5,
        cell: |policy| policy.rejected.to_string(),
        about: "compactions that changed nothing",
    },
    TableColumn {
        head: "peak",
        wide: 4,
        cell: |policy| whole(policy.peak_share),
        about: "% of the limit that the largest request takes",
    },
    TableColumn {
        head: "lost",
        wide: 5,
        cell: |policy| policy.literals_lost.to_string(),
        about: "names that are neither in the last request nor one read away",
    },
    TableColumn {
        head: "time",
        wide: 7,
        cell: |policy| {
            format!("{:.1} s", f64::from(u32::try_from(policy.time_ms).unwrap_or(u32::MAX)) / 1_000.0)
        },
        about: "spent on building and compacting",
    },
];

/// Formats the report for a given width, in columns.
pub(super) fn text(found: &Simulation, per_turn: bool, wide: usize, paint: Paint) -> String {
    let mut out = String::new();
    for line in heading(found, paint) {
        out.push_str(&wrap(&line, wide.max(80), 0));
    }
    out.push_str(&sessions(found));
    let columns = shown(wide);
    let head: String = columns.iter().map(|column| format!(" {:>1$}", column.head, column.wide)).collect();
    out.push_str(&format!("\n{}\n", paint.dim(&format!("{}{head}", pad("policy", NAME)))));
    for policy in &found.policies {
        out.push_str(&row(policy, columns, paint));
    }
    if per_turn {
        out.push('\n');
        let limit = found.histories.iter().flat_map(|one| &one.limits).copied().max().unwrap_or_default();
        for policy in &found.policies {
            let bars = bars(&policy.series, limit, wide.saturating_sub(NAME + 2));
            out.push_str(&format!("{}  {}\n", name(policy), paint.dim(&bars)));
        }
    }
    out.push('\n');
    out.push_str(&notes(found, columns, wide.clamp(80, 100)));
    out
}

/// Returns the columns that fit into the width.
fn shown(wide: usize) -> &'static [TableColumn] {
    let mut used = NAME;
    let fits = |column: &&TableColumn| {
        used += 1 + column.wide;
        used <= wide.max(80)
    };
    let count = COLUMNS.iter().take_while(fits).count();
    COLUMNS.get(..count).unwrap_or(&COLUMNS)
}

fn heading(found: &Simulation, paint: Paint) -> Vec<String> {
    let Some(first) = found.histories.first() else { return Vec::new() };
    let what = match found.histories.as_slice() {
        [one] if one.sessions > 1 => {
            format!("{} and {} more, one after the other", clean(&one.session), grouped(one.sessions - 1))
        }
        [one] => clean(&one.session),
        many => {
            let silent = match found.silent {
                0 => String::new(),
                silent => format!(", {} without a reply left out", grouped(silent)),
            };
            let joined = match many.iter().filter(|one| one.sessions > 1).count() {
                0 => String::new(),
                joined => format!(", {} of them conversations played as one", grouped(joined as u64)),
            };
            format!("{} sessions, each by itself{joined}{silent}", grouped(many.len() as u64))
        }
    };
    let same = |of: fn(&SimulatedHistory) -> String| {
        let one = of(first);
        if found.histories.iter().all(|other| of(other) == one) { one } else { "each its own".to_owned() }
    };
    let windows = if found.windows > 1 {
        format!(", in {} windows from 12 % below to 12 % above", grouped(found.windows))
    } else {
        same(|one| format!(", {} for a request", grouped(one.limits.first().copied().unwrap_or_default())))
    };
    let size = found.summary_tokens.map(|size| format!(" · every summary {} tokens", grouped(size)));
    vec![
        format!(
            "{} · {} · window {}{windows}{}",
            paint.bold(&what),
            clean(&same(|one| one.model.clone())),
            same(|one| grouped(one.window)),
            size.unwrap_or_default(),
        ),
        format!(
            "{} over a history of {} tokens; {} in {} (at most {:.0} % in one), {} near ones; {}",
            plural(found.requests, "request", "requests"),
            grouped(found.history_tokens),
            plural(found.far_references, "far reference", "far references"),
            plural(found.far_replies, "reply", "replies"),
            found.largest_reply * 100.0,
            grouped(found.near_references),
            plural(found.rereads, "repeated read", "repeated reads"),
        ),
    ]
}

/// Lists the sessions with the most far references, if there are several sessions.
fn sessions(found: &Simulation) -> String {
    if found.histories.len() < 2 {
        return String::new();
    }
    let mut all: Vec<&SimulatedHistory> =
        found.histories.iter().filter(|one| one.far_references > 0).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.far_references));
    let mut out = String::new();
    for one in all.iter().take(LISTED) {
        let base = one.policies.iter().find(|policy| policy.name == found.against);
        out.push_str(&format!(
            "  {:>6} far in {:>4}, {} recalls {:>5}: {}\n",
            grouped(one.far_references),
            grouped(one.far_replies),
            clean(&found.against),
            base.map_or_else(String::new, |policy| percent(policy.far.recall_per_reply)),
            fit(&clean(&one.session), 37),
        ));
    }
    if all.len() > LISTED {
        out.push_str(&format!("  and {} with fewer\n", grouped((all.len() - LISTED) as u64)));
    }
    out
}

fn name(policy: &PolicyResult) -> String {
    pad(&fit(&clean(&policy.name), NAME + 1), NAME)
}

fn row(policy: &PolicyResult, columns: &[TableColumn], paint: Paint) -> String {
    let mut line = paint.bold(&name(policy)).to_string();
    for column in columns {
        let cell = (column.cell)(policy);
        line.push_str(&format!(" {cell:>0$}", column.wide));
    }
    if policy.refused > 0 {
        line.push_str(&format!("  {} could not be built", policy.refused));
    }
    if policy.over_budget > 0 {
        line.push_str(&format!("  {} OVER BUDGET", policy.over_budget));
    }
    line.push('\n');
    line
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn whole(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Formats the interval of the difference, such as `-0.4…+4.6`; empty if unknown.
fn difference(policy: &PolicyResult) -> String {
    policy.difference.map_or_else(String::new, |found| {
        let interval = found.recall_per_reply;
        format!("{:+.1}…{:+.1}", interval.low * 100.0, interval.high * 100.0)
    })
}

fn verdict(policy: &PolicyResult) -> String {
    let word = policy.difference.map_or("", |found| match found.verdict {
        PairedVerdict::Won => "won",
        PairedVerdict::Lost => "lost",
        PairedVerdict::Open => "–",
    });
    word.to_owned()
}

/// Formats a price, rounded to cents, for example: `$1.23`.
fn dollars(micro: u64) -> String {
    if micro < 10_000 {
        return MicroDollars(micro).to_string();
    }
    let cents = micro.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

/// Formats a number of tokens, for example: `950`, `12.3k`, `4.56M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}.{}k", tokens / 1_000, tokens % 1_000 / 100),
        _ => format!("{}.{:02}M", tokens / 1_000_000, tokens % 1_000_000 / 10_000),
    }
}

/// Draws a line of bars. Each bar shows the largest request of its turns.
fn bars(series: &[u64], limit: u64, columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = series.len().div_ceil(columns.max(1)).max(1);
    let high = |turns: &[u64]| turns.iter().copied().max().unwrap_or_default();
    let height = |tokens: u64| usize::try_from(tokens.saturating_mul(8) / limit.max(1)).unwrap_or(usize::MAX);
    series.chunks(each).filter_map(|turns| HEIGHTS.get(height(high(turns)).min(7))).collect()
}

/// Number of columns before an explanation, taken by the name that it explains.
const TERM: usize = 12;

/// Returns the explanations that a reader of the table needs.
fn notes(found: &Simulation, columns: &[TableColumn], wide: usize) -> String {
    let sent: u64 = found.policies.iter().map(|policy| policy.requests).sum();
    let over: u64 = found.policies.iter().map(|policy| policy.over_budget).sum();
    let mut out = wrap(&format!("{} requests sent, {} over budget.", grouped(sent), grouped(over)), wide, 0);
    for line in equal(found) {
        out.push_str(&wrap(&line, wide, 0));
    }
    out.push_str(&wrap(&writers(found), wide, 0));
    out.push('\n');
    let mut term = |name: &str, about: &str| {
        let lines = wrap(about, wide, TERM);
        out.push_str(&format!("{}{}", pad(name, TERM), lines.get(TERM..).unwrap_or(&lines)));
    };
    for column in columns.iter().filter(|column| !column.head.is_empty()) {
        match column.head {
            "difference" => term(column.head, &interval(found)),
            head => term(head, column.about),
        }
    }
    out
}

/// Explains what the intervals are computed from.
fn interval(found: &Simulation) -> String {
    let against = clean(&found.against);
    let sessions = found.histories.iter().filter(|one| one.far_replies > 0).count();
    if found.policies.iter().all(|policy| policy.difference.is_none()) {
        return format!("unknown: too few replies have far references to compare with {against}");
    }
    let drawn = match sessions {
        1 => "blocks of replies of this one session: nothing about other sessions".to_owned(),
        many => format!("{} sessions, and blocks of replies in each", grouped(many as u64)),
    };
    format!(
        "recall minus that of {against} on the same replies: the range of 95 % of 2,000 resamples of {drawn}. won, \
         lost: the range is above or below 0"
    )
}

/// Explains which rows are equal, and why.
fn equal(found: &Simulation) -> Vec<String> {
    let mut lines = Vec::new();
    for first in &found.policies {
        let twins = found.policies.iter().filter(|policy| policy.same_as.as_deref() == Some(&*first.name));
        let twins: Vec<&PolicyResult> = twins.collect();
        if twins.is_empty() {
            continue;
        }
        let names: Vec<String> = twins.iter().map(|policy| clean(&policy.name)).collect();
        let why: Vec<String> = twins.iter().chain([&first]).filter_map(|policy| idle(policy)).collect();
        let why = if why.is_empty() { "they did the same".to_owned() } else { why.join("; ") };
        lines.push(format!("{} = {}: {why}.", names.join(", "), clean(&first.name)));
    }
    lines
}

/// Explains why a policy never compacted. `None` if it did.
fn idle(policy: &PolicyResult) -> Option<String> {
    let name = clean(&policy.name);
    if policy.compactions > 0 {
        return None;
    }
    Some(match (policy.rejected, policy.levels.as_slice()) {
        (0, []) => format!("{name} never compacts"),
        (0, levels) => format!("{name} never reached {}", levels.join(", ")),
        (tries, levels) => {
            format!("{name}, at {}, tried {tries} times and changed nothing", levels.join(", "))
        }
    })
}

/// Describes who wrote the summaries of each policy, and their number and size.
fn writers(found: &Simulation) -> String {
    let kinds = [
        (SummaryWriter::Extractive, "extractive"),
        (SummaryWriter::Model, "by a model"),
        (SummaryWriter::Nobody, "none"),
    ];
    let mut parts = Vec::new();
    for (kind, word) in kinds {
        let mut targets: Vec<u64> = found
            .policies
            .iter()
            .filter(|policy| policy.writer == kind)
            .map(|policy| policy.summary_target)
            .collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let own = found
                .policies
                .iter()
                .filter(|policy| policy.writer == kind && policy.summary_target == target);
            let mut names: Vec<String> = own.map(|policy| made(policy, kind)).collect();
            names.sort_unstable();
            let size =
                if target == 0 { String::new() } else { format!(" of about {} tokens", grouped(target)) };
            parts.push(format!("{word}{size}: {}", names.join(", ")));
        }
    }
    format!("Summaries (number, mean tokens): {}.", parts.join(" · "))
}

fn made(policy: &PolicyResult, kind: SummaryWriter) -> String {
    let name = clean(&policy.name);
    match policy.summary_tokens.checked_div(policy.summaries) {
        Some(mean) => format!("{name} ({}, {})", grouped(policy.summaries), grouped(mean)),
        None if kind == SummaryWriter::Nobody => name,
        None => format!("{name} (0)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock::{PairedDifference, PolicyDifference, RecallShares};

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

    fn busy(name: &str) -> PolicyResult {
        let far = RecallShares {
            recall: 1.0,
            recall_per_reply: 1.0,
            reach_per_reply: 1.0,
            listed: 1.0,
            ..RecallShares::default()
        };
        let recall_per_reply = PairedDifference { seen: -0.1, low: -0.123, high: 0.456 };
        PolicyResult {
            name: name.to_owned(),
            tokens_sent: 123_456_789,
            time_ms: 12_345,
            cost: Some(1_234_567_890),
            compactions: 1_234,
            rejected: 12_345,
            far,
            near: far,
            needed: 1,
            needs_reachable: 1.0,
            user_words_share: 1.0,
            peak_share: 1.0,
            literals_lost: 12_345,
            difference: Some(PolicyDifference { recall_per_reply, ..PolicyDifference::default() }),
            ..PolicyResult::default()
        }
    }

    #[test]
    fn the_table_takes_the_columns_there_are() {
        for (wide, least) in [(80, "cuts"), (100, "beats"), (140, "time"), (160, "time"), (40, "cuts")] {
            let columns = shown(wide);
            assert_eq!(columns.last().map(|column| column.head), Some(least), "{wide}");
            let row = row(&busy("a-policy-with-a-long-name"), columns, Paint::none());
            // A cost in thousands is one column wider.
            assert!(row.trim_end().chars().count() <= wide.max(80) + 2, "{} {row}", row.chars().count());
        }
    }

    #[test]
    fn equal_rows_say_why() {
        let idle = |name: &str, levels: &[&str]| PolicyResult {
            name: name.to_owned(),
            levels: levels.iter().map(|level| (*level).to_owned()).collect(),
            same_as: (name != "off").then(|| "off".to_owned()),
            ..PolicyResult::default()
        };
        let policies = vec![idle("off", &[]), idle("openmanus", &["100 messages"])];
        let found = Simulation { policies, ..Simulation::default() };
        assert_eq!(
            equal(&found),
            ["openmanus = off: openmanus never reached 100 messages; off never compacts."]
        );
    }
}
