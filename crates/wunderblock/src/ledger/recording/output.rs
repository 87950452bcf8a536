//! Output of programs, which is kept byte for byte and shown in shortened form.
//!
//! The bytes are durable before a text that refers to them is returned. Text is kept as the result of a tool call in
//! a session, so that it can be searched, listed and erased like any other message. Binary data, and text that is too
//! large for a message, are kept as a source with a separate session.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::{Engine, random, unexpected};
use crate::ledger::project::{opening_scope, project_at};
use crate::ledger::reading::reductions::known_reductions;
use crate::ledger::recording::record::{StreamStart, opening_writes, pack_all};
use crate::ledger::session::Session;
use crate::limits::{self, MAX_MESSAGE_OUTPUT, SOURCE_CHUNK};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use wunderblock_core::event::{
    ContentReduced, EventSource, Fact, MessageAppended, NewEvent, Reduction, SessionOpened,
};
use wunderblock_core::id::{CallId, EventId, Handle, Scope, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_reduce::{Kind, Level, Reduced};
use wunderblock_store::{
    Answer, BYTES, Begin, Commit, Owner, Query, SourceBy, SourceInfo, SourceNo, StoreError, Write, Written,
    codec,
};

/// Output of a program, with known facts about the program.
#[derive(Clone, Copy, Debug)]
pub struct Output<'o> {
    /// Bytes of the output.
    pub bytes: &'o [u8],
    /// Name of the tool: `run` or `reduce`.
    pub tool: &'o str,
    /// Arguments of the tool, as a JSON object.
    pub input: &'o str,
    /// Whether the program failed.
    pub failed: bool,
    /// Name of the call, if any. Output that is kept twice under the same name is stored once.
    pub call: Option<&'o str>,
}

/// Options for shortening an output.
#[derive(Clone, Copy)]
pub struct OutputOptions<'o> {
    /// Level of reduction.
    pub level: Level,
    /// Kind of the output, if known.
    pub kind: Option<Kind>,
    /// Command that wrote the output, if known.
    pub command: Option<&'o str>,
    /// Query of the reader: matching parts are kept.
    pub query: Option<&'o str>,
    /// Number of bytes at the beginning, in whole lines, that have already been shown unchanged. The result continues
    /// after the bytes that have already been shown.
    pub shown: usize,
    /// Function that counts the tokens of a text.
    pub count: &'o (dyn Fn(&str) -> u64 + Sync),
}

/// Result of shortening an output.
#[derive(Clone, Debug)]
pub struct ShortenedOutput {
    /// Text to show after the part that was already shown.
    pub reduced: Reduced,
    /// Handle that reads the original bytes. `None` if the output was not changed.
    pub handle: Option<Handle>,
}

/// Whether to keep an output that is shown unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Keep all outputs.
    Always,
    /// Keep only outputs that are shown shortened.
    IfReduced,
}

impl Output<'_> {
    /// Shortens the output and keeps its bytes in a session. The bytes are durable when this function returns.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written. On failure, no shortened text is returned.
    pub fn shorten<'a>(
        &'a self,
        session: &'a Session,
        keep: Keep,
        wanted: &'a OutputOptions<'_>,
    ) -> BoxFuture<'a, ShortenedOutput> {
        Box::pin(async move {
            let engine = &session.engine;
            let handle = codec::handle(&codec::body_hash(&engine.tenant.key, self.bytes));
            let named = handle.short();
            let is_known = is_reduction(engine, handle, self.bytes).await?;
            let known = |_: &str| is_known;
            let options = wunderblock_reduce::Options {
                level: wanted.level,
                kind: wanted.kind,
                command: wanted.command,
                failed: self.failed,
                query: wanted.query,
                // Kept output is not known to be in any reader's context, so no earlier text can be referred to.
                earlier: &[],
                handle: Some(&named),
                shown: wanted.shown,
                count: wanted.count,
                known: &known,
            };
            let reduced = wunderblock_reduce::reduce(self.bytes, &options);
            let changed = reduced.untouched.is_none() || !reduced.gaps.is_empty();
            if !changed && keep == Keep::IfReduced {
                return Ok(ShortenedOutput { reduced, handle: None });
            }
            keep_output(session, self, handle, Some((wanted.shown, &reduced))).await?;
            Ok(ShortenedOutput { reduced, handle: changed.then_some(handle) })
        })
    }

    /// Keeps the unchanged bytes in a session; they are durable when this function returns. Returns the handle that
    /// reads the kept bytes.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written.
    pub fn keep<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Handle> {
        Box::pin(async move {
            let handle = codec::handle(&codec::body_hash(&session.engine.tenant.key, self.bytes));
            keep_output(session, self, handle, None).await?;
            Ok(handle)
        })
    }
}

