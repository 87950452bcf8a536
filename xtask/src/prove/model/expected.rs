//! Model in memory of what a ledger must contain.

use crate::prove::record::{MarkedRecord, file};
use std::collections::{BTreeMap, BTreeSet};

/// Content that was acknowledged to a tenant.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedTenant {
    /// Imported sessions, with each revision of their file.
    pub(super) imported: BTreeMap<String, Vec<Vec<MarkedRecord>>>,
    /// Live sessions: the records by position.
    pub(super) live: BTreeMap<String, BTreeMap<u64, MarkedRecord>>,
    /// Bytes of each file at its last import. Importing the same bytes again must append nothing.
    pub(super) seen: BTreeMap<usize, Vec<u8>>,
}

impl ExpectedTenant {
    /// Records that a file of a session was imported.
    pub(super) fn import(&mut self, session: &str, records: &[MarkedRecord]) {
        let revisions = self.imported.entry(session.to_owned()).or_default();
        if revisions.last().is_none_or(|last| last != records) {
            revisions.push(records.to_vec());
        }
    }

    /// Names of all sessions.
    pub(super) fn sessions(&self) -> Vec<String> {
        self.imported.keys().chain(self.live.keys()).cloned().collect()
    }

    /// All records of a session, in all revisions.
    pub(super) fn records(&self, session: &str) -> Vec<&MarkedRecord> {
        let imported = self.imported.get(session).into_iter().flatten().flatten();
        imported.chain(self.live.get(session).into_iter().flat_map(BTreeMap::values)).collect()
    }

    /// All records of the tenant that become events, without those whose marker is erased.
    pub(super) fn events(&self, erased: &BTreeSet<String>) -> Vec<&MarkedRecord> {
        let all = self.sessions();
        let all = all.iter().flat_map(|session| self.records(session));
        all.filter(|record| record.id.is_some() && !erased.contains(&record.marker)).collect()
    }

    /// All markers of the tenant.
    pub(super) fn markers(&self) -> impl Iterator<Item = &String> {
        let imported = self.imported.values().flatten().flatten();
        let live = self.live.values().flat_map(BTreeMap::values);
        imported.chain(live).map(|record| &record.marker)
    }
}

/// Explains why `bytes` are not a valid original of a session; `None` if they are. The bytes must equal the latest
/// revision, or an earlier one that no later revision extends. If records were erased, all other lines must be
/// present in order.
pub(super) fn wrong_original(
    revisions: &[Vec<MarkedRecord>],
    erased: &BTreeSet<String>,
    bytes: &[u8],
) -> Option<String> {
    let ends_here = |place: usize, one: &Vec<MarkedRecord>| {
        !revisions.iter().skip(place + 1).any(|later| later.len() > one.len() && later.starts_with(one))
    };
    let may_be = revisions.iter().enumerate().filter(|(place, one)| ends_here(*place, one));
    let fits = |records: &Vec<MarkedRecord>| {
        if records.iter().all(|record| !erased.contains(&record.marker)) {
            return file(records) == bytes;
        }
        let mut lines = bytes.split(|byte| *byte == b'\n');
        records
            .iter()
            .filter(|record| !erased.contains(&record.marker))
            .all(|record| lines.any(|line| line == record.line.as_bytes()))
    };
    let mut may_be = may_be.map(|(_, one)| one);
    if may_be.any(fits) {
        return None;
    }
    let expected = revisions.last().map(|records| file(records).len());
    Some(format!("{} bytes, the newest revision has {}", bytes.len(), expected.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::{MarkedRecord, file, wrong_original};
    use std::collections::BTreeSet;

    fn record(word: &str) -> MarkedRecord {
        let text = word.to_owned();
        MarkedRecord { id: Some(text.clone()), marker: text.clone(), line: format!("[{text}]"), text }
    }

    #[test]
    fn an_original_is_its_newest_revision_or_one_that_was_cut_off() {
        let [a, b, c] = ["a", "b", "c"].map(record);
        let none = BTreeSet::new();
        let grown = [vec![a.clone()], vec![a.clone(), b.clone()]];
        assert_eq!(wrong_original(&grown, &none, b"[a]\n[b]\n"), None);
        assert!(wrong_original(&grown, &none, b"[a]\n").is_some(), "it has grown since");
        let cut = [vec![a.clone(), b.clone()], vec![a.clone()], vec![a.clone(), c.clone()]];
        assert_eq!(wrong_original(&cut, &none, &file(&cut[0])), None);
        assert_eq!(wrong_original(&cut, &none, &file(&cut[2])), None);
        assert!(wrong_original(&cut, &none, &file(&cut[1])).is_some());
        assert!(wrong_original(&cut, &none, b"[a]\n[b]\n[c]\n").is_some());
    }

    #[test]
    fn where_something_was_erased_every_other_line_is_there() {
        let all = [["a", "b", "c"].map(record).to_vec()];
        let erased = BTreeSet::from(["b".to_owned()]);
        assert_eq!(wrong_original(&all, &erased, b"[a]\n   \n[c]\n"), None);
        assert!(wrong_original(&all, &erased, b"[a]\n   \n   \n").is_some());
        assert!(wrong_original(&all, &erased, b"[c]\n   \n[a]\n").is_some());
    }
}
