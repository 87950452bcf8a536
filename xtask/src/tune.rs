//! Compares policies with a baseline over many sessions, and again with each fold of the sessions left out.
//!
//! A constant looks better on the sessions it was chosen on than it is. Therefore, for each fold, the policy that
//! gains the most on all other folds is chosen and then measured on the fold that was left out.

use crate::program::ChoreResult;
use crate::real;
use crate::real::recall::{interval, percent, verdict};
use clap::Args;
use futures_executor::block_on;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use wunderblock::policy::{DEFAULT, Policies};
use wunderblock::{ContextOptions, Engine, Session, SimulateOptions, Simulation};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;

/// Arguments of `tune`.
#[derive(Args)]
pub(crate) struct TuneArgs {
    /// Transcripts, and folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// A policy file or a preset; several may be given
    #[arg(long, required = true)]
    policy: Vec<String>,
    /// The policy file or preset they are compared with
    #[arg(long, default_value = DEFAULT)]
    against: String,
    /// Windows, each a table of its own
    #[arg(long, value_delimiter = ',', default_value = "32000,64000")]
    window: Vec<u64>,
    /// Windows around each, spread evenly from 12 % below to 12 % above
    #[arg(long, default_value_t = 3)]
    jitter: u64,
    /// Files whose path has this word are one fold: parts of one session, runs of one task; a file is a fold otherwise
    #[arg(long)]
    fold: Vec<String>,
}

/// Folds by name, each with the sessions of one history.
type Folded = Vec<(String, Vec<Session>)>;

/// Returns a Markdown table for each window.
pub(crate) fn table(args: &TuneArgs) -> ChoreResult<String> {
    let begun = Instant::now();
    let folder = tempfile::tempdir()?;
    let engine = block_on(Engine::open(folder.path().join("ledger.db")))?;
    let folded = read(&engine, args)?;
    let (policies, against) = policies(args)?;
    let (folds, histories): (Vec<String>, Vec<Vec<Session>>) = folded.into_iter().unzip();
    let mut out = String::new();
    for window in &args.window {
        let context = ContextOptions { window: Some(Tokens(*window)), ..ContextOptions::uncompacted() };
        let options = SimulateOptions {
            context,
            policies: policies.clone(),
            against: against.clone(),
            windows: args.jitter,
            recall: false,
            summary_tokens: None,
            summariser: None,
            progress: None,
        };
        let Some(found) = block_on(engine.simulate(&histories, &options))? else { continue };
        // The simulation omits histories without model replies, so histories are matched by their first session.
        let first =
            |nth: usize| histories.get(nth).and_then(|one| one.first()).map(|one| one.id().to_string());
        let fold_of: BTreeMap<String, &str> =
            folds.iter().enumerate().filter_map(|(nth, fold)| Some((first(nth)?, fold.as_str()))).collect();
        write_window(&mut out, *window, &found, &fold_of)?;
    }
    write!(out, "{} histories in {} s.", histories.len(), begun.elapsed().as_secs())?;
    Ok(out)
}

fn write_window(
    out: &mut String,
    window: u64,
    found: &Simulation,
    fold_of: &BTreeMap<String, &str>,
) -> ChoreResult<()> {
    writeln!(
        out,
        "## {window} tokens, against {}\n\n{} histories, {} far references in {} replies, {:.0} % of them in one\n",
        found.against,
        found.histories.len(),
        found.far_references,
        found.far_replies,
        found.largest_reply * 100.0
    )?;
    out.push_str("| policy | recall per reply | difference (95 %) | sum | reach | near | words | cost | |\n|---|---|---|---|---|---|---|---|---|\n");
    for policy in &found.policies {
        let far = policy.far;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            policy.name,
            percent(far.recall_per_reply),
            policy.difference.map_or_else(|| "–".to_owned(), |found| interval(found.recall_per_reply)),
            percent(far.recall),
            percent(far.reach_per_reply),
            percent(policy.near.recall_per_reply),
            percent(policy.user_words_share),
            policy.difference.map_or_else(|| "–".to_owned(), |found| format!("{:+.1} %", found.cost * 100.0)),
            policy.difference.map_or("", |found| verdict(&found)),
        )?;
    }
    write_folds(out, found, fold_of)
}

