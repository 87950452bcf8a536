//! A command of the MCP server, which ends with the server.
//!
//! ```text
//! server ─► guarded ─► sh -c LINE ─► whatever it starts
//!              ├─► spool, for the next command if the server ends before it has stored the output
//!              └─► the server's pipe
//! ```
//! Nothing of a killed server is left to end its command, so this process stands between the two: Linux signals it at
//! the server's end, and gives it the processes that the command has left, sessions of their own included.

use super::{command, not_started};
use crate::args::{Global, GuardedArgs};
use crate::output::exit::{Exit, FAILED};
use crate::resolve::fallback::settings_or_defaults;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{PipeReader, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use wunderblock_settings::spool::{Spool, SpoolHead};

/// Time for which output is awaited that a process left behind may still write after the command's end.
const GRACE: Duration = Duration::from_millis(250);
/// Pause between two looks for processes to end.
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum number of looks. A command that starts processes faster than they are ended is left to the group's end.
const LOOKS: usize = 500;

/// Runs a command, and ends it and all that it has started at a signal or with the server.
pub(crate) fn guarded(global: &Global, wanted: &GuardedArgs) -> Exit {
    let settings = settings_or_defaults(global)?;
    let signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(std::io::Error::from)?;
    set_child_subreaper(Some(getpid())).map_err(std::io::Error::from)?;
    let server = Pid::from_raw(wanted.server);
    // The server may have ended before the system knew whom to tell.
    if getppid() != server {
        return Ok(ExitCode::from(FAILED));
    }
    let head = SpoolHead {
        call: wanted.call.clone(),
        session: wanted.session.clone(),
        tenant: settings.config().tenant.as_str().to_owned(),
        command: wanted.command.last().map(|line| line.to_string_lossy().into_owned()).unwrap_or_default(),
        cwd: super::cwd(),
    };
    let mut spool = Spool::begin(&settings.db, &head).ok();
    let (reader, writer) = std::io::pipe()?;
    let mut command = command(&wanted.command, false)?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().map_err(|error| not_started(command.get_program(), &error))?;
    // The command holds our copies of the pipe's end; with them open, the output would never end.
    drop(command);
    let is_ending = end_at_a_signal(signals);
    let (told, ended) = channel();
    let passing = std::thread::spawn(move || {
        pass_on(reader, spool.as_mut());
        let _ = told.send(());
    });
    let status = child.wait();
    let is_held = ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout);
    // The other thread may not be done, and what is left when we end is nobody's.
    if is_held || is_ending.load(Ordering::Relaxed) {
        end_descendants();
    }
    let _ = passing.join();
    Ok(ExitCode::from(status.map_or(FAILED, super::code)))
}

/// Ends everything at a signal. Returns whether one has come.
fn end_at_a_signal(mut signals: signal_hook::iterator::Signals) -> Arc<AtomicBool> {
    let is_ending = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_ending);
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            told.store(true, Ordering::Relaxed);
            end_descendants();
        }
    });
    is_ending
}

fn pass_on(mut reader: PipeReader, mut spool: Option<&mut Spool>) {
    let mut piece = vec![0; 16 << 10];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => {
                let bytes = piece.get(..read).unwrap_or_default();
                if let Some(spool) = &mut spool {
                    spool.append(bytes);
                }
                // Without a server, nobody reads it.
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(bytes).and_then(|()| out.flush());
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends everything that the command has started. A process whose parent ends becomes our child, so that none is missed.
fn end_descendants() {
    for _ in 0..LOOKS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            let _ = kill_process(child, Signal::KILL);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        std::thread::sleep(PAUSE);
    }
}

/// Returns our children, those of all threads.
fn children() -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let pids: Vec<i32> = lists
        .flat_map(|list| list.split_whitespace().map(str::parse).collect::<Vec<_>>())
        .flatten()
        .collect();
    pids.into_iter().filter_map(Pid::from_raw).collect()
}
