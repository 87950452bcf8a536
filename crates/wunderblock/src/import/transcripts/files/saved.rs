//! State of an import, kept so that the next import can continue where this one stopped.

use crate::histories::rows_read::RowsRead;
use crate::import::transcripts::tree::{Branch, Point, SessionOrigin, SessionTree};
use serde::{Deserialize, Serialize};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq};

/// Version of the encoded state. A state with another version is ignored, and the file is read from its beginning.
const VERSION: u8 = 1;

/// Maximum number of user turns kept per branch. After a rollback over more turns, the file is read from its
/// beginning.
const TURNS: usize = 1_000;

/// State of an import at the end of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::import::transcripts) struct Saved {
    /// Offset of the first byte to read again.
    pub(in crate::import::transcripts) at: u64,
    /// Number of the last line before the first byte to read again.
    pub(in crate::import::transcripts) line: u64,
    /// Latest time of a record.
    pub(in crate::import::transcripts) newest: Millis,
    /// Index of the file's own session.
    pub(in crate::import::transcripts) own: Option<usize>,
    pub(in crate::import::transcripts) sessions: Vec<SavedTree>,
    /// Samples of the file: offset, number of bytes and checksum. The samples identify a grown file.
    pub(in crate::import::transcripts) samples: Vec<(u64, u64, i64)>,
    /// For a session in a database: what is remembered of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::import::transcripts) rows: Option<RowsRead>,
    /// Encoded state of the transcript reader.
    #[serde(skip)]
    pub(in crate::import::transcripts) reader: Vec<u8>,
}

/// A session of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::import::transcripts) struct SavedTree {
    /// Name of the session in the file's records; empty for the file's own session.
    pub(in crate::import::transcripts) key: Box<str>,
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
    pub(in crate::import::transcripts) fn encode(&self) -> Option<Vec<u8>> {
        let rest = serde_json::to_vec(self).ok()?;
        let mut out = vec![VERSION];
        out.extend_from_slice(&u32::try_from(rest.len()).ok()?.to_le_bytes());
        out.extend_from_slice(&rest);
        out.extend_from_slice(&self.reader);
        Some(out)
    }

    pub(in crate::import::transcripts) fn decode(bytes: &[u8]) -> Option<Self> {
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
    /// Encodes a session's tree. Returns `None` while any event of the session is not committed.
    pub(in crate::import::transcripts) fn of(key: &str, tree: &SessionTree) -> Option<Self> {
        let branches = tree.branches().iter().enumerate().map(|(index, branch)| {
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

    /// Restores the session's tree. `said` returns the current latest message of a branch.
    pub(in crate::import::transcripts) fn tree(
        self,
        said: impl Fn(&StreamId) -> Option<Seq>,
    ) -> Option<SessionTree> {
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
        let mut branches = branches.into_iter();
        let (first, standing) = (branches.next()?, SessionOrigin::Open { before: true });
        let mut tree = SessionTree::new(self.root, self.name, standing, first);
        for branch in branches {
            tree.add(branch);
        }
        tree.current = self.current;
        Some(tree)
    }

    /// Returns the streams of the session's branches.
    pub(in crate::import::transcripts) fn streams(&self) -> impl Iterator<Item = &StreamId> {
        self.branches.iter().map(|branch| &branch.stream)
    }
}
