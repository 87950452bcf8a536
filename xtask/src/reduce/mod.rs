//! Measures what reduction saves on real outputs, and what it keeps: one line per kind, and one per file. For
//! transcripts and the corpus, the tool results are measured, grouped by what their commands asked for.
//!
//! All checks are independent of the reduction. The facts that a reader needs are found by separate rules
//! ([`facts`]), not by the readers that made the choice. To prove that nothing is missing without a mark, the text is
//! put together again from the source and the gaps ([`check`]).

mod check;
mod errors;
mod facts;
mod measure;
pub(crate) mod scale;
mod table;
mod tool_figures;
mod tool_result;

use crate::program::ChoreResult;
use clap::Args;
use measure::measure;
use std::path::{Path, PathBuf};
use tool_figures::{MarkRules, ToolFigures};
use tool_result::{ToolClaim, tool_texts};
use wunderblock_reduce::{Options, reduce};

/// Arguments of `reduce`.
#[derive(Args)]
pub(crate) struct MeasureArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print what does not stay visible
    #[arg(long, conflicts_with = "json")]
    missing: bool,
    /// Print a line for each tool result, what saves the least first
    #[arg(long, conflicts_with_all = ["json", "missing"])]
    each: bool,
    /// Reduce generated inputs at once, twice and four times the size; print time per byte, memory, and what 20 KB cost
    #[arg(long, conflicts_with_all = ["json", "missing"])]
    scale: bool,
    /// The smallest size of generated inputs
    #[arg(long, default_value_t = scale::BYTES, requires = "scale")]
    bytes: usize,
    /// The smallest tool result of a transcript that is measured, in bytes
    #[arg(long, default_value_t = tool_result::MIN_BYTES)]
    least: usize,
    /// Files, transcripts (each tool result of them) and folders; with --scale names of inputs [default: all of them]
    #[arg(required_unless_present = "scale")]
    paths: Vec<String>,
}

/// Reduces every file below the folders and returns the figures.
pub(crate) fn run(args: &MeasureArgs) -> ChoreResult<String> {
    if args.scale {
        return scale::run(args.bytes, &args.paths);
    }
    let mut files = Vec::new();
    for path in &args.paths {
        find(Path::new(path), &mut files)?;
    }
    files.sort();
    let rules = facts::FactRules::read()?;
    let (error_rules, mark_rules) = (errors::ErrorRules::read()?, MarkRules::read()?);
    let (mut rows, mut results) = (Vec::new(), Vec::new());
    for file in files {
        let bytes = std::fs::read(&file)?;
        match tool_texts(&file, &bytes, args.least) {
            Some(texts) => {
                results.extend(texts.iter().map(|text| ToolFigures::of(text, &error_rules, &mark_rules)));
            }
            None if bytes.is_empty() => {}
            None => rows.push(measure(file.to_string_lossy().into_owned(), &bytes, &rules)),
        }
    }
    Ok(match args {
        MeasureArgs { json: true, .. } => table::json(&rows)?,
        MeasureArgs { missing: true, .. } => table::missing(&rows),
        MeasureArgs { each: true, .. } => tool_figures::each(results),
        _ => {
            let files = if rows.is_empty() { String::new() } else { table::text(&rows) };
            let results =
                if results.is_empty() { String::new() } else { tool_figures::tables(&results, args.least) };
            files + &results
        }
    })
}

/// What reduction saves on one tool result.
pub(crate) struct ToolSaving {
    /// Whether a command wrote it, and not the read of a file or a selection.
    pub(crate) is_command: bool,
    pub(crate) tokens: u64,
    /// Tokens at the level `fold`.
    pub(crate) folded: u64,
}

/// Reduces every tool result of a transcript, of any length, with the claim of its command.
pub(crate) fn savings(file: &Path) -> ChoreResult<Vec<ToolSaving>> {
    let texts = tool_texts(file, &std::fs::read(file)?, 1).unwrap_or_default();
    let saving = |text: &tool_result::ToolText| {
        let (command, failed) = (text.command.as_deref(), text.failed);
        let options = Options {
            handle: Some(measure::HANDLE),
            count: &measure::exact,
            command,
            failed,
            ..Options::default()
        };
        let folded = reduce(&text.bytes, &options);
        let is_command = text.runs && text.claim() == ToolClaim::Command;
        ToolSaving { is_command, tokens: folded.tokens_before, folded: folded.tokens_after }
    };
    Ok(texts.iter().map(saving).collect())
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> ChoreResult<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        // `SOURCE.md` and the files `.out` and `.why` describe a folder or its results; they are not outputs of
        // tools.
        let is_result = path.extension().is_some_and(|end| end == "out" || end == "why");
        if path.file_name().is_none_or(|name| name != "SOURCE.md") && !is_result {
            find(&path, files)?;
        }
    }
    Ok(())
}