/// Returns whether a text is a reduction that has already been shown. Only texts with a mark are looked up.
async fn is_reduction(engine: &Engine, handle: Handle, bytes: &[u8]) -> Result<bool, Error> {
    let marked = std::str::from_utf8(bytes).is_ok_and(|text| wunderblock_reduce::gaps(text).next().is_some());
    Ok(marked && known_reductions(engine, vec![handle]).await?.contains(&handle))
}

/// Keeps an output. `shown` holds the number of bytes that have already been shown, and the reduction of the rest.
async fn keep_output(
    session: &Session,
    output: &Output<'_>,
    handle: Handle,
    shown: Option<(usize, &Reduced)>,
) -> Result<(), Error> {
    let engine = &session.engine;
    let kept = match std::str::from_utf8(output.bytes) {
        Ok(text) if text.len() <= MAX_MESSAGE_OUTPUT => {
            keep_text(engine, &session.id, output, text, shown).await
        }
        _ => keep_bytes(engine, &session.id, output, handle, shown).await,
    };
    match kept {
        // The name is that of one call, so the output was stored before, by a process that ended.
        Err(Error::Store(StoreError::Conflict { .. })) if output.call.is_some() => Ok(()),
        kept => kept,
    }
}

/// Keeps a text as the result of a call, together with its shortened form. The shortened form is recognised when it
/// is passed in again.
async fn keep_text(
    engine: &Engine,
    session: &StreamId,
    output: &Output<'_>,
    text: &str,
    shown: Option<(usize, &Reduced)>,
) -> Result<(), Error> {
    let call = call_name(output)?;
    // The recorded reduction refers to the position of its result, so the events are made again if the session grows.
    for _ in 0..limits::BUILD_RETRIES {
        let mut events = exchange_events(engine, output, &call, text.to_owned())?;
        let head = engine.info(session).await?.map(|info| info.head);
        if let Some((seen, reduced)) = shown
            && text.get(seen..) != Some(&reduced.text)
        {
            // The call follows the head, or the opening event of a new session; the result follows the call.
            let target = Seq(head.map_or(1, |head| head.0) + 2);
            let whole = [text.get(..seen).unwrap_or_default(), &reduced.text].concat();
            let result = ShownResult { target, bytes: text.len(), text: whole, reduced };
            events.push(reduction_event(engine, &call, result)?);
        }
        let keeper = Keeper { session, source: None, input: output.input };
        let writes = append_writes(engine, &keeper, head, events).await?;
        match engine.storage.commit(Commit::raw(writes)).await {
            Err(StoreError::HeadMoved { .. } | StoreError::StreamExists(_)) => {}
            done => return done.map(|_| ()).map_err(Error::from),
        }
    }
    Err(Error::Restless)
}

/// Shortened form of a result, as it was shown.
struct ShownResult<'r> {
    /// Position of the result. `bytes` is the length of the result's full text.
    target: Seq,
    bytes: usize,
    text: String,
    reduced: &'r Reduced,
}

