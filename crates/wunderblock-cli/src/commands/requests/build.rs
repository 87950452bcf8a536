//! `context` and `explain`: build the next request, and report on it.

use crate::args::{BuildArgs, ContextArgs, DialectArg, Explain, Global};
use crate::commands::requests::{agent_view, find};
use crate::drawing::page::{self, Page};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_json};
use crate::output::console::{deliver, print, say};
use crate::output::exit::{Exit, Failure, wrong};
use crate::output::output_file::OutputFile;
use crate::output::progress::catch_up;
use crate::resolve::lookup::{lookup, one_position};
use crate::resolve::names::short;
use crate::resolve::typed::dialect;
use crate::showing::report::{next_step, picture};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::report::{RequestReport, request_text};
use wunderblock::{Built, ContextOptions, LaneBuilt, Session, Timeline};
use wunderblock_core::units::Seq;
use wunderblock_settings::{RequestChoice, Settings, context_options};

pub(crate) async fn context(global: &Global, settings: &Settings, wanted: ContextArgs) -> Exit {
    let options = ContextOptions {
        prompt: prompt(wanted.prompt)?,
        ..options(settings, &wanted.build, wanted.at, wanted.to)?
    };
    let engine = settings.write().await?;
    let (session, place) = lookup(global).session_at(&engine, &wanted.session.session).await?;
    let options = ContextOptions { at: one_position(wanted.at, place)?, ..options };
    let out = OutputFile::create(settings, &engine, wanted.out.as_deref()).await?;
    let to_stdout = out.as_ref().is_some_and(OutputFile::is_stdout);
    if options.at.is_some() && options.prompt.is_some() {
        return Err(wrong(
            "--prompt adds a turn to the newest request, and not to one of an earlier position",
        ));
    }
    if wanted.build.query.is_some() {
        catch_up(&engine, global).await?;
    } else {
        // The index finds what the newest turn names. Without it, the request is built as well.
        let _ = engine.maintenance().catch_up_briefly().await;
    }
    let built = if options.at.is_some() {
        session.explain(&options).await?
    } else {
        session.context(&options).await?
    };
    warn_of_overhead(global, &options, &built);
    let report = report(global, settings, &session, &built, to_stdout).await?;
    let is_text =
        wanted.out.as_deref().and_then(Path::extension).is_some_and(|end| end.eq_ignore_ascii_case("md"));
    let text = if is_text { Some(request_text(session.id().as_str(), &built.draft)?) } else { None };
    let request = text.as_deref().map_or(built.draft.body.as_slice(), str::as_bytes);
    deliver(out, request, &report)?;
    if let Some(path) = wanted.out.filter(|_| !to_stdout && !global.json) {
        print(&format!("request in {}\n", clean(&path.to_string_lossy())))?;
    }
    if !global.json
        && std::io::stderr().is_terminal()
        && let Some(next) = next_step(&short(&session).await?, &built)
    {
        say(global, &format!("next: {next}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns that `--harness` reserves no room, because no recorded usage shows how much the agent adds.
fn warn_of_overhead(global: &Global, options: &ContextOptions, built: &Built) {
    if options.harness && built.draft.overhead.is_none() {
        say(
            global,
            "no recorded usage of this model shows what the agent adds: --harness reserves no room for it",
        );
    }
}

async fn report(
    global: &Global,
    settings: &Settings,
    session: &Session,
    built: &Built,
    to_stderr: bool,
) -> Result<String, Failure> {
    if global.json {
        return Ok(format!(
            "{}\n",
            clean_json(&serde_json::to_string(&RequestReport::new(session.id().as_str(), built))?)
        ));
    }
    let paint = if to_stderr { Paint::stderr() } else { Paint::stdout() };
    let model = settings.catalog().nearest(&built.draft.model).filter(|_| !built.draft.model_known);
    Ok(picture(&short(session).await?, model, built, paint, global.verbose))
}

pub(crate) async fn explain(global: &Global, settings: &Settings, wanted: Explain) -> Exit {
    let mut options = ContextOptions {
        prompt: prompt(wanted.prompt.clone())?,
        ..options(settings, &wanted.build, wanted.at, wanted.to)?
    };
    let (engine, session, place) = lookup(global).reading_at(settings, &wanted.session.session).await?;
    options.at = one_position(wanted.at, place)?;
    if wanted.agent_view {
        return agent_view::run(global, &session, options.at, wanted.find.as_deref()).await;
    }
    let page = OutputFile::create(settings, &engine, wanted.html.as_deref()).await?;
    // If no option selects a lane, the lane of the last recorded request is explained with the lane's own policy.
    if wanted.build.policy.policy.is_none() {
        options = LaneBuilt::continued(&session, options).await?;
    }
    let built = session.explain(&options).await?;
    if let (Some(page), Some(path)) = (page, &wanted.html) {
        let timeline = Timeline::of(&session, &built.draft).await?;
        let session = &session.id().to_string();
        let shown = Page { session, draft: &built.draft, timeline: &timeline };
        page.finish_with(page::html(&shown).as_bytes())?;
        say(global, &format!("page in {}", clean(&path.to_string_lossy())));
    }
    match &wanted.find {
        Some(text) => find::run(global, &session, &options, &built, text).await,
        None => {
            warn_of_overhead(global, &options, &built);
            print(&report(global, settings, &session, &built, false).await?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Checks the user's next turn, which must not be empty.
fn prompt(text: Option<String>) -> Result<Option<String>, Failure> {
    match text {
        Some(text) if text.trim().is_empty() => {
            Err(wrong("--prompt is empty; give the user's next turn, or leave it out"))
        }
        text => Ok(text),
    }
}

/// Returns the options of a request of a position, or else of the next one.
fn options(
    settings: &Settings,
    build: &BuildArgs,
    at: Option<u64>,
    to: Option<DialectArg>,
) -> Result<ContextOptions, Failure> {
    let request = RequestChoice { at: at.map(Seq), dialect: to.map(dialect), ..build.choice() };
    Ok(context_options(settings, &request)?)
}
