//! One file per command: parse → one call of the engine → print.

mod append;
mod backup;
mod build;
mod compact;
mod describe;
mod diff;
mod doctor;
mod erase;
mod expand;
mod export;
mod grep;
mod import;
mod importing;
mod read;
mod reduce;
mod replay;
mod restore;
mod run;
mod search;
mod sessions;
mod show;
mod simulate;
mod undo;

pub(crate) use compact::{gain as compaction_gain, machine as compaction, verdict as compaction_verdict};

use crate::args::{Args, Command, DialectArg, FormatArg, Global};
use crate::exit::{Failure, wrong};
use crate::settings::Settings;
use crate::terminal::{clean, clean_json};
use clap::CommandFactory;
use importing::Importing;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::tz::TimeZone;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use wunderblock::store::StoreError;
use wunderblock::{Engine, Error, Progress, Session};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Seq;
use wunderblock_wire::WireError;
use wunderblock_wire::transcript::Format;

/// Runs what was typed.
pub(crate) async fn run(args: Args) -> Result<ExitCode, Failure> {
    let global = &args.global;
    match args.command {
        Command::Completions(wanted) => {
            let mut script = Vec::new();
            clap_complete::generate(wanted.shell, &mut Args::command(), "wunderblock", &mut script);
            std::io::stdout().lock().write_all(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command()).render(&mut page)?;
            std::io::stdout().lock().write_all(&page)?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let settings = Settings::read(global)?;
    match args.command {
        Command::Import(wanted) => import::run(global, &settings, &wanted).await,
        Command::Append(wanted) => append::run(&settings, &wanted).await,
        Command::Sessions(wanted) => sessions::run(global, &settings, &wanted).await,
        Command::Show(wanted) => show::run(global, &settings, &wanted).await,
        Command::Export(wanted) => export::run(global, &settings, &wanted).await,
        Command::Context(wanted) => build::context(global, &settings, wanted).await,
        Command::Explain(wanted) => build::explain(global, &settings, wanted).await,
        Command::Simulate(wanted) => simulate::run(global, &settings, wanted).await,
        Command::Compact(wanted) => compact::run(global, &settings, wanted).await,
        Command::Undo(wanted) => undo::run(global, &settings, &wanted).await,
        Command::Replay(wanted) => replay::run(global, &settings, &wanted).await,
        Command::Diff(wanted) => diff::run(global, &settings, &wanted).await,
        Command::Read(wanted) => read::run(global, &settings, &wanted).await,
        Command::Grep(wanted) => grep::run(global, &settings, &wanted).await,
        Command::Search(wanted) => search::run(global, &settings, &wanted).await,
        Command::Describe(wanted) => describe::run(global, &settings, &wanted).await,
        Command::Expand(wanted) => expand::run(global, &settings, &wanted).await,
        Command::Reduce(wanted) => reduce::run(global, &settings, &wanted).await,
        Command::Run(wanted) => run::run(global, &settings, &wanted).await,
        Command::Doctor(wanted) => doctor::run(global, &settings, &wanted).await,
        Command::Backup(wanted) => backup::run(global, &settings, &wanted).await,
        Command::Restore(wanted) => restore::run(global, &settings, &wanted).await,
        Command::Erase(wanted) => erase::run(global, &settings, &wanted).await,
        Command::Completions(_) | Command::Man => Ok(ExitCode::SUCCESS),
    }
}

/// The session an argument means. A transcript's path is imported first.
pub(crate) async fn session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let mut shown = Importing::begin(global, text);
        let imported = engine.import(path, None, &mut |done, total| shown.update(done, total)).await;
        shown.end();
        let imported = imported?;
        if !global.quiet {
            import::warn(global, &imported.warnings);
        }
        let Some(first) = imported.sessions.first() else {
            return Err(wrong(format!("{text} holds no session")));
        };
        return Ok(engine.session(first.clone()));
    }
    Ok(engine.find(text).await?)
}

/// The same for commands that must not write: a path is taken for the session it was imported as.
pub(crate) async fn known_session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let found = engine.imported(path).await?;
        return match found {
            Some((id, _)) => Ok(engine.session(id)),
            None => {
                Err(wrong(format!("{text} has not been imported yet; `wunderblock import {text}` does it")))
            }
        };
    }
    Ok(engine.find(text).await?)
}

/// The ledger, and the session that a command which only reads is about. A transcript that is not in the ledger yet, or
/// has grown since, is imported first; where the ledger cannot be written, it is read as it stands.
pub(crate) async fn reading(
    settings: &Settings,
    global: &Global,
    text: &str,
) -> Result<(Engine, Session), Failure> {
    let path = Path::new(text);
    let engine = settings.read_only().await;
    if let Ok(engine) = &engine
        && let Some(session) = by_id(engine, global, text).await?
    {
        return Ok((engine.clone(), session));
    }
    if !is_transcript(path)? {
        let engine = engine?;
        let session = engine.find(text).await?;
        return Ok((engine, session));
    }
    let known = match engine {
        Ok(engine) => {
            let found = engine.imported(path).await?;
            found.map(|(id, current)| (engine.session(id), current, engine))
        }
        Err(Failure::Engine(Error::Store(StoreError::Missing(_)))) => None,
        Err(error) => return Err(error),
    };
    match known {
        Some((known, true, engine)) => Ok((engine, known)),
        older => match (settings.write().await, older) {
            (Ok(engine), _) => {
                let session = session(&engine, global, text).await?;
                Ok((engine, session))
            }
            (Err(Failure::Engine(Error::Store(StoreError::ReadOnly | StoreError::Io(_)))), Some(older)) => {
                say(global, "the transcript has grown, but the ledger cannot be written: shown as imported");
                Ok((older.2, older.0))
            }
            (Err(error), _) => Err(error),
        },
    }
}

