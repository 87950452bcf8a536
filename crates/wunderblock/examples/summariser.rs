//! A custom summariser: your code writes the summary of the oldest part, the engine checks it, and the extractive
//! summary replaces any summary that is not good enough. Run with `cargo run -p wunderblock --example summariser`.

use std::sync::Arc;
use wunderblock::prelude::*;
use wunderblock::summarize::{CallFailure, Summarise, SummaryTask, SummaryText};
use wunderblock::{CompactOptions, Compactor};

/// Quotes lines of the prompt. A real summariser would call a model here.
struct Quoting;

impl Summarise for Quoting {
    fn name(&self) -> String {
        "quoting".to_owned()
    }

    fn window(&self) -> Option<Tokens> {
        None
    }

    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        let said = task.prompt.lines().filter(|line| line.contains("parser")).take(4);
        let text = said.map(|line| format!("- {line}\n")).collect::<String>();
        if !progress(text.len()) {
            return Err(CallFailure::Stopped);
        }
        Ok(SummaryText { text, ..SummaryText::default() })
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-summariser-{}.db", std::process::id()));
    wunderblock::block_on(async {
        let engine = Engine::open(&path).await?;
        let session = engine.session("refactoring").await?;
        for turn in 0..40 {
            let text = format!("Step {turn}: move the parser of part {turn} into its own file. ").repeat(12);
            session
                .append([Message::user(text), Message::assistant(format!("Part {turn} is done."))])
                .await?;
        }
        let compactor = Compactor { summariser: Some(Arc::new(Quoting)), ..Compactor::default() };
        let context = ContextOptions { window: Some(Tokens(12_000)), ..ContextOptions::uncompacted() };
        let wanted = CompactOptions::new(context, compactor);
        let done = session.compact(&wanted).await?;
        show(&format!("{}: {} → {} tokens", done.outcome.word(), done.before, done.after));
        for node in &done.nodes {
            show(&format!(
                "positions {}–{}, by {}: {} tokens",
                node.from, node.to, node.producer, node.after
            ));
        }
        Ok(())
    })
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
fn show(line: &str) {
    println!("{line}");
}
