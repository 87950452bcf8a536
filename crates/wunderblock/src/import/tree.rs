//! Where records belong: sessions in a file, branches in a session.
//!
//! A record says which record it follows. If that one is the newest of its branch, the branch goes on; if it has a
//! successor already, a fork begins there. Positions are counted in records of this import, since events that were in
//! the ledger before keep the positions they have.

use std::collections::HashMap;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// One branch: a stream.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) stream: StreamId,
    /// The position of each event of this import, in order; those still to be committed are missing at the end.
    pub(super) seqs: Vec<Seq>,
    /// How many events this import has given it, committed or not.
    pub(super) count: usize,
    /// Where it forked: the branch, and how many of its events are shared.
    pub(super) fork: Option<(usize, usize)>,
    /// The events (by number) that are user turns.
    pub(super) turns: Vec<usize>,
    /// Its first event's position: the opening.
    pub(super) opened: Seq,
    /// The last position a summary covers.
    pub(super) compacted: Seq,
}

/// One session of a file.
#[derive(Clone, Debug)]
pub(super) struct SessionTree {
    pub(super) root: StreamId,
    pub(super) branches: Vec<Branch>,
    /// The branch of the newest record.
    pub(super) current: usize,
    /// Names of branches that are taken by branches of an earlier revision of the file that began elsewhere.
    taken: usize,
    /// By hash of the native id: branch, and how many of its events there were with this record.
    ids: HashMap<u64, (u32, u32)>,
}

impl SessionTree {
    pub(super) fn new(root: StreamId, opened: Seq) -> Self {
        let branch = Branch {
            stream: root.clone(),
            seqs: Vec::new(),
            count: 0,
            fork: None,
            turns: Vec::new(),
            opened,
            compacted: Seq::START,
        };
        Self { root, branches: vec![branch], current: 0, taken: 0, ids: HashMap::new() }
    }

    pub(super) fn branch(&self) -> Option<&Branch> {
        self.branches.get(self.current)
    }

    pub(super) fn branch_mut(&mut self) -> Option<&mut Branch> {
        self.branches.get_mut(self.current)
    }

    /// Remembers where a record stands.
    pub(super) fn remember(&mut self, id: &str) {
        let Some(branch) = self.branch() else { return };
        let place = (self.current as u32, branch.count as u32);
        self.ids.insert(short_hash(id), place);
    }

    /// Where a record stands: its branch, and the number of events up to it.
    pub(super) fn place(&self, id: &str) -> Option<(usize, usize)> {
        self.ids.get(&short_hash(id)).map(|(branch, count)| (*branch as usize, *count as usize))
    }

    /// Whether going on from a place is going on at the end of its branch.
    pub(super) fn is_tip(&self, (branch, count): (usize, usize)) -> bool {
        self.branches.get(branch).is_some_and(|branch| branch.count == count)
    }

    /// The place before the newest `turns` user turns of the current branch.
    pub(super) fn before_turns(&self, turns: u64) -> Option<(usize, usize)> {
        let mut left = usize::try_from(turns).unwrap_or(usize::MAX);
        let mut index = self.current;
        let mut limit = usize::MAX;
        loop {
            let branch = self.branches.get(index)?;
            let own: Vec<usize> = branch.turns.iter().copied().filter(|turn| *turn < limit).collect();
            if left == 0 {
                return Some((index, branch.count.min(limit)));
            }
            if left <= own.len() {
                return own.get(own.len() - left).map(|turn| (index, *turn));
            }
            left -= own.len();
            match branch.fork {
                Some((parent, shared)) => (index, limit) = (parent, shared),
                None => return Some((index, 0)),
            }
        }
    }

    /// The position of a place; `None` while its event is not committed.
    pub(super) fn seq(&self, (branch, count): (usize, usize)) -> Option<Seq> {
        let branch = self.branches.get(branch)?;
        match count.checked_sub(1) {
            None => Some(branch.opened),
            Some(last) => branch.seqs.get(last).copied(),
        }
    }

    /// The name of the next branch: branches after the first are `ID~2`, `ID~3` and so on.
    pub(super) fn next_name(&self) -> String {
        format!("{}~{}", self.root, self.branches.len() + self.taken + 1)
    }

    /// Passes over a name that means another branch already.
    pub(super) fn pass_over(&mut self) {
        self.taken += 1;
    }
}

/// 64 bits of BLAKE3: records of one session whose ids share them would need billions of records.
fn short_hash(id: &str) -> u64 {
    let hash = blake3::hash(id.as_bytes());
    let first: [u8; 8] = std::array::from_fn(|index| hash.as_bytes().get(index).copied().unwrap_or_default());
    u64::from_le_bytes(first)
}