fn reduction_event(engine: &Engine, call: &str, shown: ShownResult<'_>) -> Result<NewEvent, Error> {
    let ShownResult { target, bytes, text, reduced } = shown;
    let how = Reduction {
        kind: reduced.kind.name().into(),
        level: reduced.level.name().into(),
        tokens_before: Tokens(reduced.tokens_before),
        tokens_after: Tokens(reduced.tokens_after),
        lossless: reduced.lossless,
        gaps: reduced.gaps.len() as u64,
    };
    let fact = ContentReduced {
        target,
        part: 0,
        text: Body::Inline(text),
        reducer: how.kind.clone(),
        bytes_before: Bytes(bytes as u64),
        standing: false,
        lane: None,
        how: Some(how),
    };
    Ok(NewEvent {
        id: EventId::new(format!("{call}{SHOWN}"))?,
        at: engine.now(),
        source: EventSource::Engine,
        fact: Fact::ContentReduced(Box::new(fact)),
    })
}

/// End of the id of an event that records the form in which an output was shown.
const SHOWN: &str = ":shown";

/// Returns whether an event of this id records the form in which an output was shown.
pub(crate) fn is_shown_form(id: &EventId) -> bool {
    id.as_str().ends_with(SHOWN)
}

/// Returns a call and its result as events.
fn exchange_events(
    engine: &Engine,
    output: &Output<'_>,
    call: &str,
    text: String,
) -> Result<Vec<NewEvent>, Error> {
    let id = CallId::from(call);
    let asked = Part::ToolCall {
        call: id.clone(),
        name: output.tool.into(),
        input: output.input.into(),
        gist: None,
        extra: None,
    };
    let answered =
        Part::ToolResult { call: id, content: vec![Part::text(text)], failed: output.failed, extra: None };
    let said = |name: &str, role, part| -> Result<NewEvent, Error> {
        let message = Message::new(role, vec![part]);
        let fact = Fact::MessageAppended(MessageAppended { message });
        Ok(NewEvent {
            id: EventId::new(format!("{call}:{name}"))?,
            at: engine.now(),
            source: EventSource::Live,
            fact,
        })
    };
    Ok(vec![said("call", Role::Assistant, asked)?, said("result", Role::Tool, answered)?])
}

/// A session that keeps an output.
struct Keeper<'k> {
    session: &'k StreamId,
    /// Source of an output that is kept as bytes, and its revision.
    source: Option<(SourceNo, u32)>,
    /// Arguments of the tool, which name the folder in which it ran.
    input: &'k str,
}

/// The folder among the arguments of a tool.
#[derive(Default, Deserialize)]
struct RanIn {
    cwd: Option<PathBuf>,
}

impl Keeper<'_> {
    /// Returns how the session opens: it belongs to the session whose outputs it keeps, or else to the project of the
    /// folder in which the tool ran.
    async fn opening(&self, engine: &Engine) -> Result<(SessionOpened, Scope, Option<Write>), Error> {
        let RanIn { cwd } = serde_json::from_str(self.input).unwrap_or_default();
        let opened = SessionOpened { parent: parent_of(self.session), ..SessionOpened::default() };
        let usual = cwd.or_else(|| engine.config.cwd.clone());
        let (scope, corrects) = opening_scope(engine, &opened, usual.as_deref()).await?;
        Ok((opened, scope, corrects))
    }
}

/// Returns the writes that append events, and open the session if it is new. Tokens are not counted here; the
/// background counts them.
async fn append_writes(
    engine: &Engine,
    keeper: &Keeper<'_>,
    head: Option<Seq>,
    events: Vec<NewEvent>,
) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    if head.is_none() {
        let (opened, scope, corrects) = keeper.opening(engine).await?;
        let begins = StreamStart { stream: keeper.session, at: engine.now(), from: keeper.source };
        writes.append(&mut opening_writes(engine, begins, opened, scope)?);
        writes.extend(corrects);
    }
    let events = pack_all(&engine.tenant.key, events)?;
    let (tenant, stream) = (engine.tenant.no, keeper.session.clone());
    writes.push(Write::Append { tenant, stream, expect_head: Some(head.unwrap_or(Seq(1))), events });
    Ok(writes)
}

