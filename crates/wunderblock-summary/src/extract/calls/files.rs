//! Tracks, call by call, what happened to files.

use super::act::Deed;
use super::change::ADDED_MAX;
use std::collections::HashMap;
use wunderblock_core::units::Seq;
use wunderblock_core::work::FileChange;

/// Maximum number of bytes in a path; anything longer is not a path.
const PATH_MAX: usize = 300;
/// Path that represents the whole working tree.
const ALL: &str = ".";

/// A file and what was done to it.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(in crate::extract) read: u32,
    pub(in crate::extract) changed: u32,
    /// The latest change.
    pub(in crate::extract) change: FileChange,
    /// Path that the file was moved from.
    pub(in crate::extract) from: Option<String>,
    pub(in crate::extract) last_read: Seq,
    pub(crate) last_changed: Seq,
    /// Latest stated reason for a change to the file, with the position of that reason.
    pub(in crate::extract) reason: Option<(Seq, String)>,
    /// Names that changes added to the file, in order, each with its position.
    pub(in crate::extract) added: Vec<(Seq, String)>,
    /// Positions of the calls that changed the file, in order.
    pub(in crate::extract) changes: Vec<Seq>,
    /// Positions of the results that showed the file, in order.
    pub(in crate::extract) shown: Vec<Seq>,
}

impl File {
    /// Returns whether the file was created, changed or removed.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed > 0
    }
}

/// Files of a range, in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    list: Vec<File>,
    places: HashMap<String, usize>,
    /// The latest change to any file, given by the position of the change and the path of the file.
    pub(in crate::extract) changed: Option<(Seq, String)>,
    /// Position of the newest commit.
    pub(in crate::extract) committed: Seq,
    /// Positions at which all changes since a commit were taken back, each with the position of that commit.
    pub(in crate::extract) taken_back: Vec<(Seq, Seq)>,
}

