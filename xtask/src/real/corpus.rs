//! Real sessions of a folder: which files make up a session, which half it belongs to, and its import.
//!
//! Snapshots of one growing session lie together in a folder `chain__NAME`. The file of an agent's delegate is named
//! after the session that started it (`NAME-agent-ID.jsonl`), and belongs to that session.

use crate::program::ChoreResult;
use futures_executor::block_on;
use std::path::{Path, PathBuf};
use wunderblock::{Engine, Session, transcripts};

/// Beginning of the name of a folder with snapshots of one session.
const CHAIN: &str = "chain__";
/// Part of the name of a delegate's file, after the name of its session.
const DELEGATE: &str = "-agent-";

/// A session of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealSession {
    /// Name of the session's own file, or of the folder with its snapshots.
    pub(crate) name: String,
    /// Snapshots of the session's own file, in the order of its growth; one file for most sessions.
    pub(crate) snapshots: Vec<PathBuf>,
    /// Files of its delegates.
    pub(crate) delegates: Vec<PathBuf>,
}

/// A half of the sessions, by the hash of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Half {
    /// For tuning.
    Even,
    /// For a single look at the end.
    Odd,
}

/// Returns the sessions of files and folders, sorted by name.
pub(crate) fn sessions(paths: &[PathBuf]) -> ChoreResult<Vec<RealSession>> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(transcripts(path)?.files.into_iter().map(|file| file.path));
    }
    files.sort_unstable();
    files.dedup();
    let mut sessions: Vec<RealSession> = Vec::new();
    // The files of delegates come last, so that their sessions are known.
    files.sort_by_key(|file| name_of(file).contains(DELEGATE));
    for file in files {
        let (name, folder) = (name_of(&file), file.parent().map(name_of).unwrap_or_default());
        let owner = name.split_once(DELEGATE).map(|(owner, _)| owner);
        let owner = owner.and_then(|owner| {
            sessions.iter_mut().find(|session| session.name.split('.').next() == Some(owner))
        });
        if let Some(session) = owner {
            session.delegates.push(file);
        } else if folder.starts_with(CHAIN) {
            match sessions.iter_mut().find(|session| session.name == folder) {
                Some(session) => session.snapshots.push(file),
                None => sessions.push(RealSession::new(folder, file)),
            }
        } else {
            sessions.push(RealSession::new(name, file));
        }
    }
    sessions.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sessions)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl RealSession {
    fn new(name: String, file: PathBuf) -> Self {
        Self { name, snapshots: vec![file], delegates: Vec::new() }
    }

    /// Returns the half that the session belongs to: whether the first number of `printf %s NAME | cksum` is even.
    pub(crate) fn half(&self) -> Half {
        if cksum(self.name.as_bytes()).is_multiple_of(2) { Half::Even } else { Half::Odd }
    }

    /// Returns the name without its ending, for tables.
    pub(crate) fn title(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// Chooses `count` sessions by the hash of their names, so that the same folder gives the same choice; all if `count`
/// is 0. The choice for a smaller count is part of that for a larger one.
pub(crate) fn sample(mut sessions: Vec<RealSession>, count: usize) -> Vec<RealSession> {
    if count == 0 || count >= sessions.len() {
        return sessions;
    }
    sessions.sort_by_key(|session| *blake3::hash(session.name.as_bytes()).as_bytes());
    sessions.truncate(count);
    sessions.sort_by(|a, b| a.name.cmp(&b.name));
    sessions
}

/// A ledger of its own, in a folder that is deleted with it.
pub(crate) struct FreshLedger {
    pub(crate) engine: Engine,
    folder: tempfile::TempDir,
}

impl FreshLedger {
    pub(crate) fn open() -> ChoreResult<Self> {
        let folder = tempfile::tempdir()?;
        let engine = block_on(Engine::open(folder.path().join("ledger.db")))?;
        Ok(Self { engine, folder })
    }

    /// Imports a snapshot of a session as the state of one growing file, with the files of its delegates, and returns
    /// the session's latest branch.
    pub(crate) fn import(&self, session: &RealSession, snapshot: &Path) -> ChoreResult<Session> {
        let own = match session.snapshots.len() {
            0 | 1 => snapshot.to_owned(),
            _ => {
                let grown = self.folder.path().join("grown.jsonl");
                std::fs::copy(snapshot, &grown)?;
                grown
            }
        };
        let imported = block_on(self.engine.import(&own, None, &mut |_, _| {}))?;
        for delegate in &session.delegates {
            block_on(self.engine.import(delegate, None, &mut |_, _| {}))?;
        }
        let first = imported.sessions.first().ok_or("the file has no session")?;
        Ok(self.engine.session_by_id(first.clone()))
    }

    /// Imports the last snapshot of a session.
    pub(crate) fn import_whole(&self, session: &RealSession) -> ChoreResult<Session> {
        self.import(session, session.snapshots.last().ok_or("no file")?)
    }
}

/// Returns the checksum that POSIX defines for `cksum`.
pub(crate) fn cksum(bytes: &[u8]) -> u32 {
    let length = bytes.len().to_le_bytes();
    let used = length.len() - length.iter().rev().take_while(|byte| **byte == 0).count();
    let all = bytes.iter().chain(length.iter().take(used));
    let shift = |sum: u32| if sum & 0x8000_0000 == 0 { sum << 1 } else { (sum << 1) ^ 0x04c1_1db7 };
    !all.fold(0, |sum: u32, byte| (0..8).fold(sum ^ (u32::from(*byte) << 24), |sum, _| shift(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_checksum_of_the_command() {
        assert_eq!(cksum(b""), 4_294_967_295);
        assert_eq!(cksum(b"123456789"), 930_766_865);
    }

    #[test]
    fn snapshots_and_delegates_belong_to_their_session() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}\n").unwrap();
        };
        ["a__b__1.jsonl", "a__b__1-agent-7.jsonl", "chain__a__2/01.jsonl", "chain__a__2/00.jsonl"]
            .into_iter()
            .for_each(write);
        let found = sessions(&[folder.path().to_owned()]).unwrap();
        let names: Vec<(&str, usize, usize)> =
            found.iter().map(|one| (one.name.as_str(), one.snapshots.len(), one.delegates.len())).collect();
        assert_eq!(names, [("a__b__1.jsonl", 1, 1), ("chain__a__2", 2, 0)]);
        assert!(found.iter().flat_map(|one| &one.snapshots).is_sorted());
    }

    #[test]
    fn a_smaller_sample_is_part_of_a_larger_one() {
        let all: Vec<RealSession> =
            (0..9).map(|at| RealSession::new(format!("s{at}.jsonl"), PathBuf::new())).collect();
        let (three, five) = (sample(all.clone(), 3), sample(all.clone(), 5));
        assert_eq!((three.len(), five.len(), sample(all, 0).len()), (3, 5, 9));
        assert!(three.iter().all(|one| five.contains(one)));
    }
}
