//! Progress bars on stderr.

use crate::args::Global;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wunderblock::{Engine, Error, Progress};

/// Counts and indexes waiting events, and shows a progress bar.
pub(crate) async fn catch_up(engine: &Engine, global: &Global) -> Result<(), Failure> {
    with_bar(global, "counting and indexing", async |on| engine.maintenance().catch_up(on).await).await?;
    if let Some((model, failure)) = engine.embedder().and_then(|own| Some((own.model(), own.failure()?))) {
        let line =
            format!("the embedder `{model}` failed: {failure}; `wunderblock doctor` says what waits for it");
        say(global, &clean(&line));
    }
    Ok(())
}

/// Runs work on events with a bar that shows its progress.
pub(crate) async fn with_bar<T>(
    global: &Global,
    message: &str,
    work: impl AsyncFnOnce(&mut (dyn FnMut(Progress) + Send)) -> Result<T, Error>,
) -> Result<T, Failure> {
    let bar = bar(global, message, "{msg} [{bar:32}] {pos}/{len} events {eta}");
    let done = work(&mut |Progress { done, total }| update(&bar, done, total)).await;
    bar.finish_and_clear();
    Ok(done?)
}

/// Creates a progress bar on stderr. The bar is hidden with `--quiet` and `--json`.
pub(crate) fn bar(global: &Global, message: &str, template: &str) -> ProgressBar {
    if global.quiet || global.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }
    bar.set_message(message.to_owned());
    bar
}

pub(crate) fn update(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
}
