//! `eval`: asks questions whose evidence is known, and reports how much of the evidence is found.

use crate::args::{EvalArgs, EvalSetArg, Global, LocomoArgs};
use crate::drawing::columns::{pad, plural};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::{answer, say};
use crate::output::exit::{Exit, Failure, wrong};
use crate::output::progress::{bar, update};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wunderblock::eval::{EVAL_TOKENS, EvalMeasures, EvalReport, EvalSet, OwnQuestions};
use wunderblock::{Engine, SearchOptions};
use wunderblock_settings::Settings;

/// Questions that no turn answers are measured apart, as LoCoMo's authors do.
const APART: [&str; 1] = ["adversarial"];

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &EvalArgs) -> Exit {
    let bar = bar(global, "asking", "{msg} [{bar:32}] {pos}/{len} questions {eta}");
    let mut progress = |done, of| update(&bar, done, of);
    let options = SearchOptions { meaning: wanted.without.is_none(), ..SearchOptions::default() };
    let asked = match &wanted.set {
        EvalSetArg::Locomo(wanted) => {
            let set = read_set(global, wanted)?;
            let folder = tempfile::tempdir()?;
            let engine = Engine::open(folder.path().join("ledger.db")).await?;
            set.ask(&engine, &options, &mut progress).await
        }
        EvalSetArg::Sessions(wanted) => {
            let engine = settings.read_only().await?;
            let each = usize::try_from(wanted.each).unwrap_or(usize::MAX);
            OwnQuestions { each, seed: wanted.seed }.ask(&engine, &options, &mut progress).await
        }
    };
    bar.finish_and_clear();
    let report = asked?.report(&APART);
    answer(global, &report, || table(&report, Paint::stdout()))
}

/// Reads the set of a file, or of the JSON files of a folder.
fn read_set(global: &Global, wanted: &LocomoArgs) -> Result<EvalSet, Failure> {
    let mut set = EvalSet::default();
    for path in files(&wanted.data)? {
        let bytes = std::fs::read(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        set.add_locomo(&name, &bytes)?;
    }
    if set.conversations.is_empty() {
        let place = wanted.data.display();
        return Err(wrong(format!("{place} has no JSON file; give the folder with locomo10.json")));
    }
    if set.unknown_evidence > 0 {
        let turns = plural(set.unknown_evidence as u64, "reference", "references");
        say(global, &format!("{turns} to evidence without such a turn, left out"));
    }
    Ok(set)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let is_json = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|end| end == "json");
    let mut files: Vec<PathBuf> = paths.into_iter().filter(is_json).collect();
    files.sort();
    Ok(files)
}

/// Returns the report as a table: a row for all questions, and one for each category.
fn table(report: &EvalReport, paint: Paint) -> String {
    // A category that is measured apart stands in brackets.
    let widest = report.categories.keys().map(|name| name.chars().count() + 2).max().unwrap_or(0);
    let mut out = paint.bold(&format!(
        "{}  questions     @5    @10    @20    @50    MRR  nDCG@10 │ {}\n",
        pad("", widest),
        EVAL_TOKENS.map(|tokens| format!("{tokens:>5}")).join(" ")
    ));
    let mut row = |name: &str, measures: &EvalMeasures| {
        let EvalMeasures { questions, recall_at_5, recall_at_10, recall_at_20, recall_at_50, .. } = measures;
        let shares =
            [recall_at_5, recall_at_10, recall_at_20, recall_at_50].map(|share| format!("{share:>6.3}"));
        let tokens: Vec<String> =
            measures.recall_at_tokens.values().map(|share| format!("{share:>5.3}")).collect();
        let _ = writeln!(
            out,
            "{}  {questions:>9} {} {:>6.3} {:>8.3} │ {}",
            pad(&clean(name), widest),
            shares.join(" "),
            measures.mrr,
            measures.ndcg_at_10,
            tokens.join(" ")
        );
    };
    row("all", &report.all);
    for (name, measures) in &report.categories {
        let is_apart = report.apart.contains(name);
        row(&if is_apart { format!("({name})") } else { name.clone() }, measures);
    }
    let [low, high] = report.all.recall_at_10_interval;
    let _ = write!(
        out,
        "\nShare of the evidence among the first hits (@), and within a number of tokens (right). @10 of all questions: \
         {:.3}, 95 % interval {low:.3} to {high:.3}. A question takes {} µs (median), {} µs (95 %).\n",
        report.all.recall_at_10, report.micros_p50, report.micros_p95
    );
    out
}
