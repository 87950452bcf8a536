//! Places of records: sessions in a file, and branches in a session.
//!
//! Each record names the record that it follows. If no message follows that record yet, the branch continues;
//! otherwise a fork begins there. Places of this import's events are expressed as event numbers until the events are
//! committed. Places of earlier events are positions.

use std::collections::HashMap;
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::units::Seq;

/// A place in a branch: after a position, or after the n-th event that this import added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// A position. Positions sort before counted events, because they were stored earlier.
    Seq(Seq),
    /// Number of an event of this import, counted from 1.
    Nth(usize),
}

/// A branch of a session, stored as a stream.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) stream: StreamId,
    /// Positions of this import's events. Events not yet committed are missing at the end.
    pub(super) seqs: Positions,
    /// Number of events that this import has added, committed or not.
    pub(super) count: usize,
    /// Parent branch, and the place after which this branch forked.
    pub(super) fork: Option<(usize, Point)>,
    /// Places before the user's turns, in order.
    pub(super) turns: Vec<Point>,
    /// Position before the branch's first event.
    pub(super) opened: Seq,
    /// Last position that a summary covers.
    pub(super) compacted: Seq,
    /// Place of the record that was read last.
    pub(super) last: Point,
    /// Place of the latest message in the conversation, including messages of live agents.
    pub(super) tip: Point,
}

impl Branch {
    /// Creates a branch of which no record has been read yet. `said` is the position of the branch's latest message.
    pub(super) fn new(stream: StreamId, opened: Seq, said: Seq) -> Self {
        Self {
            stream,
            seqs: Positions::default(),
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

/// Positions of events in their order. Neighbouring positions take no memory: a file may have millions of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    /// Index and position of the first event of each run of neighbouring positions.
    runs: Vec<(usize, Seq)>,
    len: usize,
}

impl Positions {
    pub(super) fn push(&mut self, seq: Seq) {
        let next = self.runs.last().map(|(first, start)| start.0 + (self.len - first) as u64);
        if next != Some(seq.0) {
            self.runs.push((self.len, seq));
        }
        self.len += 1;
    }

    fn get(&self, index: usize) -> Option<Seq> {
        let run = self.runs.partition_point(|(first, _)| *first <= index).checked_sub(1)?;
        let (first, start) = self.runs.get(run).filter(|_| index < self.len)?;
        Some(Seq(start.0 + (index - first) as u64))
    }
}

/// A place with its branch, in half of the memory. Places beyond 2³¹ are not represented.
#[derive(Clone, Copy, Debug)]
struct SmallPlace {
    branch: u32,
    /// The number or the position, and in the lowest bit whether it is a number.
    point: u32,
}

impl SmallPlace {
    fn of((branch, point): (usize, Point)) -> Option<Self> {
        let (value, is_nth) = match point {
            Point::Seq(seq) => (seq.0, 0),
            Point::Nth(number) => (number as u64, 1),
        };
        let point = u32::try_from(value.checked_mul(2)? + is_nth).ok()?;
        Some(Self { branch: u32::try_from(branch).ok()?, point })
    }

    fn place(self) -> (usize, Point) {
        let value = self.point / 2;
        let point =
            if self.point % 2 == 1 { Point::Nth(value as usize) } else { Point::Seq(Seq(value.into())) };
        (self.branch as usize, point)
    }
}

/// Relation of a session of the file to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionOrigin {
    /// The session is in the ledger. `before` is true if the session existed before this import, so that its records
    /// may already be known.
    Open { before: bool },
    /// All records read so far are in another session, the last of them at `at_seq`. The session will become a child
    /// of the session that already contains its records.
    Kin { parent: StreamId, at_seq: Seq },
}

/// A session of a file.
#[derive(Clone, Debug)]
pub(super) struct SessionTree {
    pub(super) root: StreamId,
    /// The session's own id, which erasures use.
    pub(super) name: String,
    pub(super) standing: SessionOrigin,
    /// Scope of the session and its branches.
    pub(super) scope: Scope,
    branches: Vec<Branch>,
    /// Index of the branch that is stored as a stream.
    by_stream: HashMap<StreamId, usize>,
    /// Index of the latest record's branch.
    pub(super) current: usize,
    /// Number of branch names skipped because other branches have them.
    pub(super) taken: usize,
    /// Whether the session is that of a sub-agent, whose prompts its parent writes.
    pub(super) is_delegates: bool,
    /// Names of the sessions whose records the session repeats, for their erasures.
    pub(super) kin: Vec<String>,
    /// Branch and place of each record of this import, by the hash of the record's id.
    ids: HashMap<i64, SmallPlace>,
}

impl SessionTree {
    pub(super) fn new(root: StreamId, name: String, standing: SessionOrigin, first: Branch) -> Self {
        let mut tree = Self {
            root,
            name,
            standing,
            scope: Scope::default(),
            branches: Vec::new(),
            by_stream: HashMap::new(),
            current: 0,
            taken: 0,
            is_delegates: false,
            kin: Vec::new(),
            ids: HashMap::new(),
        };
        tree.begin(first);
        tree
    }

