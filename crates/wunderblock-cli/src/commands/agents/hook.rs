//! `hook`: takes in what an agent's session has gained, hands back what the agent does not see, and never fails.
//!
//! The transcript is what counts: the hook reads its tail, so that a missed call loses nothing and nothing stands twice.
//! What went wrong is written to a log, because an agent shows it to nobody or stops at it.

use crate::args::{DigestArg, DigestScope, Global, Hook};
use crate::commands::agents::init::program;
use crate::commands::agents::through_run::through_run;
use crate::drawing::terminal::clean;
use crate::output::console::print;
use crate::output::exit::{Failure, wrong};
use crate::output::hint::failure_text;
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use wunderblock::machine::{Agent, find_session};
use wunderblock::recap::{DigestSource, digest, is_recap_due, recall, recap};
use wunderblock::redact::PushedText;
use wunderblock::{Engine, Session, reach_at};
use wunderblock_core::event::{
    EventSource, Fact, NewEvent, SessionClosed, SubagentOutcome, SubagentReturned, SubagentSpawned,
};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::{Bytes, Millis};
use wunderblock_settings::{Settings, places, private_file, state_folder};
use wunderblock_wire::hook::{Delegation, HookAgent, HookAnswer, HookCall, HookEvent, SessionSource};

/// Maximum time for which an agent waits. An import that takes longer is continued by the next call.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum length of the log in bytes. A longer log begins again, and the older one is kept beside it.
const MAX_LOG: u64 = 256 << 10;

pub(crate) fn run(global: &Global, wanted: &Hook) -> ExitCode {
    let (send, done) = mpsc::channel();
    let (own, its) = (global.clone(), wanted.clone());
    let started = std::thread::Builder::new().spawn(move || {
        let outcome = futures_executor::block_on(serve(&own, &its));
        // Nobody receives the outcome if the work took too long.
        let _ = send.send(outcome.map_err(|error| failure_text(&error)));
    });
    let problem = match started {
        Err(error) => Some(error.to_string()),
        Ok(_) => match done.recv_timeout(PATIENCE) {
            // An agent that no longer listens misses the text, and nothing else.
            Ok(Ok(answer)) => {
                answer.and_then(|answer| print(&answer).err()).map(|error| failure_text(&error))
            }
            Ok(Err(problem)) => Some(problem),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Some(format!("took longer than {} s; the next call continues", PATIENCE.as_secs()))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Some("ended unexpectedly".to_owned()),
        },
    };
    if let Some(problem) = problem {
        log(&wanted.agent, &problem);
    }
    ExitCode::SUCCESS
}