/// Keeps bytes as a source under the handle of the bytes. Equal bytes are kept only once.
async fn keep_bytes(
    engine: &Engine,
    session: &StreamId,
    output: &Output<'_>,
    handle: Handle,
    shown: Option<(usize, &Reduced)>,
) -> Result<(), Error> {
    let key = format!("{OUTPUT_KEYS}{handle}");
    let by = SourceBy::Key(key.clone());
    let query = Query::Source { tenant: engine.tenant.no, by, revision: None };
    let call = call_name(output)?;
    let stream = StreamId::new(format!("{session}-{call}"))?;
    let note = format!("⟨{} bytes, kept as they are · {}⟩", output.bytes.len(), handle.short());
    let mut said = exchange_events(engine, output, &call, note)?;
    if let Some((seen, reduced)) =
        shown.filter(|(seen, reduced)| seen + reduced.text.len() <= MAX_MESSAGE_OUTPUT)
    {
        let seen = String::from_utf8_lossy(output.bytes.get(..seen).unwrap_or_default());
        let text = [&*seen, &reduced.text].concat();
        let result = ShownResult { target: RESULT, bytes: output.bytes.len(), text, reduced };
        said.push(reduction_event(engine, &call, result)?);
    }
    let keeper = |source| Keeper { session: &stream, source: Some(source), input: output.input };
    // An incomplete revision was interrupted, and a revision with erasures no longer has all its bytes; in both
    // cases, a new revision follows.
    let newest = match engine.ask(query, Answer::source).await? {
        Some(info) if info.revision.whole && info.revision.erased.is_empty() => {
            let keeper = keeper((info.no, info.revision.no));
            // Equal bytes of another user or project are stored once, and each scope has a session that holds them.
            if is_kept(engine, &info, &keeper.opening(engine).await?.1).await? {
                return Ok(());
            }
            let writes = append_writes(engine, &keeper, None, said).await?;
            engine.storage.commit(Commit::raw(writes)).await?;
            return Ok(());
        }
        info => info.map_or(0, |info| info.revision.no),
    };
    let owner = Owner { token: hex(random::<8>()?), until: engine.now() };
    let after = newest;
    let own = codec::revision_handle(&engine.tenant.key, handle, after + 1);
    let begin = Write::Source {
        tenant: engine.tenant.no,
        key,
        handle,
        format: BYTES.to_owned(),
        begin: Begin::New { after, handle: own },
        owner: owner.clone(),
        now: engine.now(),
        takes_over: true,
    };
    let Some(Written::Source(source, revision)) =
        engine.storage.commit(Commit::raw(vec![begin])).await?.pop()
    else {
        return Err(unexpected());
    };
    let mut offset = 0;
    for bytes in output.bytes.chunks(SOURCE_CHUNK) {
        let (owner, chunks) = (owner.clone(), vec![codec::pack_chunk(offset, bytes)]);
        let write = Write::Extend { source, revision, owner, from: offset, chunks, erased: Vec::new() };
        engine.storage.commit(Commit::raw(vec![write])).await?;
        offset += bytes.len() as u64;
    }
    let token = owner.token;
    let mut writes = vec![Write::Whole { source, revision, token, modified: None, reader: None, leaf: None }];
    writes.append(&mut append_writes(engine, &keeper((source, revision)), None, said).await?);
    engine.storage.commit(Commit::raw(writes)).await?;
    Ok(())
}

/// Returns whether a session with the same user and project holds a source.
async fn is_kept(engine: &Engine, info: &SourceInfo, scope: &Scope) -> Result<bool, Error> {
    let (tenant, source, revision) = (engine.tenant.no, info.no, Some(info.revision.no));
    let holders = engine.ask(Query::ReadFrom { tenant, source, revision }, Answer::streams).await?;
    let is_own = |own: &Scope| (&own.user, &own.project) == (&scope.user, &scope.project);
    Ok(holders.iter().any(|info| is_own(&info.scope)))
}