/// The session that has this id, or alone begins so, where a file has the same name: a file of the folder one happens to
/// be in takes no session's place. A path with a separator or a leading dot is a path.
async fn by_id(engine: &Engine, global: &Global, text: &str) -> Result<Option<Session>, Failure> {
    let is_path = text.starts_with('.') || text.contains(std::path::is_separator);
    if is_path || !Path::new(text).metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Ok(None);
    }
    match engine.find(text).await {
        Ok(session) => {
            say(
                global,
                &format!(
                    "`{0}` is the session {1}; for the file of that name write ./{0}",
                    clean(text),
                    clean(session.id().as_str())
                ),
            );
            Ok(Some(session))
        }
        Err(Error::NoSession(_) | Error::Ambiguous { .. } | Error::Id(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a path is that of a file. A pipe or a device is refused: opening it may wait for ever.
pub(crate) fn is_transcript(path: &Path) -> Result<bool, Failure> {
    let Ok(meta) = path.metadata() else { return Ok(false) };
    if meta.is_file() {
        return Ok(true);
    }
    if meta.is_dir() {
        return Ok(false);
    }
    let why = "it is a pipe, a socket or a device; write what it gives into a file and import that";
    Err(wrong(format!("{}: {why}", path.display())))
}

/// Counts and indexes what is waiting, with a bar.
pub(crate) async fn catch_up(engine: &Engine, global: &Global) -> Result<(), Failure> {
    let bar = bar(global, "counting and indexing", "{msg} [{bar:32}] {pos}/{len} events {eta}");
    let done = engine.catch_up(&mut |Progress { done, total }| update(&bar, done, total)).await;
    bar.finish_and_clear();
    Ok(done?)
}

/// A progress bar on stderr; none where nobody watches.
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

pub(crate) fn dialect(arg: DialectArg) -> Result<Dialect, Failure> {
    let dialect = match arg {
        DialectArg::Neutral => return Ok(Dialect::Neutral),
        DialectArg::Anthropic => return Ok(Dialect::Anthropic),
        DialectArg::OpenaiChat => return Ok(Dialect::OpenaiChat),
        DialectArg::OpenaiResponses => Dialect::OpenaiResponses,
        DialectArg::Gemini => Dialect::Gemini,
    };
    Err(Error::Wire(WireError::Unsupported { dialect }).into())
}

pub(crate) fn format(arg: FormatArg) -> Option<Format> {
    Some(match arg {
        FormatArg::Auto => return None,
        FormatArg::ClaudeCode => Format::ClaudeCode,
        FormatArg::Codex => Format::Codex,
        FormatArg::Pi | FormatArg::Openclaw => Format::Pi,
        FormatArg::OpenaiChat => Format::OpenaiChat,
        FormatArg::Aider => Format::Aider,
        FormatArg::JsonLines => Format::JsonLines,
        FormatArg::Json => Format::JsonDocument,
        FormatArg::Wunderblock => Format::Wunderblock,
    })
}

/// `12` or `12-80`.
pub(crate) fn range(text: &str) -> Result<(u64, u64), Failure> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(wrong(format!("`{text}` is no range; a range is 12 or 12-80"))),
    }
}

pub(crate) fn seqs(text: &str) -> Result<(Seq, Seq), Failure> {
    range(text).map(|(from, to)| (Seq(from), Seq(to)))
}

/// One JSON value on a line of stdout.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{}", clean_json(&value.to_string()))?;
    Ok(())
}

/// A text on stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// A word to the person, on stderr.
pub(crate) fn say(global: &Global, text: &str) {
    if !global.quiet {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// A point in time for people, by the clock on their wall.
pub(crate) fn time(at: wunderblock_core::units::Millis) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) if at.0 > 0 => time.to_zoned(zone()).strftime("%Y-%m-%d %H:%M").to_string(),
        _ => "—".to_owned(),
    }
}

/// The time zone of the clock on their wall.
///
/// The default is a file; asked for it, jiff would look for its name as well, in every folder of the system's database
/// (2 ms). A zone that `TZ` names is looked up there.
pub(crate) fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let default = || TimeZone::tzif("", &std::fs::read("/etc/localtime").ok()?).ok();
    let zone = || std::env::var_os("TZ").map_or_else(default, |_| None);
    ZONE.get_or_init(|| zone().unwrap_or_else(TimeZone::system)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_the_systems() {
        let (ours, system) = (zone(), TimeZone::system());
        for day in (0..25_000).step_by(50) {
            let time = jiff::Timestamp::from_second(day * 86_400).unwrap();
            assert_eq!(ours.to_offset(time), system.to_offset(time), "{time}");
        }
    }
}