/// Takes in what the call reports, and returns the text with which the agent is answered.
async fn serve(global: &Global, wanted: &Hook) -> Result<Option<String>, Failure> {
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input)?;
    let Some(agent) = HookAgent::from_name(&wanted.agent) else {
        return Err(wrong(format!("unknown agent `{}`", wanted.agent)));
    };
    let text = String::from_utf8_lossy(&input);
    let call = HookCall::decode(agent, &text).map_err(wunderblock::Error::from)?;
    if let HookEvent::ToolStart(tool) = &call.event
        && wanted.run_commands
        && let Some(input) = through_run(tool, &program()?)
    {
        // The agent waits before each command, so the transcript is left to the call after it.
        return Ok(call.answer(&HookAnswer { context: None, input: Some(input) }));
    }
    let settings = Settings::read(&global.overrides())?;
    let is_new = matches!(call.event, HookEvent::SessionStart(SessionSource::Startup)) || call.begins;
    let recalls = matches!(call.event, HookEvent::Prompt(_)) && wanted.recall;
    // A transcript that the agent has not created yet is taken in by the next call.
    let sources = sources(&call)?;
    let digests = !matches!(wanted.digest.stated(), Some(DigestArg::Off));
    if sources.is_empty() && !((is_new && digests || recalls) && settings.db.is_file()) {
        return Ok(None);
    }
    let engine = settings.capture().await?;
    let session = take_in(&engine, &sources).await?;
    let own = session.as_ref().map(Session::id);
    let mut context = match beginning(&call, session.as_ref()).await? {
        Some(Beginning::Continued(session)) => recap(session, &guide(session).await?).await?,
        Some(Beginning::New) => match (wanted.digest.stated(), &call.cwd) {
            (Some(DigestArg::Of(scope)), Some(folder)) => {
                let agent = (scope == DigestScope::Own).then_some(agent.name());
                let reach = reach_at(&engine, folder, wanted.reach.choice()).await?;
                digest(&engine, &reach, folder, DigestSource { agent, except: own }).await?
            }
            (None, _) => digest_notice(agent).map(|text| settings.config().redactor.push(text)),
            _ => None,
        },
        None => None,
    };
    match (&call.event, &session) {
        (HookEvent::SessionEnd(reason), Some(session)) => {
            end(session, reason.as_deref(), (settings.config().clock)()).await?;
        }
        (HookEvent::SubagentStart(delegation) | HookEvent::SubagentEnd(delegation), Some(session)) => {
            report(session, &call, delegation, (settings.config().clock)()).await?;
        }
        (HookEvent::Prompt(prompt), _) if recalls && context.is_none() && call.inside.is_none() => {
            if let Some(folder) = &call.cwd {
                let reach = reach_at(&engine, folder, wanted.reach.choice()).await?;
                context = recall(&engine, &reach, own, prompt, RECALL_GUIDE).await?;
            }
        }
        // A prompt must not wait for the index, so it is brought up to date at the end of a turn.
        (HookEvent::TurnEnd(..), _) if wanted.recall => {
            engine.maintenance().index_briefly().await?;
        }
        _ => {}
    }
    Ok(call.answer(&HookAnswer { context: context.map(PushedText::into_string), input: None }))
}

/// Returns, once for each agent, what entries mean that state no choice about digests, as those of older versions.
fn digest_notice(agent: HookAgent) -> Option<&'static str> {
    let folder = state_folder()?;
    std::fs::create_dir_all(&folder).ok()?;
    // A file that exists says that the notice was given. Without a file, it would be repeated in every session.
    private_file()
        .write(true)
        .create_new(true)
        .open(folder.join(format!("digest-notice-{}", agent.name())))
        .ok()?;
    Some(
        "Wunderblock: new sessions no longer begin with a digest of the project's last ones, because a digest may show \
         one agent's sessions to another. Tell the user: `wunderblock init --digest` turns it on for this agent's own \
         sessions, `wunderblock init --no-digest` ends this notice.",
    )
}

/// A beginning, at which an agent is told what it does not see.
enum Beginning<'s> {
    /// A session without messages begins.
    New,
    /// A session continues after an interruption or a compaction.
    Continued(&'s Session),
}

/// Returns what begins with an event. Sub-agents get their task from their agent.
async fn beginning<'s>(
    call: &HookCall<'_>,
    session: Option<&'s Session>,
) -> Result<Option<Beginning<'s>>, Failure> {
    Ok(match (&call.event, session) {
        _ if call.inside.is_some() => None,
        (HookEvent::SessionStart(SessionSource::Startup), _) => Some(Beginning::New),
        (HookEvent::SessionStart(SessionSource::Compact | SessionSource::Resume), session) => {
            session.map(Beginning::Continued)
        }
        (HookEvent::Prompt(_), None) if call.begins => Some(Beginning::New),
        (HookEvent::Prompt(_), Some(session)) if call.begins => {
            let is_empty = session.info().await?.messages == 0;
            Some(if is_empty { Beginning::New } else { Beginning::Continued(session) })
        }
        // No event of these agents that takes in context follows a compaction; the transcript shows it.
        (HookEvent::Prompt(prompt), Some(session))
            if matches!(call.agent, HookAgent::GeminiCli | HookAgent::OpenCode)
                && is_recap_due(session, prompt).await? =>
        {
            Some(Beginning::Continued(session))
        }
        _ => None,
    })
}

/// How an agent reads the addresses of recalled passages.
const RECALL_GUIDE: &str = "Read an address with the tool `read` or `wunderblock read ADDRESS`; ignore the passages if they do not help.";