/// Suffix of the name of a session that keeps the outputs of commands run for another session.
const OUTPUTS: &str = "-outputs";

/// Name of the session that keeps the outputs of commands that belong to no other session, and beginning of the names of
/// those for a project.
const ALL_OUTPUTS: &str = "outputs";

/// Returns the session whose outputs this session keeps, derived from this session's name. An output that is kept as
/// bytes has a session of its own, named after the session that keeps the others and the call.
fn parent_of(session: &StreamId) -> Option<StreamId> {
    let (parent, call) = session.as_str().rsplit_once(OUTPUTS)?;
    StreamId::new(parent).ok().filter(|_| call.is_empty() || call.starts_with('-'))
}

/// Returns whether a session keeps outputs of commands.
pub(crate) fn keeps_outputs(session: &StreamId) -> bool {
    let rest = session.as_str().strip_prefix(ALL_OUTPUTS);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) || parent_of(session).is_some()
}

impl Output<'_> {
    /// Returns the session that keeps the outputs of commands run for a session. The session is named `ID-outputs`
    /// and has `ID` as its parent, even if `ID` is not recorded yet. Outputs have a separate session because an
    /// agent's session must not contain calls that its model did not make. For `outputs`, and for a session that
    /// already keeps outputs, returns the session itself.
    #[must_use]
    pub fn session_beside(session: &Session) -> Session {
        let id = &session.id;
        let child = StreamId::new(format!("{id}{OUTPUTS}")).ok();
        session.engine.session_by_id(child.filter(|_| !keeps_outputs(id)).unwrap_or_else(|| id.clone()))
    }

    /// Returns the session that keeps outputs: the one beside the given session, or that of the project of a folder for
    /// the engine's user, or `outputs`.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub async fn session_for(
        engine: &Engine,
        session: Option<&Session>,
        cwd: Option<&Path>,
    ) -> Result<Session, Error> {
        let Some(cwd) = cwd.filter(|cwd| session.is_none() && cwd.is_absolute()) else {
            let none = || Ok(engine.session_by_id(StreamId::new(ALL_OUTPUTS)?));
            return session.map_or_else(none, |session| Ok(Self::session_beside(session)));
        };
        let whose = (project_at(engine, cwd).await?, engine.config.user.as_deref());
        let mark = blake3::hash(format!("{whose:?}").as_bytes()).to_hex();
        let mark: String = mark.chars().take(8).collect();
        Ok(engine.session_by_id(StreamId::new(format!("{ALL_OUTPUTS}-{mark}"))?))
    }

    /// Returns a name for a call of a tool that no other call has.
    ///
    /// # Errors
    /// Fails if the system provides no random bytes.
    pub fn unique_call(tool: &str) -> Result<String, Error> {
        Ok(format!("{tool}-{}", hex(random::<8>()?)))
    }

    /// Returns the arguments of the tool `run` as a JSON object: the command line, its working directory, and its
    /// exit code if it ended by itself.
    #[must_use]
    pub fn run_input(command: &str, cwd: &str, exit_code: Option<i32>) -> String {
        serde_json::json!({ "command": command, "cwd": cwd, "exit_code": exit_code }).to_string()
    }
}

/// Returns the name of an output's call: the given one, or a random one.
fn call_name(output: &Output<'_>) -> Result<String, Error> {
    match output.call {
        Some(call) => Ok(call.to_owned()),
        None => Output::unique_call(output.tool),
    }
}

/// Beginning of the keys of outputs that are kept as bytes. No path begins like this, because paths are absolute.
pub(crate) const OUTPUT_KEYS: &str = "output/";

/// Position of the message in place of an output that is kept as bytes, in the session of its own that such an output has:
/// the opening event and the call precede it.
pub(crate) const RESULT: Seq = Seq(3);

fn hex(bytes: [u8; 8]) -> String {
    format!("{:016x}", u64::from_be_bytes(bytes))
}
