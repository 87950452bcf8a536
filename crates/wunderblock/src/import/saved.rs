//! What an import keeps so that the next one can read on where it stopped.

use super::tree::{Branch, Point, SessionOrigin, SessionTree};
use serde::{Deserialize, Serialize};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq};

/// The version of what is written here. Another one is not read, and the file is read from its beginning.
const VERSION: u8 = 1;

/// User turns of a branch that are kept. A rollback over more of them reads the file from its beginning.
const TURNS: usize = 1_000;

/// The state of an import at the end of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The first byte that is read again.
    pub(super) at: u64,
    /// The number of its line.
    pub(super) line: u64,
    /// The newest time of a record.
    pub(super) newest: Millis,
    /// Which of the sessions is the file's own.
    pub(super) own: Option<usize>,
    pub(super) sessions: Vec<SavedTree>,
    /// Places of the file, how many bytes, and their checksum: by these a grown file is known again.
    pub(super) samples: Vec<(u64, u64, i64)>,
    /// The reader's state.
    #[serde(skip)]
    pub(super) reader: Vec<u8>,
}

/// A session of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedTree {
    /// What records of it are called in the file; empty for the file's own.
    pub(super) key: Box<str>,
    root: StreamId,
    name: String,
    branches: Vec<SavedBranch>,
    current: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedBranch {
    stream: StreamId,
    opened: Seq,
    compacted: Seq,
    last: Seq,
    fork: Option<(usize, Seq)>,
    turns: Vec<Seq>,
}

impl Saved {
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let rest = serde_json::to_vec(self).ok()?;
        let mut out = vec![VERSION];
        out.extend_from_slice(&u32::try_from(rest.len()).ok()?.to_le_bytes());
        out.extend_from_slice(&rest);
        out.extend_from_slice(&self.reader);
        Some(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (len, rest) = rest.split_at_checked(4)?;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        let (own, reader) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        if *version != VERSION {
            return None;
        }
        let mut saved: Self = serde_json::from_slice(own).ok()?;
        saved.reader = reader.to_vec();
        Some(saved)
    }
}

impl SavedTree {
    /// `None` while events of the session are not committed.
    pub(super) fn of(key: &str, tree: &SessionTree) -> Option<Self> {
        let branches = tree.branches.iter().enumerate().map(|(index, branch)| {
            let seq = |point: Point| tree.seq((index, point));
            let turns = branch.turns.iter().rev().take(TURNS).rev();
            Some(SavedBranch {
                stream: branch.stream.clone(),
                opened: branch.opened,
                compacted: branch.compacted,
                last: seq(branch.last)?,
                fork: match branch.fork {
                    Some((parent, point)) => Some((parent, tree.seq((parent, point))?)),
                    None => None,
                },
                turns: turns.map(|turn| seq(*turn)).collect::<Option<_>>()?,
            })
        });
        Some(Self {
            key: key.into(),
            root: tree.root.clone(),
            name: tree.name.clone(),
            branches: branches.collect::<Option<_>>()?,
            current: tree.current,
        })
    }

    /// The session as it was, with the newest message of each branch as it is now.
    pub(super) fn tree(self, said: impl Fn(&StreamId) -> Option<Seq>) -> Option<SessionTree> {
        let branches = self.branches.into_iter().map(|saved| {
            let said = said(&saved.stream)?;
            let mut branch = Branch::new(saved.stream, saved.opened, said);
            branch.compacted = saved.compacted;
            branch.last = Point::Seq(saved.last);
            branch.fork = saved.fork.map(|(parent, seq)| (parent, Point::Seq(seq)));
            branch.turns = saved.turns.into_iter().map(Point::Seq).collect();
            Some(branch)
        });
        let branches: Vec<Branch> = branches.collect::<Option<_>>()?;
        let first = branches.first()?.clone();
        let mut tree = SessionTree::new(self.root, self.name, SessionOrigin::Open { before: true }, first);
        tree.branches = branches;
        tree.current = self.current;
        Some(tree)
    }

    /// The streams of its branches.
    pub(super) fn streams(&self) -> impl Iterator<Item = &StreamId> {
        self.branches.iter().map(|branch| &branch.stream)
    }
}