impl Files {
    /// Returns the files that were read or changed.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &File> {
        self.list.iter().filter(|file| file.read > 0 || file.changed > 0)
    }

    /// Records what a successful call did to a file. `seen` is the position of the result.
    pub(in crate::extract) fn touch(&mut self, at: Seq, seen: Seq, deed: &Deed, path: &str) {
        let path = plain(path);
        match deed {
            Deed::Committed => self.committed = at,
            Deed::Reverted if path == ALL => self.take_back(at, path),
            _ if path.is_empty() || path.len() > PATH_MAX => {}
            Deed::Read => {
                if let Some(file) = self.file(path) {
                    file.read += 1;
                    file.last_read = at;
                    file.shown.push(seen);
                }
            }
            Deed::MovedFrom(from) => {
                let from = plain(from).to_owned();
                for inner in self.inside(&from) {
                    let target =
                        format!("{}{}", folder(path), inner.get(folder(&from).len()..).unwrap_or_default());
                    self.rename(at, inner, &target);
                }
                self.rename(at, from, path);
            }
            Deed::Created | Deed::Changed => {
                let is_new = *deed == Deed::Created && !self.places.contains_key(path);
                // A file that was created in the range still counts as created after later changes.
                let made = self.file(path).is_some_and(|file| file.change == FileChange::Created);
                let change = if is_new || made { FileChange::Created } else { FileChange::Edited };
                self.change(at, path, change);
            }
            Deed::Removed => {
                // The entry of a removed folder covers the files in it.
                self.list
                    .iter_mut()
                    .filter(|file| is_inside(&file.path, path))
                    .for_each(|file| (file.read, file.changed) = (0, 0));
                self.change(at, path, FileChange::Deleted);
            }
            Deed::Reverted if self.inside(path).is_empty() => self.revert(at, path),
            Deed::Reverted => self.take_back(at, path),
            // Only the caller knows whether this is a file.
            Deed::MaybeReverted => {}
        }
    }

    /// Records the reason for a change. The new reason replaces the reason for the previous change, which may be
    /// outdated. Measurements show that the newest reason is right more often than the reason that contains the most
    /// names, at the same recall.
    pub(in crate::extract) fn explain(&mut self, path: &str, reason: Option<(Seq, String)>) {
        let place = self.places.get(plain(path)).copied();
        if let Some((file, reason)) = place.and_then(|place| self.list.get_mut(place)).zip(reason) {
            file.reason = Some(reason);
        }
    }

    /// Records the names that a call added to a file and removed from it. The newest names are kept.
    pub(in crate::extract) fn add_names(
        &mut self,
        at: Seq,
        path: &str,
        names: Vec<String>,
        removed: &[String],
    ) {
        let place = self.places.get(plain(path)).copied();
        let Some(file) = place.and_then(|place| self.list.get_mut(place)) else { return };
        file.added.retain(|(_, known)| !removed.contains(known));
        for name in names {
            file.added.retain(|(_, known)| *known != name);
            file.added.push((at, name));
        }
        file.added.drain(..file.added.len().saturating_sub(ADDED_MAX));
    }

    /// Returns the position and path of the latest change to a file, or of the latest change in a folder.
    pub(in crate::extract) fn changed_since(&self, path: &str) -> Option<(Seq, String)> {
        let path = plain(path);
        let is_it = |file: &&File| path == ALL || file.path == path || is_inside(&file.path, path);
        let changed =
            self.list.iter().filter(|file| file.is_changed() && file.change != FileChange::Reverted);
        let newest = changed.filter(is_it).max_by_key(|file| file.last_changed)?;
        Some((newest.last_changed, newest.path.clone()))
    }

    /// Returns whether a file of this name was read or changed.
    pub(in crate::extract) fn is_known(&self, path: &str) -> bool {
        self.places.contains_key(plain(path))
    }

    /// Returns whether a file of this name was changed.
    pub(crate) fn is_changed(&self, path: &str) -> bool {
        self.places.get(plain(path)).and_then(|place| self.list.get(*place)).is_some_and(File::is_changed)
    }

    /// Returns the file that was changed first at or after a position.
    pub(in crate::extract) fn changed_after(&self, at: Seq) -> Option<&str> {
        let first = |file: &File| file.changes.iter().copied().find(|changed| *changed >= at);
        let changed = self.iter().filter_map(|file| Some((first(file)?, file.path.as_str())));
        changed.min().map(|(_, path)| path)
    }

    /// Returns the changed files in a folder.
    fn inside(&self, path: &str) -> Vec<String> {
        let changed = self.list.iter().filter(|file| file.changed > 0 && file.change != FileChange::Deleted);
        changed.filter(|file| is_inside(&file.path, path)).map(|file| file.path.clone()).collect()
    }

    /// Moves a file, which is then listed only under its new path.
    fn rename(&mut self, at: Seq, from: String, to: &str) {
        let gone = self.places.get(&from).and_then(|place| self.list.get_mut(*place));
        gone.into_iter().for_each(|file| (file.read, file.changed) = (0, 0));
        self.change(at, to, FileChange::Moved);
        if let Some(file) = self.file(to) {
            file.from = Some(from);
        }
    }

    /// Reduces the count of a file's changes when one of them was taken back. The count stays at least 1, so that the
    /// file is still listed.
    pub(in crate::extract) fn uncount(&mut self, path: &str) {
        let place = self.places.get(plain(path)).copied();
        if let Some(file) = place.and_then(|place| self.list.get_mut(place)) {
            file.changed = file.changed.saturating_sub(1).max(1);
        }
    }

    fn change(&mut self, at: Seq, path: &str, change: FileChange) {
        self.changed = Some((at, path.to_owned()));
        if let Some(file) = self.file(path) {
            // A change that takes other changes back is not counted.
            file.changed = (file.changed + u32::from(change != FileChange::Reverted)).max(1);
            (file.change, file.last_changed) = (change, at);
            file.changes.push(at);
        }
    }

    /// Takes back the changes to a file since the newest commit. Changes that a commit contains stay.
    fn revert(&mut self, at: Seq, path: &str) {
        let committed = self.committed;
        let known = self.places.get(path).and_then(|place| self.list.get_mut(*place));
        match known.filter(|file| file.changes.iter().any(|change| *change <= committed)) {
            Some(file) => {
                let before = file.changes.len();
                file.changes.retain(|change| *change <= committed);
                file.added.retain(|(added, _)| *added <= committed);
                let gone = u32::try_from(before - file.changes.len()).unwrap_or(0);
                file.changed = file.changed.saturating_sub(gone).max(1);
            }
            None => self.change(at, path, FileChange::Reverted),
        }
    }

    /// Takes back the changes in a folder since the newest commit.
    fn take_back(&mut self, at: Seq, path: &str) {
        if path == ALL {
            // The work log takes back changes to files that only earlier entries changed.
            self.taken_back.push((at, self.committed));
        }
        for file in &mut self.list {
            let changed = file.changed > 0 && file.last_changed > self.committed;
            let changed = changed && (path == ALL || is_inside(&file.path, path));
            if changed && is_taken_back(file.change) {
                (file.change, file.last_changed) = (FileChange::Reverted, at);
                file.changes.push(at);
            }
        }
    }

    /// Returns the path under which a file is known: a call may name it by its absolute path, and another one by the
    /// end of that path.
    fn known(&self, path: &str) -> Option<String> {
        let is_same = |file: &&File| {
            let (long, short) =
                if path.len() > file.path.len() { (path, &*file.path) } else { (&*file.path, path) };
            let before = long.strip_suffix(short).filter(|_| short.contains('/') && long.starts_with('/'));
            before.is_some_and(|before| before.ends_with('/'))
        };
        self.list.iter().find(is_same).map(|file| file.path.clone())
    }

    fn file(&mut self, path: &str) -> Option<&mut File> {
        let known = if self.places.contains_key(path) { None } else { self.known(path) };
        if let Some(place) = known.and_then(|known| self.places.get(&known)).copied() {
            self.places.insert(path.to_owned(), place);
        }
        let next = self.list.len();
        let place = *self.places.entry(path.to_owned()).or_insert(next);
        if place == next {
            self.list.push(File {
                path: path.to_owned(),
                read: 0,
                changed: 0,
                change: FileChange::Read,
                from: None,
                last_read: Seq::START,
                last_changed: Seq::START,
                reason: None,
                added: Vec::new(),
                changes: Vec::new(),
                shown: Vec::new(),
            });
        }
        self.list.get_mut(place)
    }
}

/// Returns whether reverting the working tree reverts this kind of change; files that git does not track stay.
pub(in crate::extract) fn is_taken_back(change: FileChange) -> bool {
    matches!(change, FileChange::Edited | FileChange::Moved | FileChange::Deleted)
}

/// Returns the path of a folder without its trailing slash.
fn folder(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// Returns whether a file is in a folder.
pub(in crate::extract) fn is_inside(file: &str, path: &str) -> bool {
    file.strip_prefix(folder(path)).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}

fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path).trim()
}
