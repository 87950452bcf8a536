//! Changes of memory from the command line.

use super::words::{memory, name, words};
use crate::args::{Global, MemoryAdd, MemoryForget, MemoryLearn, MemoryRollback};
use crate::drawing::columns::{plural, size};
use crate::output::console::{answer, say, zone};
use crate::output::exit::{Exit, FAILED, Failure, wrong};
use std::process::ExitCode;
use wunderblock::store::StreamFilter;
use wunderblock::{Engine, Memories, MemoryLearned, NewChange, NewClaim, NewEvidence, NewMemory};
use wunderblock_core::id::Scope;
use wunderblock_core::memory::{ForgetReason, MemoryAuthor};
use wunderblock_core::units::Seq;
use wunderblock_settings::filter::since;

pub(super) async fn add(
    global: &Global,
    engine: &Engine,
    memories: &Memories,
    wanted: &MemoryAdd,
    by: MemoryAuthor,
) -> Exit {
    let change = match (&wanted.supersedes, &wanted.revises) {
        (Some(of), _) => NewChange::Supersede(name(of)?),
        (None, Some(of)) => NewChange::Revise(name(of)?),
        (None, None) => NewChange::Add,
    };
    let mut evidence = Vec::new();
    for text in &wanted.evidence {
        evidence.push(place(engine, text).await?);
    }
    let claim = NewClaim {
        tags: wanted.tag.clone(),
        importance: wanted.importance,
        pinned: wanted.pin,
        ..NewClaim::new(wanted.kind.kind(), text_or_stdin(&wanted.text)?)
    };
    let item = NewMemory { change, claim: Some(claim), evidence };
    let written = memories.add(vec![item], by).await?;
    answer(global, &written, || words(&written))?;
    Ok(if written.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Reads a place and its words: `SESSION#POSITION=WORDS`.
async fn place(engine: &Engine, text: &str) -> Result<NewEvidence, Failure> {
    let parts = text.split_once('=').and_then(|(place, words)| {
        let (session, seq) = place.rsplit_once('#')?;
        Some((session, Seq(seq.parse().ok()?), words))
    });
    let (session, seq, words) =
        parts.ok_or_else(|| wrong(format!("invalid evidence `{text}`: use SESSION#POSITION=WORDS")))?;
    let stream = engine.find_session(session).await?.id().clone();
    Ok(NewEvidence { stream, seq, quote: words.to_owned() })
}

pub(super) async fn learn(
    global: &Global,
    engine: &Engine,
    memories: &Memories,
    wanted: &MemoryLearn,
    scope: Scope,
) -> Exit {
    let session = match &wanted.session {
        Some(text) => Some(engine.find_session(text).await?.id().clone()),
        None => None,
    };
    let places = scope.project.into_iter().chain(scope.folder).filter(|_| session.is_none()).collect();
    let since = wanted.since.as_deref().map(|text| since(text, zone)).transpose()?;
    let learned = memories.learn(StreamFilter { places, session, since, ..StreamFilter::default() }).await?;
    answer(global, &learned, || {
        let MemoryLearned { sessions, messages, text, written } = &learned;
        let read = format!(
            "read {} of {}, {}",
            plural(*messages, "message", "messages"),
            plural(*sessions, "session", "sessions"),
            size(*text)
        );
        let (new, known) = (written.pending, written.known + written.refused);
        format!("{read}\n{} to decide about, {known} known before\n", plural(new, "proposal", "proposals"))
    })?;
    if learned.written.pending > 0 {
        say(global, "`wunderblock memory review` shows them");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn forget(
    global: &Global,
    memories: &Memories,
    wanted: &MemoryForget,
    by: MemoryAuthor,
) -> Exit {
    let names = wanted.names.iter().map(|text| name(text)).collect::<Result<_, _>>()?;
    let gone = memories.forget(names, ForgetReason::Asked, by, wanted.dry_run).await?;
    answer(global, &gone, || gone.iter().map(memory).collect())?;
    let done = if wanted.dry_run {
        "would be forgotten"
    } else {
        "forgotten; `restore` takes it back, `erase` removes the bytes"
    };
    say(global, done);
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn restore(global: &Global, memories: &Memories, text: &str, by: MemoryAuthor) -> Exit {
    let restored = memories.restore(name(text)?, by).await?;
    answer(global, &restored, || memory(&restored))
}

pub(super) async fn roll_back(
    global: &Global,
    memories: &Memories,
    wanted: &MemoryRollback,
    by: MemoryAuthor,
) -> Exit {
    let now = memories.roll_back(name(&wanted.name.name)?, wanted.to, by).await?;
    answer(global, &now, || memory(&now))
}

/// Returns the part of a claim that is read from stdin, if it is `-`.
fn text_or_stdin(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin()).map_err(|error| wrong(format!("stdin cannot be read: {error}")))
}
