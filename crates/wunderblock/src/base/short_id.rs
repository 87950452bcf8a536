//! Short ids of sessions, for people to read and type. [`Engine::find_session`](crate::Engine::find_session) accepts
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use wunderblock_core::id::{StreamId, branch};

/// Minimum number of characters in a beginning: shorter beginnings soon become ambiguous, and nobody recognises them.
const BEGINNING: usize = 8;
/// Maximum number of characters in a beginning. An id that would need a longer beginning is shortened to its
/// beginning and its end. Ids up to this length stay whole.
const LONGEST: usize = 16;
/// Minimum number of characters in an end.
const END: usize = 8;
/// Sign for the omitted middle of an id. People may type three dots instead.
const MIDDLE: char = '…';

/// The ids of a tenant's sessions, to shorten some of them.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    /// Ids without branch numbers, in order, each with a flag for whether it has branches.
    roots: BTreeMap<Box<str>, bool>,
}

impl ShortIds {
    /// Takes the ids that a short id must be distinguished from: all ids of a tenant, or those that begin alike.
    pub fn among<'a>(ids: impl IntoIterator<Item = &'a StreamId>) -> Self {
        let ids: BTreeSet<&str> = ids.into_iter().map(StreamId::as_str).collect();
        let mut roots: BTreeMap<Box<str>, bool> = BTreeMap::new();
        for id in &ids {
            match branch(id) {
                Some((root, _)) if ids.contains(root) => *roots.entry(root.into()).or_default() = true,
                _ => {
                    roots.entry((*id).into()).or_default();
                }
            }
        }
        Self { roots }
    }

    /// The shortest form of an id that names no other session: a beginning, or a beginning and an end. An id that
    /// [`ShortIds::among`] was not given stays whole.
    #[must_use]
    pub fn short(&self, id: &StreamId) -> String {
        let (root, number) = branch(id.as_str())
            .filter(|(root, _)| self.roots.contains_key(*root))
            .map_or((id.as_str(), None), |(root, number)| (root, Some(number)));
        let Some(has_branches) = self.roots.get(root) else { return id.to_string() };
        let short = self.shortened(root);
        match number {
            Some(number) => format!("{short}~{number}"),
            // An id without a branch number refers to its newest branch.
            None if *has_branches => format!("{short}~1"),
            None => short,
        }
    }

    /// Returns whether a text is the whole id of a session or its short id, with or without the number of a branch.
    /// [`Engine::find_session`](crate::Engine::find_session) also takes other beginnings of an id, which may be
    /// mistyped ids of sessions that do not exist.
    #[must_use]
    pub fn names(&self, id: &StreamId, text: &str) -> bool {
        let text = text.replace("...", &MIDDLE.to_string());
        let short = self.short(id);
        let is_of = |whole: &str| {
            let root = branch(whole).map_or(whole, |(root, _)| root);
            // Without a number, the id of a transcript selects its latest branch; `~1` is the first.
            text == whole || text == root || text.strip_suffix("~1").is_some_and(|root| root == whole)
        };
        is_of(id.as_str()) || is_of(&short)
    }

    fn shortened(&self, root: &str) -> String {
        let length = root.chars().count();
        if length <= LONGEST {
            return root.to_owned();
        }
        let neighbours = [
            self.roots.range::<str, _>((Bound::Unbounded, Bound::Excluded(root))).next_back(),
            self.roots.range::<str, _>((Bound::Excluded(root), Bound::Unbounded)).next(),
        ];
        let shared = neighbours.into_iter().flatten().map(|(other, _)| common(root, other)).max();
        let unique = shared.map_or(0, |shared| shared + 1).max(BEGINNING);
        if unique <= LONGEST {
            return head(root, unique).to_owned();
        }
        let beginning = head(root, BEGINNING);
        let alike = || {
            let from = self.roots.range::<str, _>((Bound::Included(beginning), Bound::Unbounded));
            from.map(|(id, _)| id).take_while(|id| id.starts_with(beginning))
        };
        for count in END..length.saturating_sub(BEGINNING + 1) {
            let end = tail(root, count);
            if alike().filter(|id| id.ends_with(end)).count() == 1 {
                return format!("{beginning}{MIDDLE}{end}");
            }
        }
        root.to_owned()
    }
}

