//! `hook`: takes in what an agent's session has gained, and never fails.
//!
//! The transcript is what counts: the hook reads its tail, so that a missed call loses nothing and nothing stands twice.
//! What went wrong is written to a log, because an agent shows it to nobody or stops at it.

use crate::args::{Global, Hook};
use crate::exit::Failure;
use crate::hint::failure_text;
use crate::settings::{Settings, state_folder};
use std::fmt::Display;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use wunderblock_core::event::{EventSource, Fact, NewEvent, SessionClosed};
use wunderblock_core::id::EventId;
use wunderblock_wire::hook::{HookAgent, HookCall, HookEvent};

/// Maximum time for which an agent waits. An import that takes longer is continued by the next call.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum length of the log in bytes. A longer log begins again, and the older one is kept beside it.
const MAX_LOG: u64 = 256 << 10;

pub(crate) fn run(global: &Global, wanted: &Hook) -> ExitCode {
    let (send, done) = mpsc::channel();
    let (own, agent) = (global.clone(), wanted.agent.clone());
    let started = std::thread::Builder::new().spawn(move || {
        let outcome = futures_executor::block_on(take_in(&own, &agent));
        // Nobody receives the outcome if the work took too long.
        let _ = send.send(outcome.map_err(|error| failure_text(&error)));
    });
    let problem = match started {
        Err(error) => Some(error.to_string()),
        Ok(_) => match done.recv_timeout(PATIENCE) {
            Ok(Ok(())) => None,
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

/// Takes in the tail of the session's transcript, and the end of the session, which no transcript contains.
async fn take_in(global: &Global, agent: &str) -> Result<(), Failure> {
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input)?;
    let Some(agent) = HookAgent::from_name(agent) else {
        return Err(crate::exit::wrong(format!("unknown agent `{agent}`")));
    };
    let text = String::from_utf8_lossy(&input);
    let call = HookCall::decode(agent, &text).map_err(wunderblock::Error::from)?;
    let inner = match &call.event {
        HookEvent::SubagentEnd(delegation) => delegation.transcript.as_deref(),
        _ => None,
    };
    // A transcript that the agent has not created yet is taken in by the next call.
    let files: Vec<_> =
        call.transcript.as_deref().into_iter().chain(inner).filter(|path| path.is_file()).collect();
    let ends = matches!(call.event, HookEvent::SessionEnd(_));
    if files.is_empty() {
        return Ok(());
    }
    let settings = Settings::read(global)?;
    let engine = settings.capture().await?;
    let mut session = None;
    for file in files {
        let imported = engine.import(file, None, &mut |_, _| {}).await?;
        session = session.or(imported.sessions.into_iter().next());
    }
    if let (true, Some(session), HookEvent::SessionEnd(reason)) = (ends, session, &call.event) {
        let session = engine.session_by_id(session);
        let head = session.info().await?.head;
        let fact = Fact::SessionClosed(SessionClosed { reason: reason.as_deref().map(Into::into) });
        // The id is that of the position, so that a call that is repeated adds nothing.
        let id = EventId::new(format!("hook:end:{head}")).map_err(wunderblock::Error::from)?;
        let at = (settings.config().clock)();
        session.append(NewEvent { id, at, source: EventSource::Live, fact }).await?;
    }
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
    let Ok(mut file) = std::fs::File::options().append(true).create(true).open(&path) else { return };
    let line = format!("{} {agent}: {problem}", jiff::Timestamp::now());
    let _ = writeln!(file, "{}", line.replace('\n', " "));
}
