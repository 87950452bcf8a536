//! Finds the session and the place that an argument refers to: an id, a short id, the path of a transcript, or a
//! place of the form `ID#12-80`.

use crate::args::Global;
use crate::console::say;
use crate::conversation::{conversation, split};
use crate::exit::{Failure, wrong};
use crate::importing::{ImportOptions, import};
use crate::names::short;
use crate::terminal::clean;
use crate::typed::seqs;
use std::path::Path;
use wunderblock::store::StoreError;
use wunderblock::{Address, Engine, Error, Session, Slice, holds_sessions};
use wunderblock_core::units::Seq;
use wunderblock_settings::Settings;

/// Returns the session that an argument refers to. A transcript given by its path is imported first.
pub(crate) async fn session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let (file, wanted) = split(text);
    let session = session_of_file(engine, global, file).await?;
    conversation(global, session, (file, wanted)).await
}

/// Returns the address that a handle or a place of the form `SESSION#12-80` names, and the part of its text.
pub(crate) async fn address(
    engine: &Engine,
    global: &Global,
    text: &str,
) -> Result<(Address, Slice), Failure> {
    match split_place(text).filter(|_| !text.starts_with("wb:")) {
        Some((id, range)) => {
            let info = known_session(engine, global, id).await?.info().await?;
            Ok((Address { handle: info.handle, range: Some(range) }, Slice::All))
        }
        None => Ok(Address::find(engine, text).await?),
    }
}

/// Returns the address for commands about sessions and summaries; only `read` accepts places within a text.
pub(crate) async fn session_address(
    engine: &Engine,
    global: &Global,
    text: &str,
) -> Result<Address, Failure> {
    match address(engine, global, text).await? {
        (address, Slice::All) => Ok(address),
        (address, _) => {
            Err(wrong(format!("`{text}` is a place in the text {address}: read it with `wunderblock read`")))
        }
    }
}

/// Returns the main session of a path: its latest branch, or the first of several conversations.
async fn session_of_file(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let imported = import(global, engine, path, ImportOptions::DEFAULT).await?;
        let Some(first) = imported.sessions.first() else {
            return Err(wrong(format!("{text} contains no session")));
        };
        return Ok(engine.session_by_id(first.clone()));
    }
    find(engine, text).await
}

/// Returns the session that an argument refers to, without writing. A path refers to the session that was imported
/// from it.
pub(crate) async fn known_session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let (text, wanted) = split(text);
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let missing = || format!("{text} has not been imported yet; `wunderblock import {text}` imports it");
        let (id, _) = engine.imported(path).await?.ok_or_else(|| wrong(missing()))?;
        return conversation(global, engine.session_by_id(id), (text, wanted)).await;
    }
    find(engine, text).await
}

/// Returns the session with a given id or short id. A text that looks like a path is treated as a path.
async fn find(engine: &Engine, text: &str) -> Result<Session, Failure> {
    engine.find_session(text).await.map_err(|error| match error {
        Error::NoSession(_) if is_path(text) || has_ending(text) => missing(text),
        error => error.into(),
    })
}

fn missing(path: &str) -> Failure {
    Failure::Door(
        crate::exit::USAGE,
        format!("no such file `{path}`; `wunderblock sessions` lists what is imported"),
    )
}

/// A separator or a leading dot makes a text a path.
fn is_path(text: &str) -> bool {
    text.starts_with('.') || text.contains(std::path::is_separator)
}

/// Returns whether a text ends like the name of a transcript file.
fn has_ending(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| matches!(ending, "jsonl" | "json" | "md" | "ndjson"))
}

/// Positions that a place names.
pub(crate) type Positions = Option<(Seq, Seq)>;

/// Splits `SESSION#12` or `SESSION#12-80`.
fn split_place(text: &str) -> Option<(&str, (Seq, Seq))> {
    let (session, place) = text.rsplit_once('#')?;
    // `FILE#12` is the twelfth conversation of a file.
    let is_file = Path::new(session).is_file();
    Some((session, seqs(place).ok().filter(|_| !is_file)?))
}

/// Returns whether a text is a place in a session: `SESSION#12-80`, provided that no file has this name or contains
/// conversations.
pub(crate) fn is_place(text: &str) -> bool {
    split_place(text).is_some() && !Path::new(text).exists()
}