    /// Replaces all branches by one.
    pub(super) fn begin(&mut self, first: Branch) {
        self.branches.clear();
        self.by_stream.clear();
        self.add(first);
    }

    /// Adds a branch, and returns its index.
    pub(super) fn add(&mut self, branch: Branch) -> usize {
        let index = self.branches.len();
        self.by_stream.insert(branch.stream.clone(), index);
        self.branches.push(branch);
        index
    }

    /// Returns the branches in the order in which they began.
    pub(super) fn branches(&self) -> &[Branch] {
        &self.branches
    }

    pub(super) fn at_mut(&mut self, index: usize) -> Option<&mut Branch> {
        self.branches.get_mut(index)
    }

    /// Returns the index of the branch that is stored as a stream.
    pub(super) fn index_of(&self, stream: &StreamId) -> Option<usize> {
        self.by_stream.get(stream).copied()
    }

    /// Returns whether records of the session may already be in the ledger.
    pub(super) fn was_before(&self) -> bool {
        !matches!(self.standing, SessionOrigin::Open { before: false })
    }

    pub(super) fn branch(&self) -> Option<&Branch> {
        self.branches.get(self.current)
    }

    pub(super) fn branch_mut(&mut self) -> Option<&mut Branch> {
        self.branches.get_mut(self.current)
    }

    /// Returns the place of the latest record.
    pub(super) fn last(&self) -> (usize, Point) {
        (self.current, self.branch().map_or(Point::Seq(Seq::START), |branch| branch.last))
    }

    /// Stores the place of a record. A record that no place can be stored for counts as unknown to later records.
    pub(super) fn remember(&mut self, id: i64, place: (usize, Point)) {
        self.ids.extend(SmallPlace::of(place).map(|place| (id, place)));
    }

    /// Returns the place of a record of this import.
    pub(super) fn place(&self, id: i64) -> Option<(usize, Point)> {
        self.ids.get(&id).map(|place| place.place())
    }

    /// Returns whether the session has any message.
    pub(super) fn has_messages(&self) -> bool {
        self.branches.iter().any(|branch| branch.tip > Point::Seq(branch.opened))
    }

    /// Returns whether no message follows a place in a branch.
    pub(super) fn is_tip(&self, (branch, point): (usize, Point)) -> bool {
        self.branches.get(branch).is_some_and(|branch| branch.tip <= point)
    }

    /// Returns the place before the latest `turns` user turns of the current branch.
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

    /// Returns the position of a place, or `None` while its event is not committed.
    pub(super) fn seq(&self, (branch, point): (usize, Point)) -> Option<Seq> {
        match point {
            Point::Seq(seq) => Some(seq),
            Point::Nth(number) => self.branches.get(branch)?.seqs.get(number.checked_sub(1)?),
        }
    }

    /// Returns the name of the next branch. Branches after the first are named `ID~2`, `ID~3` and so on.
    pub(super) fn next_name(&self) -> String {
        format!("{}~{}", self.root, self.branches.len() + self.taken + 1)
    }
}

/// Place assigned to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordPlacement {
    /// The record is new, at the end of the current branch.
    New,
    /// The record is already stored, up to this position of the current branch.
    There(Seq),
    /// The record has no items, and follows an earlier place.
    Beside((usize, Point)),
    /// The record is in the session of which this session will become a child.
    Elsewhere,
}

/// Session of this import to which a name in the file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belongs {
    /// A session of this import, by index.
    To(usize),
    /// A session that was erased and is not stored again.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_with_gaps_are_those_that_were_pushed() {
        let all = [3, 4, 5, 9, 10, 2, 3, 7].map(Seq);
        let mut positions = Positions::default();
        all.iter().for_each(|seq| positions.push(*seq));
        assert_eq!(
            (0..9).map(|at| positions.get(at)).collect::<Vec<_>>(),
            [&all.map(Some)[..], &[None]].concat()
        );
        assert_eq!(positions.runs.len(), 4);
    }

    #[test]
    fn small_places_are_the_places_or_nothing() {
        for place in [(0, Point::Seq(Seq(0))), (7, Point::Nth(1)), (9, Point::Seq(Seq((1 << 31) - 1)))] {
            assert_eq!(SmallPlace::of(place).map(SmallPlace::place), Some(place));
        }
        assert!(SmallPlace::of((0, Point::Nth(1 << 31))).is_none());
    }
}