/// The part of an id that decides which other ids its short form must be distinguished from.
pub(crate) fn beginning(id: &StreamId) -> &str {
    head(id.as_str(), BEGINNING)
}

/// The beginning and the end of an id, where a text gives both.
pub(crate) fn ends(text: &str) -> Option<(&str, &str)> {
    text.split_once(MIDDLE).or_else(|| text.split_once("..."))
}

/// Characters that two texts have in common at their beginning.
fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

fn end_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

fn head(text: &str, chars: usize) -> &str {
    text.get(..end_of(text, chars)).unwrap_or(text)
}

fn tail(text: &str, chars: usize) -> &str {
    let from = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(ids: &[&str], id: &str) -> String {
        let ids: Vec<StreamId> = ids.iter().map(|id| StreamId::new(*id).unwrap()).collect();
        ShortIds::among(&ids).short(&StreamId::new(id).unwrap())
    }

    #[test]
    fn a_short_id_is_the_shortest_beginning_that_is_unique() {
        let ids = [
            "7478b9f5-3ee2-57af",
            "7478b9f5-3ee2-57af~2",
            "019fc8be-3658-7ca3",
            "019fc8be-3999-7ca3",
            "demo",
        ];
        assert_eq!(short(&ids, "7478b9f5-3ee2-57af~2"), "7478b9f5~2");
        assert_eq!(short(&ids, "7478b9f5-3ee2-57af"), "7478b9f5~1", "alone it means the newest branch");
        assert_eq!(short(&ids, "019fc8be-3658-7ca3"), "019fc8be-36");
        assert_eq!(short(&ids, "demo"), "demo");
        assert_eq!(short(&ids, "unknown~3"), "unknown~3");
    }

    #[test]
    fn a_session_is_named_by_its_whole_id_or_its_short_id_only() {
        let ids =
            ["7478b9f5-3ee2-57af-a", "7478b9f5-3ee2-57af-a~2", "sA-outputs", "a-long-beginning-1-of-two-x"];
        let ids = ids.map(|id| StreamId::new(id).unwrap());
        let short = ShortIds::among(&ids);
        let names = |text: &str| ids.iter().map(|id| short.names(id, text)).collect::<Vec<bool>>();
        let of = |at: &[usize]| (0..ids.len()).map(|one| at.contains(&one)).collect::<Vec<bool>>();
        assert_eq!(names("sA-outputs"), of(&[2]));
        for beginning in ["sA", "sA-output", "7478b9", "7478b9f5-", "7478b9f5-3ee2~2", "a-long-", ""] {
            assert_eq!(names(beginning), of(&[]), "{beginning}");
        }
        for branch in ["7478b9f5~2", "7478b9f5-3ee2-57af-a~2"] {
            assert_eq!(names(branch), of(&[1]), "{branch}");
        }
        for first in ["7478b9f5~1", "7478b9f5-3ee2-57af-a~1"] {
            assert_eq!(names(first), of(&[0]), "{first}");
        }
        // Callers ask of the session that the text selects, which is the latest branch.
        for latest in ["7478b9f5", "7478b9f5-3ee2-57af-a"] {
            assert_eq!(names(latest), of(&[0, 1]), "{latest}");
        }
    }

    #[test]
    fn an_id_with_a_long_beginning_in_common_shows_its_end() {
        let ids = [
            "trajectories__demo__a-59f43e94",
            "trajectories__demo__b-11f43e94",
            "会话会话会话会话会话会话会话会话会话-甲",
        ];
        assert_eq!(short(&ids, "trajectories__demo__a-59f43e94"), "trajecto…59f43e94");
        let alike = ["session-of-today-number-1", "session-of-today-number-11"];
        assert_eq!(short(&alike, alike[0]), "session-…number-1");
        assert_eq!(short(&alike, alike[1]), "session-…umber-11");
        assert_eq!(short(&ids, ids[2]), "会话会话会话会话");
    }
}