/// Like [`reading`], but also returns the positions that follow a `#`. An id may itself contain a `#`, so the whole
/// text is tried first.
pub(crate) async fn reading_at(
    settings: &Settings,
    global: &Global,
    text: &str,
) -> Result<(Engine, Session, Positions), Failure> {
    let ((engine, session), at) = with_place(text, async |id| reading(settings, global, id).await).await?;
    Ok((engine, session, at))
}

/// Finds by an id, or by the part before a `#` if no session has the whole text as its id.
async fn with_place<T>(
    text: &str,
    find: impl AsyncFn(&str) -> Result<T, Failure>,
) -> Result<(T, Positions), Failure> {
    match (find(text).await, split_place(text)) {
        (Err(Failure::Engine(Error::NoSession(_))), Some((id, at))) => Ok((find(id).await?, Some(at))),
        (found, _) => Ok((found?, None)),
    }
}

/// Like [`known_session`], but also returns the positions that follow a `#`.
pub(crate) async fn known_at(
    engine: &Engine,
    global: &Global,
    text: &str,
) -> Result<(Session, Positions), Failure> {
    with_place(text, async |id| known_session(engine, global, id).await).await
}

/// Like [`known_at`], but takes no beginning of an id except the short id that lists print: a mistyped id must not
/// select another session for what cannot be undone.
pub(crate) async fn named_at(
    engine: &Engine,
    global: &Global,
    text: &str,
) -> Result<(Session, Positions), Failure> {
    let (session, place) = known_at(engine, global, text).await?;
    let name = if place.is_some() { split_place(text).map_or(text, |(name, _)| name) } else { text };
    let (file, _) = split(name);
    let is_file = is_transcript(Path::new(file))? && by_id(engine, &quiet(global), file).await?.is_none();
    if is_file || engine.ledger().short_ids(session.id()).await?.names(session.id(), name) {
        return Ok((session, place));
    }
    let (id, short) = (session.id(), short(&session).await?);
    let or_short = if short == id.as_str() { String::new() } else { format!(" or {short}") };
    Err(wrong(format!(
        "`{name}` is only the beginning of {id}: give {id}{or_short}, if you mean this session"
    )))
}

fn quiet(global: &Global) -> Global {
    Global { quiet: true, ..global.clone() }
}

/// Like [`session`], but also returns the positions that follow a `#`.
pub(crate) async fn session_at(
    engine: &Engine,
    global: &Global,
    text: &str,
) -> Result<(Session, Positions), Failure> {
    with_place(text, async |id| session(engine, global, id).await).await
}

/// Returns the single position that an option or a place gives.
pub(crate) fn one_position(option: Option<u64>, place: Positions) -> Result<Option<Seq>, Failure> {
    match (option, place) {
        (Some(_), Some(_)) => Err(wrong("give the position once: as SESSION#12, or by itself")),
        (None, Some((from, to))) if from != to => {
            Err(wrong(format!("one position is needed, and #{from}-{to} is a range; give SESSION#{to}")))
        }
        (option, place) => Ok(option.map(Seq).or(place.map(|(_, to)| to))),
    }
}

/// Opens the ledger and the session for a command that only reads. A transcript that has not been imported, or has
/// grown since its last import, is imported first. If the ledger cannot be written, the session is read as it was
/// last imported.
pub(crate) async fn reading(
    settings: &Settings,
    global: &Global,
    text: &str,
) -> Result<(Engine, Session), Failure> {
    let (file, wanted) = split(text);
    let (engine, session) = reading_file(settings, global, file).await?;
    let session = conversation(global, session, (file, wanted)).await?;
    Ok((engine, session))
}

