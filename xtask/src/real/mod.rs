//! Measures the engine on real sessions: the requests that agents would get, and what they would find in them.
//!
//! Each session is imported into a ledger of its own for each window. Progress goes to stderr as rows of the tables,
//! so that a run that is stopped has shown what it measured.

pub(crate) mod corpus;
mod facts;
mod marks;
mod output;
pub(crate) mod recall;
mod requests;
mod rules;
mod table;
mod verdicts;

use crate::program::ChoreResult;
use clap::{Args, ValueEnum};
use corpus::{Half, RealSession};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use wunderblock::policy::DEFAULT;
use wunderblock_core::policy::Policy;

/// Number of sessions that are played if the arguments give none: all of them take hours under every policy.
const PLAYED: usize = 8;

/// Arguments of `real`.
#[derive(Args, Clone)]
pub(crate) struct RealArgs {
    /// Folders of sessions, and single transcripts
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only the sessions of this half, by the hash of their names
    #[arg(long)]
    half: Option<Half>,
    /// Only sessions with this word in their names; several may be given
    #[arg(long)]
    name: Vec<String>,
    /// Number of sessions, chosen by the hash of their names; 0 for all [default: all, and 8 where they are played]
    #[arg(long)]
    sample: Option<usize>,
    /// Windows, in tokens
    #[arg(long, value_delimiter = ',', default_value = "32000,64000")]
    windows: Vec<u64>,
    /// Policies to play for `recall`, names or TOML files, the one to judge first; `all` plays all presets
    #[arg(long, value_delimiter = ',', default_value = "balanced,off,manus,hermes,openmanus,claude-code")]
    policies: Vec<String>,
    /// Number of sessions measured at the same time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The tables to print
    #[arg(long, value_delimiter = ',', default_value = "requests,recall")]
    only: Vec<Table>,
    /// File for the rows of the tables as JSON lines, written as they are measured
    #[arg(long)]
    json: Option<PathBuf>,
}

impl RealArgs {
    /// Returns the policy to judge.
    fn policy(&self) -> &str {
        self.policies.first().map_or(DEFAULT, String::as_str)
    }

    /// Returns the same for what does not depend on the window.
    fn once(&self) -> Self {
        Self { windows: vec![0], ..self.clone() }
    }
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Table {
    Requests,
    Recall,
    Rules,
    Facts,
    Verdicts,
    Output,
    /// The small table of the README, from the sessions of `recall`
    Comparison,
}

/// Measures the sessions and returns the tables as Markdown.
pub(crate) fn run(args: &RealArgs) -> ChoreResult<String> {
    let mut sessions = corpus::sessions(&args.paths)?;
    sessions.retain(|session| args.half.is_none_or(|half| session.half() == half));
    sessions.retain(|session| {
        args.name.is_empty() || args.name.iter().any(|word| session.name.contains(word.as_str()))
    });
    if let Some(count) = args.sample {
        sessions = corpus::sample(sessions, count);
    }
    let mut out = format!("{} sessions.\n", sessions.len());
    for table in &args.only {
        out.push_str(&match table {
            Table::Requests => requests_table(args, &sessions)?,
            Table::Recall => recall_table(args, &sessions)?,
            Table::Rules => rules_table(args, &sessions)?,
            Table::Facts => facts_table(args, &sessions)?,
            Table::Verdicts => verdicts_table(args, &sessions)?,
            Table::Output => output_table(args, &sessions)?,
            Table::Comparison => comparison_table(args, &sessions)?,
        });
    }
    Ok(out)
}

fn requests_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let policy = args.policy();
    say(requests::HEAD);
    let rows: Vec<requests::RequestRow> = each(args, sessions, |session, window| {
        let rows = requests::rows(session, window, policy)?;
        rows.iter().for_each(|row| say(&format!("{}\n", requests::line(row))));
        keep(args, &rows)?;
        Ok(rows)
    })?;
    let lines: String = rows.iter().map(|row| format!("{}\n", requests::line(row))).collect();
    Ok(format!("\n## Requests under `{policy}`\n\n{}\n{}{lines}", requests::totals(&rows)?, requests::HEAD))
}