/// Writes one row per fold and policy: the policy's result over the other folds, and its result on the fold itself.
fn write_folds(out: &mut String, found: &Simulation, fold_of: &BTreeMap<String, &str>) -> ChoreResult<()> {
    let fold = |session: &str| fold_of.get(session).copied().unwrap_or_default();
    let mut folds: Vec<&str> =
        found.histories.iter().filter(|one| one.far_replies > 0).map(|one| fold(&one.session)).collect();
    folds.sort_unstable();
    folds.dedup();
    out.push_str("\n| left out | replies | policy | difference over the rest (95 %) | difference on it | chosen |\n|---|---|---|---|---|---|\n");
    let mut held = (0.0, 0_u32);
    for left in folds {
        let rest = found.over(|one| fold(&one.session) != left);
        let own = found.over(|one| fold(&one.session) == left);
        let replies: u64 =
            found.histories.iter().filter(|one| fold(&one.session) == left).map(|one| one.far_replies).sum();
        let gain = |name: &str| rest.iter().find(|one| one.name == name).map_or(0.0, |one| one.gain);
        let best = rest.iter().map(|one| one.gain).fold(0.0, f64::max);
        for policy in own.iter().filter(|one| one.name != found.against) {
            let over = rest.iter().find(|one| one.name == policy.name).and_then(|one| one.difference);
            let over = over.map_or_else(
                || "too few".to_owned(),
                |found| format!("{} {}", interval(found.recall_per_reply), verdict(&found)),
            );
            let chosen = best > 0.0 && (gain(&policy.name) - best).abs() < f64::EPSILON;
            if chosen {
                held.0 += policy.gain * f64::from(u32::try_from(replies)?);
            }
            let (name, gain) = (&policy.name, policy.gain * 100.0);
            let mark = if chosen { "yes" } else { "" };
            writeln!(out, "| {left} | {replies} | {name} | {over} | {gain:+.1} | {mark} |")?;
        }
        held.1 += u32::try_from(replies)?;
    }
    let mean = if held.1 == 0 { 0.0 } else { held.0 / f64::from(held.1) };
    writeln!(
        out,
        "\nChosen without the fold and looked at on it: {:+.1} per reply on average.\n",
        mean * 100.0
    )?;
    Ok(())
}

/// Imports the sessions of the paths and returns each history with its fold.
fn read(engine: &Engine, args: &TuneArgs) -> ChoreResult<Folded> {
    let mut folded: Folded = Vec::new();
    for file in real::corpus::sessions(&args.paths)?.iter().filter_map(|session| session.snapshots.last()) {
        // Files that cannot be imported are skipped: a folder may contain files other than transcripts.
        let Ok(imported) = block_on(engine.import(file, None, &mut |_, _| {})) else { continue };
        let Some(first) = imported.sessions.first() else { continue };
        let histories = block_on(wunderblock::histories(&engine.session_by_id(first.clone()), false))?;
        let fold = fold(file, &args.fold);
        folded.extend(histories.into_iter().map(|history| (fold.clone(), history)));
    }
    // Two files may contain the same session.
    let mut seen = std::collections::HashSet::new();
    folded.retain(|(_, one)| one.first().is_some_and(|session| seen.insert(session.id().to_string())));
    Ok(folded)
}

/// Returns the fold of a file: the first fold word that its path contains, or its name.
fn fold(file: &Path, words: &[String]) -> String {
    let path = file.to_string_lossy();
    let name = || file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    words.iter().find(|word| path.contains(word.as_str())).cloned().unwrap_or_else(name)
}

/// Returns the policies, each under the name given on the command line.
fn policies(args: &TuneArgs) -> ChoreResult<(Vec<Arc<Policy>>, Box<str>)> {
    let mut typed: Vec<&str> = vec![&args.against];
    typed.extend(args.policy.iter().map(String::as_str).filter(|name| *name != args.against));
    let presets = Policies::embedded();
    let one = |text: &&str| -> ChoreResult<Arc<Policy>> {
        let policy = match presets.preset(text) {
            Some(preset) => Policy::clone(&preset),
            None => presets.parse(&std::fs::read_to_string(text)?, text)?.policy,
        };
        Ok(Arc::new(Policy { name: (*text).into(), ..policy }))
    };
    Ok((typed.iter().map(one).collect::<ChoreResult<Vec<_>>>()?, args.against.as_str().into()))
}

#[cfg(test)]
mod tests {
    use super::fold;
    use std::path::Path;

    #[test]
    fn parts_of_a_session_are_one_fold() {
        let words = ["marshmallow".to_owned()];
        assert_eq!(fold(Path::new("a/x__marshmallow-1867.traj"), &words), "marshmallow");
        assert_eq!(fold(Path::new("marshmallow/b.traj"), &words), "marshmallow");
        assert_eq!(fold(Path::new("a/other.traj"), &words), "other.traj");
    }
}