/// Returns what the call reports: the transcript, and that of a sub-agent that ends. OpenCode names no transcript.
fn sources(call: &HookCall<'_>) -> Result<Vec<PathBuf>, Failure> {
    if call.agent == HookAgent::OpenCode {
        let Some((agent, id)) = Agent::from_name(call.agent.name()).zip(call.session.as_deref()) else {
            return Ok(Vec::new());
        };
        return Ok(find_session(agent, &places(Vec::new())?, id).into_iter().collect());
    }
    let inner = match &call.event {
        HookEvent::SubagentEnd(delegation) => delegation.transcript.clone(),
        _ => None,
    };
    Ok(call.transcript.clone().into_iter().chain(inner).filter(|path| path.is_file()).collect())
}

/// Takes in what the sources have gained. Returns the session of the first one.
async fn take_in(engine: &Engine, sources: &[PathBuf]) -> Result<Option<Session>, Failure> {
    let mut session = None;
    for source in sources {
        let imported = engine.import(source, None, &mut |_, _| {}).await?;
        session = session.or(imported.sessions.into_iter().next());
    }
    Ok(session.map(|id| engine.session_by_id(id)))
}

/// Tells an agent how to read and search its session: by the tools of `mcp`, or by commands.
async fn guide(session: &Session) -> Result<String, Failure> {
    let handle = session.info().await?.handle;
    Ok(format!(
        "#N is a position: read it with the tool `read` ({handle}#N) or `wunderblock read {handle}#N`; find more with the \
         tool `search` or `wunderblock search --session {} WORDS`.",
        clean(session.id().as_str())
    ))
}

/// Records the end of a session, which no transcript contains. Gemini CLI calls the hook more than once for it.
async fn end(session: &Session, reason: Option<&str>, at: Millis) -> Result<(), Failure> {
    let head = session.info().await?.head;
    let last = session.events(head, head, 1, Bytes(1 << 20)).await?;
    if last.iter().any(|event| matches!(event.fact, Some(Fact::SessionClosed(_)))) {
        return Ok(());
    }
    let fact = Fact::SessionClosed(SessionClosed { reason: reason.map(Into::into) });
    // The id is that of the position, so that a call that is repeated adds nothing.
    let id = EventId::new(format!("hook:end:{head}")).map_err(wunderblock::Error::from)?;
    session.append(NewEvent { id, at, source: EventSource::Live, fact }).await?;
    Ok(())
}

/// Records the start or the end of a sub-agent in the session of its parent. The transcript says it only after the
/// sub-agent has ended, and does not say everything.
async fn report(
    session: &Session,
    call: &HookCall<'_>,
    delegation: &Delegation,
    at: Millis,
) -> Result<(), Failure> {
    let Some(child) = call.child_session(delegation).and_then(|name| StreamId::new(name).ok()) else {
        return Ok(());
    };
    let agents = session.engine().agents();
    if matches!(call.event, HookEvent::SubagentStart(_)) {
        let agent = delegation.kind.as_deref().map(Into::into);
        let spawned = SubagentSpawned { agent, ..SubagentSpawned::new(child) };
        agents.record_spawned(session, spawned, at).await?;
        return Ok(());
    }
    // The last message of a sub-agent with a transcript is in its own session.
    let message = delegation.message.as_deref().filter(|_| delegation.transcript.is_none());
    let result = message.map(|message| message.to_owned().into());
    let returned = SubagentReturned { result, ..SubagentReturned::new(child, SubagentOutcome::Done) };
    agents.record_returned(session, returned, at).await?;
    Ok(())
}

/// Adds a line to the log. A log that cannot be written is given up.
fn log(agent: &str, problem: &dyn Display) {
    let Some(folder) = state_folder() else { return };
    let path = folder.join("hook.log");
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    if path.metadata().is_ok_and(|meta| meta.len() > MAX_LOG) {
        let _ = std::fs::rename(&path, folder.join("hook.log.old"));
    }
    let Ok(mut file) = private_file().append(true).create(true).open(&path) else { return };
    let line = format!("{} {agent}: {problem}", jiff::Timestamp::now());
    let _ = writeln!(file, "{}", line.replace('\n', " "));
}