/// Plays the sessions of the sample under the policies.
fn played(
    args: &RealArgs,
    sessions: &[RealSession],
    policies: &[Arc<Policy>],
) -> ChoreResult<Vec<recall::RecallRow>> {
    let sessions = corpus::sample(sessions.to_vec(), args.sample.unwrap_or(PLAYED));
    say(&recall::head(policies));
    each(args, &sessions, |session, window| {
        let row = recall::row(session, window, policies)?;
        row.iter().for_each(|row| say(&format!("{}\n", recall::line(row))));
        keep(args, row.as_slice())?;
        Ok(row)
    })
}

fn comparison_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let policies = recall::policies(&args.policies)?;
    let rows = played(args, sessions, &policies)?;
    Ok(format!("\n{}", recall::comparison(&rows, &policies)?))
}

fn output_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let rows: Vec<output::OutputRow> = each(&args.once(), sessions, |session, _| {
        let row = output::row(session)?;
        keep(args, std::slice::from_ref(&row))?;
        Ok([row])
    })?;
    Ok(format!("\n## Tool results, reduced\n\n{}", output::totals(&rows)?))
}

fn recall_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let policies = recall::policies(&args.policies)?;
    let head = recall::head(&policies);
    let rows = played(args, sessions, &policies)?;
    let lines: String = rows.iter().map(|row| format!("{}\n", recall::line(row))).collect();
    Ok(format!("\n## Recall\n{}\n{head}{lines}", recall::totals(&rows, &policies)?))
}

fn rules_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let rows: Vec<rules::RuleRow> = each(args, sessions, |session, window| {
        let rows = rules::rows(session, window, &say)?;
        keep(args, &rows)?;
        Ok(rows)
    })?;
    Ok(format!("\n## Standing rules\n\n{}", rules::totals(&rows)?))
}

fn facts_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let policy = args.policy();
    let rows: Vec<facts::FactsRow> = each(&args.once(), sessions, |session, _| {
        let rows = facts::rows(session, policy)?;
        keep(args, &rows)?;
        Ok(rows)
    })?;
    Ok(format!(
        "\n## Facts of agents' own summaries in ours, at most 3,000 tokens\n\n{}",
        facts::totals(&rows)?
    ))
}

fn verdicts_table(args: &RealArgs, sessions: &[RealSession]) -> ChoreResult<String> {
    let rows: Vec<verdicts::VerdictRow> = each(args, sessions, |session, window| {
        let rows = verdicts::rows(session, window, &say)?;
        keep(args, &rows)?;
        Ok(rows)
    })?;
    Ok(format!("\n## Verdicts\n\n{}", verdicts::totals(&rows)?))
}

/// Measures every session in every window, on `--jobs` threads. A session that cannot be measured is named, and the
/// others go on.
fn each<T: Send, Rows: IntoIterator<Item = T>>(
    args: &RealArgs,
    sessions: &[RealSession],
    measure: impl Fn(&RealSession, u64) -> ChoreResult<Rows> + Sync,
) -> ChoreResult<Vec<T>> {
    let tasks: Vec<(&RealSession, u64)> = args
        .windows
        .iter()
        .flat_map(|window| sessions.iter().map(move |session| (session, *window)))
        .collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                while let Some((at, (session, window))) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    tasks.get(at).map(|task| (at, *task))
                } {
                    match measure(session, window) {
                        Ok(rows) => {
                            let rows: Vec<T> = rows.into_iter().collect();
                            found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, rows));
                        }
                        Err(error) => say(&format!("{} at {window}: {error}\n", session.name)),
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().flat_map(|(_, rows)| rows).collect())
}

/// Shows progress. The tables on stdout are complete without it.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Appends rows to the file for JSON lines.
fn keep<T: serde::Serialize>(args: &RealArgs, rows: &[T]) -> ChoreResult<()> {
    let Some(path) = &args.json else { return Ok(()) };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    for row in rows {
        writeln!(file, "{}", serde_json::to_string(row)?)?;
    }
    Ok(())
}