/// Opens the ledger and the main session of a file, for a command that uses all its conversations.
pub(crate) async fn reading_file(
    settings: &Settings,
    global: &Global,
    text: &str,
) -> Result<(Engine, Session), Failure> {
    let path = Path::new(text);
    // A missing ledger is not an error yet: importing a transcript creates it.
    let engine = settings.read_only().await;
    if let Ok(engine) = &engine
        && let Some(session) = by_id(engine, global, text).await?
    {
        return Ok((engine.clone(), session));
    }
    if !is_transcript(path)? {
        let engine = engine?;
        let session = find(&engine, text).await?;
        return Ok((engine, session));
    }
    let known = match engine {
        Ok(engine) => {
            let found = engine.imported(path).await?;
            found.map(|(id, current)| (engine.session_by_id(id), current, engine))
        }
        Err(Error::Store(StoreError::Missing(_))) => None,
        Err(error) => return Err(error.into()),
    };
    match known {
        Some((known, true, engine)) => Ok((engine, known)),
        older => match (settings.write().await, older) {
            (Ok(engine), _) => {
                let session = session_of_file(&engine, global, text).await?;
                Ok((engine, session))
            }
            (Err(Error::Store(StoreError::ReadOnly | StoreError::Io(_))), Some(older)) => {
                say(global, "the transcript has grown, but the ledger cannot be written: shown as imported");
                Ok((older.2, older.0))
            }
            (Err(error), _) => Err(error.into()),
        },
    }
}

/// Opens the ledger, and returns the histories that arguments refer to: sessions, transcripts and folders of
/// transcripts. Anything not in the ledger yet is imported first. If a file in a folder contains no session, the file
/// is reported and skipped.
pub(crate) async fn histories(
    settings: &Settings,
    global: &Global,
    typed: &[String],
    joined: bool,
) -> Result<(Engine, Vec<Vec<Session>>), Failure> {
    if let [one] = typed
        && !holds_many(Path::new(one))
    {
        let (engine, session) = reading_file(settings, global, one).await?;
        let is_file = is_transcript(Path::new(one))?;
        let found =
            if is_file { wunderblock::histories(&session, joined).await? } else { vec![vec![session]] };
        return Ok((engine, found));
    }
    let engine = settings.write().await?;
    let mut found: Vec<Vec<Session>> = Vec::new();
    for text in typed {
        let path = Path::new(text);
        if !holds_many(path) {
            let session = session_of_file(&engine, global, text).await?;
            found.extend(if is_transcript(path)? {
                wunderblock::histories(&session, joined).await?
            } else {
                vec![vec![session]]
            });
            continue;
        }
        for file in wunderblock::transcripts(path)?.files {
            let file = file.path.to_string_lossy();
            match session_of_file(&engine, global, &file).await {
                Ok(session) => found.extend(wunderblock::histories(&session, joined).await?),
                Err(Failure::Engine(error @ Error::Import { .. })) => {
                    say(global, &format!("skipped: {}", clean(&error.to_string())));
                }
                Err(Failure::Door(_, why)) => say(global, &format!("skipped: {}", clean(&why))),
                Err(error) => return Err(error),
            }
        }
    }
    // The same session may be named twice, by its id and by a file.
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| one.first().is_some_and(|session| seen.insert(session.id().clone())));
    Ok((engine, found))
}

/// If there is also a file named `text`, returns the session whose id is `text`, or the only session whose id starts
/// with it. A file in the working directory must not hide a session. A text with a separator or a leading dot is
/// always a path.
async fn by_id(engine: &Engine, global: &Global, text: &str) -> Result<Option<Session>, Failure> {
    if is_path(text) || !Path::new(text).metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Ok(None);
    }
    match engine.find_session(text).await {
        Ok(session) => {
            let (name, id) = (clean(text), clean(session.id().as_str()));
            say(global, &format!("`{name}` is the session {id}; for the file of that name write ./{name}"));
            Ok(Some(session))
        }
        Err(Error::NoSession(_) | Error::Ambiguous { .. } | Error::Id(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a path may contain many transcripts: a folder, a database or an export.
pub(crate) fn holds_many(path: &Path) -> bool {
    path.is_dir() || holds_sessions(path)
}

/// Returns whether a path is a file, or a session in a database or in an export. A pipe or a device is rejected, because opening it may
/// block forever.
pub(crate) fn is_transcript(path: &Path) -> Result<bool, Failure> {
    let Ok(meta) = path.metadata() else { return Ok(path.parent().is_some_and(holds_sessions)) };
    if meta.is_file() {
        return Ok(true);
    }
    if meta.is_dir() {
        return Ok(false);
    }
    let why = "not a file, but a pipe, a socket or a device; write its output to a file and import the file";
    Err(wrong(format!("{}: {why}", path.display())))
}
