//! A sorted table whose changes since the last commit can be rolled back.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// Rows by key, with the previous rows of all unsettled changes.
#[derive(Debug)]
pub(super) struct RollbackTable<K, V> {
    rows: BTreeMap<K, V>,
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for RollbackTable<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), undo: Vec::new() }
    }
}

impl<K: Ord + Clone, V> RollbackTable<K, V> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    pub(super) fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.range(range)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.rows.values()
    }

    pub(super) fn put(&mut self, key: K, row: V) {
        let old = self.rows.insert(key.clone(), row);
        self.undo.push((key, old));
    }

    /// Inserts a row unless the key exists.
    pub(super) fn put_new(&mut self, key: K, row: V) {
        if !self.rows.contains_key(&key) {
            self.put(key, row);
        }
    }

    /// Removes a row. Returns whether the key existed.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        match self.rows.remove_entry(key) {
            Some((key, old)) => {
                self.undo.push((key, Some(old)));
                true
            }
            None => false,
        }
    }

    /// Makes all changes permanent.
    pub(super) fn settle(&mut self) {
        self.undo.clear();
    }

    /// Undoes all changes since the last call of `settle`, newest first.
    pub(super) fn roll_back(&mut self) {
        while let Some((key, old)) = self.undo.pop() {
            match old {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }
}

impl<K: Ord + Clone, V: Clone> RollbackTable<K, V> {
    /// Changes one row, if it exists.
    pub(super) fn change(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        if let Some(mut row) = self.rows.get(key).cloned() {
            change(&mut row);
            self.put(key.clone(), row);
        }
    }

    /// Removes all rows in a range.
    pub(super) fn clear(&mut self, range: impl RangeBounds<K>) {
        let keys: Vec<K> = self.rows.range(range).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rolled_back_is_as_before(
            before in proptest::collection::btree_map(0u8..20, any::<u8>(), 0..20),
            steps in proptest::collection::vec((0u8..20, any::<Option<u8>>()), 0..40),
        ) {
            let mut table = RollbackTable::default();
            for (key, row) in &before {
                table.put(*key, *row);
            }
            table.settle();
            for (key, row) in steps {
                match row {
                    Some(row) => table.put(key, row),
                    None => {
                        table.remove(&key);
                    }
                }
            }
            table.roll_back();
            prop_assert_eq!(table.rows, before);
        }
    }
}
