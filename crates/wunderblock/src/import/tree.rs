//! Where records belong: sessions in a file, branches in a session.
//!
//! A record says which record it follows. If nothing has been said after that one, the branch goes on; otherwise a fork
//! begins there. Places of this import's own events are counted until they are committed; places of what was there
//! before are positions.

use std::collections::HashMap;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// A place in a branch: after a position, or after the n-th event this import gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// What is there already stands before whatever comes.
    Seq(Seq),
    /// Counted from 1.
    Nth(usize),
}

/// One branch: a stream.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) stream: StreamId,
    /// The position of each event of this import, in order; those still to be committed are missing at the end.
    pub(super) seqs: Vec<Seq>,
    /// How many events this import has given it, committed or not.
    pub(super) count: usize,
    /// Where it forked: the branch, and after what.
    pub(super) fork: Option<(usize, Point)>,
    /// The places before the person's turns, in order.
    pub(super) turns: Vec<Point>,
    /// The position before its first event.
    pub(super) opened: Seq,
    /// The last position a summary covers.
    pub(super) compacted: Seq,
    /// The record that was read last.
    pub(super) last: Point,
    /// The newest message of the conversation, whoever wrote it.
    pub(super) tip: Point,
}

impl Branch {
    /// A branch of which nothing has been read yet. `said` is its newest message.
    pub(super) fn new(stream: StreamId, opened: Seq, said: Seq) -> Self {
        Self {
            stream,
            seqs: Vec::new(),
            count: 0,
            fork: None,
            turns: Vec::new(),
            opened,
            compacted: Seq::START,
            last: Point::Seq(opened),
            tip: Point::Seq(said),
        }
    }
}

/// How a session of the file came into the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionOrigin {
    /// It is there. `before`: it was before this import, so that records may be known.
    Open { before: bool },
    /// All records so far stand in another session, the last of them here: it will be a child of that one.
    Kin { parent: StreamId, at_seq: Seq },
}

/// One session of a file.
#[derive(Clone, Debug)]
pub(super) struct SessionTree {
    pub(super) root: StreamId,
    /// The session's own id, by which erasures name it.
    pub(super) name: String,
    pub(super) standing: SessionOrigin,
    pub(super) branches: Vec<Branch>,
    /// The branch of the newest record.
    pub(super) current: usize,
    /// Names of branches that are taken by branches that began elsewhere.
    pub(super) taken: usize,
    /// By hash of the native id: branch and place of each record of this import.
    ids: HashMap<i64, (u32, Point)>,
}

impl SessionTree {
    pub(super) fn new(root: StreamId, name: String, standing: SessionOrigin, first: Branch) -> Self {
        Self { root, name, standing, branches: vec![first], current: 0, taken: 0, ids: HashMap::new() }
    }

    /// Whether records of it may be in the ledger already.
    pub(super) fn was_before(&self) -> bool {
        !matches!(self.standing, SessionOrigin::Open { before: false })
    }

    pub(super) fn branch(&self) -> Option<&Branch> {
        self.branches.get(self.current)
    }

    pub(super) fn branch_mut(&mut self) -> Option<&mut Branch> {
        self.branches.get_mut(self.current)
    }

    /// Where the newest record stands.
    pub(super) fn last(&self) -> (usize, Point) {
        (self.current, self.branch().map_or(Point::Seq(Seq::START), |branch| branch.last))
    }

    /// Remembers where a record stands.
    pub(super) fn remember(&mut self, id: i64, (branch, point): (usize, Point)) {
        self.ids.insert(id, (u32::try_from(branch).unwrap_or(u32::MAX), point));
    }

    /// Where a record of this import stands.
    pub(super) fn place(&self, id: i64) -> Option<(usize, Point)> {
        self.ids.get(&id).map(|(branch, point)| (*branch as usize, *point))
    }

    /// Whether anything has been said in it.
    pub(super) fn has_messages(&self) -> bool {
        self.branches.iter().any(|branch| branch.tip > Point::Seq(branch.opened))
    }

    /// Whether nothing has been said in a branch after a place.
    pub(super) fn is_tip(&self, (branch, point): (usize, Point)) -> bool {
        self.branches.get(branch).is_some_and(|branch| branch.tip <= point)
    }

    /// The place before the newest `turns` user turns of the current branch.
    pub(super) fn before_turns(&self, turns: u64) -> Option<(usize, Point)> {
        let mut left = usize::try_from(turns).unwrap_or(usize::MAX);
        let mut index = self.current;
        let mut limit = None;
        loop {
            let branch = self.branches.get(index)?;
            let own: Vec<Point> =
                branch.turns.iter().copied().filter(|turn| limit.is_none_or(|limit| *turn < limit)).collect();
            if left == 0 {
                return Some((index, limit.map_or(branch.last, |limit| branch.last.min(limit))));
            }
            if left <= own.len() {
                return own.get(own.len() - left).map(|turn| (index, *turn));
            }
            left -= own.len();
            match branch.fork {
                Some((parent, point)) => (index, limit) = (parent, Some(point)),
                None => return Some((index, Point::Seq(branch.opened))),
            }
        }
    }

    /// The position of a place; `None` while its event is not committed.
    pub(super) fn seq(&self, (branch, point): (usize, Point)) -> Option<Seq> {
        match point {
            Point::Seq(seq) => Some(seq),
            Point::Nth(number) => self.branches.get(branch)?.seqs.get(number.checked_sub(1)?).copied(),
        }
    }

    /// The name of the next branch: branches after the first are `ID~2`, `ID~3` and so on.
    pub(super) fn next_name(&self) -> String {
        format!("{}~{}", self.root, self.branches.len() + self.taken + 1)
    }
}

/// Where a record was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordPlacement {
    /// At the end of the current branch.
    New,
    /// It is there already, up to this position of the current branch.
    There(Seq),
    /// It says nothing, and follows an earlier place.
    Beside((usize, Point)),
    /// It stands in the session that this one will be a child of.
    Elsewhere,
}

/// What a session of the file is to this import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belongs {
    /// One of the import's sessions, by its place among them.
    To(usize),
    /// It was erased, and does not come back.
    Erased,
}

impl Belongs {
    pub(super) fn index(self) -> Option<usize> {
        match self {
            Self::To(index) => Some(index),
            Self::Erased => None,
        }
    }
}
