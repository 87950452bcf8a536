//! Reports how full a lane's first request is, over transcripts that exceed their window.

use crate::program::ChoreResult;
use futures_executor::block_on;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wunderblock::{ContextOptions, Engine, Session};
use wunderblock_core::budget::{BudgetReport, Reason, Treatment};
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;

/// Windows to try, in tokens.
const WINDOWS: [u64; 6] = [8_000, 16_000, 32_000, 64_000, 128_000, 200_000];
/// Minimum share of the limit that a request uses, and minimum share of the used tokens that are verbatim, in
/// thousandths.
const FLOORS: (u64, u64) = (600, 500);

/// Figures of one session in one window.
struct FirstRequest {
    session: String,
    /// Used share of the limit, in thousandths.
    used: u64,
    /// Verbatim share of the used tokens, in thousandths.
    verbatim: u64,
}

/// Result of trying one session in one window.
enum Tried {
    /// The whole session fits into the window.
    Fits,
    /// No request can be built for the window.
    Refused,
    Built(FirstRequest),
}

/// Returns a Markdown table: for each window, the sessions that do not fit, and those below a minimum.
pub(crate) fn table(paths: &[PathBuf], policy: Option<&str>) -> ChoreResult<String> {
    let folder = tempfile::tempdir()?;
    let engine = block_on(Engine::open(folder.path().join("ledger.db")))?;
    let mut sessions = Vec::new();
    let mut refused = 0;
    for file in paths.iter().flat_map(|path| files(path)) {
        match block_on(engine.import(&file, None, &mut |_, _| {})) {
            Ok(imported) => sessions.extend(imported.sessions),
            Err(_) => refused += 1,
        }
    }
    sessions.sort_unstable();
    sessions.dedup();
    let mut found: BTreeMap<u64, Vec<FirstRequest>> = BTreeMap::new();
    for id in &sessions {
        let session = engine.session_by_id(id.clone());
        for window in WINDOWS {
            match first_request(&session, window, policy)? {
                // A session that fits this window also fits all larger ones.
                Tried::Fits => break,
                Tried::Refused => {}
                Tried::Built(first) => found.entry(window).or_default().push(first),
            }
        }
    }
    let mut out = String::from(
        "| window | sessions | used: least | median | word for word: least | median | below a floor |\n|---|---|---|---|---|---|---|\n",
    );
    for (window, rows) in &found {
        let (used, verbatim) = (spread(rows, |row| row.used), spread(rows, |row| row.verbatim));
        let below: Vec<String> =
            rows.iter().filter(|row| row.used < FLOORS.0 || row.verbatim < FLOORS.1).map(named).collect();
        let _ = writeln!(
            out,
            "| {window} | {} | {} | {} | {} | {} | {} |",
            rows.len(),
            part(used.0),
            part(used.1),
            part(verbatim.0),
            part(verbatim.1),
            below.join(", ")
        );
    }
    let _ = write!(out, "\n{} sessions; {refused} files were refused.", sessions.len());
    Ok(out)
}

/// Returns the files of a folder at any depth, or the path itself if it is a file.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths.iter().flat_map(|path| files(path)).collect()
}

/// Builds the first request of a session without recording it.
fn first_request(session: &Session, window: u64, policy: Option<&str>) -> ChoreResult<Tried> {
    let sized = |options: ContextOptions| ContextOptions { window: Some(Tokens(window)), ..options };
    let Ok(whole) = block_on(session.explain(sized(ContextOptions::uncompacted()))) else {
        return Ok(Tried::Refused);
    };
    // Other reasons leave an entry out of a request of any size.
    let is_room = |reason: Reason| matches!(reason, Reason::Budget | Reason::Stepped);
    if !whole.draft.report.left_out.iter().any(|run| is_room(run.reason)) {
        return Ok(Tried::Fits);
    }
    let mut options = sized(ContextOptions::default());
    if let (Some(name), Some(compactor)) = (policy, &mut options.compactor) {
        compactor.policy = wunderblock::policy::Policies::embedded().named(name)?;
    }
    let Ok(built) = block_on(session.explain(options)) else { return Ok(Tried::Refused) };
    let report = &built.draft.report;
    let session = session.id().to_string();
    Ok(Tried::Built(FirstRequest {
        session,
        used: thousandths(report.total_tokens, report.limit),
        verbatim: thousandths(verbatim(report), report.total_tokens),
    }))
}

fn verbatim(report: &BudgetReport) -> Tokens {
    // Only sections that hold messages of the conversation count.
    let said = [Section::System, Section::Transcript, Section::Prompt];
    let lines = report
        .entries
        .iter()
        .filter(|line| line.treatment == Treatment::Verbatim && said.contains(&line.section));
    lines.map(|line| line.tokens).sum()
}

fn thousandths(part: Tokens, whole: Tokens) -> u64 {
    part.0 * 1_000 / whole.0.max(1)
}

/// Returns the minimum and the median.
fn spread(rows: &[FirstRequest], of: impl Fn(&FirstRequest) -> u64) -> (u64, u64) {
    let mut values: Vec<u64> = rows.iter().map(of).collect();
    values.sort_unstable();
    let at = |index: usize| values.get(index).copied().unwrap_or_default();
    (at(0), at(values.len() / 2))
}

fn named(row: &FirstRequest) -> String {
    format!("{} {}/{}", row.session, part(row.used), part(row.verbatim))
}

fn part(thousandths: u64) -> String {
    format!("{}.{:02}", thousandths / 1_000, thousandths % 1_000 / 10)
}
