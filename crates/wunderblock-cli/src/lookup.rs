//! The session that an argument means: an id, the beginning of one, or the path of a transcript.

use crate::args::Global;
use crate::console::say;
use crate::conversation::{conversation, split};
use crate::exit::{Failure, wrong};
use crate::importing::import;
use crate::settings::Settings;
use crate::terminal::clean;
use std::path::Path;
use wunderblock::store::StoreError;
use wunderblock::{Address, Engine, Error, Session, Slice};

/// The session an argument means. A transcript's path is imported first.
pub(crate) async fn session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let (file, wanted) = split(text);
    let session = session_of_file(engine, global, file).await?;
    conversation(global, session, (file, wanted)).await
}

/// What a handle names, for commands about sessions and summaries: places within a text are `read`'s.
pub(crate) async fn session_address(engine: &Engine, text: &str) -> Result<Address, Failure> {
    match Address::find(engine, text).await? {
        (address, Slice::All) => Ok(address),
        (address, _) => {
            Err(wrong(format!("`{text}` is a place in the text {address}: read it with `wunderblock read`")))
        }
    }
}

/// The session of a path as a whole: its newest branch, or the first of many conversations.
async fn session_of_file(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let imported = import(global, engine, path, (None, false)).await?;
        let Some(first) = imported.sessions.first() else {
            return Err(wrong(format!("{text} holds no session")));
        };
        return Ok(engine.session_by_id(first.clone()));
    }
    Ok(engine.find_session(text).await?)
}

/// The same for commands that must not write: a path is taken for the session it was imported as.
pub(crate) async fn known_session(engine: &Engine, global: &Global, text: &str) -> Result<Session, Failure> {
    let (text, wanted) = split(text);
    let path = Path::new(text);
    if let Some(session) = by_id(engine, global, text).await? {
        return Ok(session);
    }
    if is_transcript(path)? {
        let missing = || format!("{text} has not been imported yet; `wunderblock import {text}` does it");
        let (id, _) = engine.imported(path).await?.ok_or_else(|| wrong(missing()))?;
        return conversation(global, engine.session_by_id(id), (text, wanted)).await;
    }
    Ok(engine.find_session(text).await?)
}

/// The ledger, and the session that a command which only reads is about. A transcript that is not in the ledger yet, or
/// has grown since, is imported first; where the ledger cannot be written, it is read as it stands.
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

/// The same for a command that takes all conversations of a file.
pub(crate) async fn reading_file(
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
        let session = engine.find_session(text).await?;
        return Ok((engine, session));
    }
    let known = match engine {
        Ok(engine) => {
            let found = engine.imported(path).await?;
            found.map(|(id, current)| (engine.session_by_id(id), current, engine))
        }
        Err(Failure::Engine(Error::Store(StoreError::Missing(_)))) => None,
        Err(error) => return Err(error),
    };
    match known {
        Some((known, true, engine)) => Ok((engine, known)),
        older => match (settings.write().await, older) {
            (Ok(engine), _) => {
                let session = session_of_file(&engine, global, text).await?;
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

/// The ledger, and the histories that arguments mean: sessions, transcripts, folders of transcripts. What is not in the
/// ledger yet is imported first. A file of a folder that holds no session is told of and left out.
pub(crate) async fn histories(
    settings: &Settings,
    global: &Global,
    typed: &[String],
    joined: bool,
) -> Result<(Engine, Vec<Vec<Session>>), Failure> {
    if let [one] = typed
        && !Path::new(one).is_dir()
    {
        let (engine, session) = reading_file(settings, global, one).await?;
        let is_file = Path::new(one).is_file();
        let found =
            if is_file { wunderblock::histories(&session, joined).await? } else { vec![vec![session]] };
        return Ok((engine, found));
    }
    let engine = settings.write().await?;
    let mut found: Vec<Vec<Session>> = Vec::new();
    for text in typed {
        let path = Path::new(text);
        if !path.is_dir() {
            let session = session_of_file(&engine, global, text).await?;
            found.extend(if path.is_file() {
                wunderblock::histories(&session, joined).await?
            } else {
                vec![vec![session]]
            });
            continue;
        }
        for file in wunderblock::transcripts(path)?.files {
            let file = file.to_string_lossy();
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
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| one.first().is_some_and(|session| seen.insert(session.id().clone())));
    Ok((engine, found))
}

/// The session that has this id, or alone begins so, where a file has the same name: a file of the folder one happens to
/// be in takes no session's place. A path with a separator or a leading dot is a path.
async fn by_id(engine: &Engine, global: &Global, text: &str) -> Result<Option<Session>, Failure> {
    let is_path = text.starts_with('.') || text.contains(std::path::is_separator);
    if is_path || !Path::new(text).metadata().is_ok_and(|meta| !meta.is_dir()) {
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
