//! Ids of the events that forks share, kept in memory by the writer.
//!
//! An event id is unique in a stream and its ancestors, so each append of a fork has to be compared with every
//! ancestor. In a chain of n forks, that would be n² look-ups. Positions never change once they are committed, so the
//! ids of shared positions are read once and kept as hashes: an id whose hash is missing is in no ancestor.

use crate::StoreError;
use crate::row::{StreamNo, TenantNo};
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::sql::rows;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use wunderblock_core::id::EventId;
use wunderblock_core::units::Seq;

/// Maximum number of ids in memory: 2²¹ take 36 MB.
const MAX_IDS: u64 = 1 << 21;

/// Hashes of the ids of shared events.
#[derive(Default)]
pub(in crate::sqlite) struct AncestorIds {
    hasher: RandomState,
    ids: HashSet<u64>,
    /// Last own position of each stream whose ids have been read.
    read: HashMap<StreamNo, Seq>,
    /// Streams all of whose shared positions have been read.
    whole: HashSet<StreamNo>,
    /// Number of look-ups that were made because ids had not been read. Reading pays once there were as many look-ups
    /// as there are ids to read.
    looked_up: u64,
}

/// Ids of one stream that are to be read.
struct Unread {
    stream: StreamNo,
    from: Seq,
    to: Seq,
}

impl AncestorIds {
    /// Forgets everything: after a rollback, other events may get the positions whose ids were read.
    pub(in crate::sqlite) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether [`AncestorIds::may_have`] answers for the ancestors of a stream. Reads their ids if that takes no
    /// longer than the look-ups made so far.
    pub(in crate::sqlite) fn cover(
        &mut self,
        db: &Connection,
        tenant: TenantNo,
        line: &mut Lineage<'_>,
        events: usize,
    ) -> Result<bool, StoreError> {
        let (mut streams, mut unread, mut count) = (Vec::new(), Vec::new(), 0);
        let mut index = 0;
        while let Some(part) = line.get(index)? {
            if index > 0 {
                let read = self.read.get(&part.no).copied().unwrap_or_default();
                if read < part.to {
                    let from = part.from.max(read.next());
                    count += part.to.0 - from.prev().0;
                    unread.push(Unread { stream: part.no, from, to: part.to });
                }
            }
            if self.whole.contains(&part.no) {
                break;
            }
            streams.push(part.no);
            index += 1;
        }
        if count > self.looked_up.min(MAX_IDS) {
            self.looked_up += (index as u64).saturating_sub(1) * events as u64;
            return Ok(false);
        }
        if self.ids.len() as u64 + count > MAX_IDS {
            self.clear();
            return Ok(false);
        }
        for Unread { stream, from, to } in unread {
            let sql = "SELECT id FROM events WHERE tenant = ?1 AND stream = ?2 AND seq BETWEEN ?3 AND ?4";
            let hashes = rows(db, sql, params![tenant.0, stream.0, from.0, to.0], |row| {
                Ok(self.hasher.hash_one(row.get_ref(0)?.as_str()?))
            })?;
            self.ids.extend(hashes);
            self.read.insert(stream, to);
        }
        self.whole.extend(streams);
        Ok(true)
    }

    /// Returns whether a covered ancestor may have an event with this id.
    pub(in crate::sqlite) fn may_have(&self, id: &EventId) -> bool {
        self.ids.contains(&self.hasher.hash_one(id.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::pack_event;
    use crate::sqlite::file::create::empty_ledger;
    use crate::sqlite::rows::write;
    use crate::write::{LostEvent, Opening, Write, Written};
    use crate::{Appended, Commit};
    use proptest::prelude::*;
    use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
    use wunderblock_core::id::{Handle, Scope, StreamId};
    use wunderblock_core::message::Message;
    use wunderblock_core::units::Millis;

    struct Ledger {
        db: Connection,
        tenant: TenantNo,
        shared: AncestorIds,
    }

    impl Ledger {
        fn new() -> Self {
            let (db, shared) = (empty_ledger().unwrap(), AncestorIds::default());
            let mut ledger = Self { db, tenant: TenantNo(0), shared };
            let made = ledger.commit(vec![Write::Tenant { name: "t".to_owned(), key: [7; 32] }]).unwrap();
            let [Written::Tenant(tenant)] = made.as_slice() else { panic!("{made:?}") };
            ledger.tenant = tenant.no;
            ledger
        }

        fn commit(&mut self, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
            let mut transaction = self.db.transaction().unwrap();
            let done = write::all(&mut transaction, &mut self.shared, &Commit::raw(writes));
            transaction.commit().unwrap();
            done
        }

        fn open(&self, name: usize, opening: Opening) -> Write {
            let (stream, scope) = (stream(name), Scope::default());
            Write::Open {
                kind: crate::StreamKind::Session,
                tenant: self.tenant,
                stream,
                handle: Handle(name as u64),
                opening,
                scope,
                at: Millis(0),
            }
        }

        fn say(&self, name: usize, ids: &[usize], text: &str) -> Write {
            let event = |id: &usize| {
                let fact = Fact::MessageAppended(MessageAppended { message: Message::user(text) });
                let id = EventId::new(format!("event-{id}")).unwrap();
                let event = NewEvent { id, at: Millis(0), source: EventSource::Live, fact };
                pack_event(&[7; 32], [1; 16], event).unwrap()
            };
            let events = ids.iter().map(event).collect();
            Write::Append { tenant: self.tenant, stream: stream(name), expect_head: None, events }
        }

        fn append(&mut self, name: usize, ids: &[usize], text: &str) -> Result<Vec<Appended>, StoreError> {
            let write = self.say(name, ids, text);
            self.commit(vec![write]).map(|mut done| match done.pop() {
                Some(Written::Appended(appended)) => appended,
                other => panic!("{other:?}"),
            })
        }

        /// Opens a fork of the stream before it.
        fn fork(&mut self, name: usize, at: u64) {
            let opening = match name.checked_sub(1) {
                Some(parent) => Opening::Fork { parent: stream(parent), at_seq: Seq(at) },
                None => Opening::New { parent: None },
            };
            let write = self.open(name, opening);
            self.commit(vec![write]).unwrap();
        }
    }

    fn stream(name: usize) -> StreamId {
        StreamId::new(format!("s{name}")).unwrap()
    }

    #[test]
    fn a_chain_of_forks_takes_a_few_look_ups_for_each() {
        let mut ledger = Ledger::new();
        for name in 0..400 {
            ledger.fork(name, 2 * name as u64);
            let ids = [3 * name, 3 * name + 1, 3 * name + 2];
            let done = ledger.append(name, &ids, "new").unwrap();
            assert!(done.iter().all(|one| !one.duplicate));
        }
        // Without the ids in memory, 3 × 400 × 399 / 2 look-ups.
        assert!(ledger.shared.looked_up < 1_000, "{}", ledger.shared.looked_up);
        let taken = ledger.append(399, &[0], "other").unwrap_err();
        assert!(matches!(taken, StoreError::Conflict { seq: Seq(1), .. }), "{taken:?}");
    }

    #[test]
    fn ids_that_were_rolled_back_are_not_taken_for_stored_ones() {
        let mut ledger = Ledger::new();
        for name in 0..40 {
            ledger.fork(name, name as u64);
            ledger.append(name, &[2 * name, 2 * name + 1], "new").unwrap();
        }
        // The fork that reads the ids of the last stream is not committed, and the position is given to another event.
        let conflict = [
            ledger.say(39, &[500], "rolled back"),
            ledger.open(40, Opening::Fork { parent: stream(39), at_seq: Seq(42) }),
            ledger.say(40, &[501, 0], "in conflict"),
        ];
        assert!(matches!(ledger.commit(conflict.to_vec()), Err(StoreError::Conflict { .. })));
        ledger.append(39, &[502], "kept").unwrap();
        ledger.fork(40, 42);
        assert!(!ledger.append(40, &[500], "now new").unwrap()[0].duplicate);
        assert!(matches!(ledger.append(40, &[502], "other"), Err(StoreError::Conflict { .. })));
    }

    #[test]
    fn an_erased_event_is_known_by_the_id_that_it_had() {
        for reads_before in [true, false] {
            let mut ledger = Ledger::new();
            ledger.fork(0, 0);
            ledger.append(0, &[0, 1], "gone").unwrap();
            ledger.fork(1, 2);
            ledger.shared.looked_up = 1 << 20;
            if reads_before {
                ledger.append(1, &[2], "new").unwrap();
                assert!(!ledger.shared.ids.is_empty());
            }
            let (tenant, events) = (ledger.tenant, vec![LostEvent::new(Seq(1))]);
            let (spans, erasures) = (Vec::new(), Vec::new());
            let erase = Write::Erase { tenant, stream: stream(0), events, spans, erasures };
            ledger.commit(vec![erase]).unwrap();
            let done = ledger.append(1, &[0, 3], "gone").unwrap();
            assert!(!ledger.shared.ids.is_empty());
            assert_eq!(done[0], Appended::known(Seq(1), true), "read before: {reads_before}");
            assert!(!done[1].duplicate);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_answers_are_those_of_looking_up_every_ancestor(
            steps in prop::collection::vec((0_usize..12, 0_u64..8, prop::collection::vec(0_usize..60, 1..4)), 1..60),
        ) {
            let (mut ledger, mut plain) = (Ledger::new(), Ledger::new());
            ledger.shared.looked_up = 1 << 20;
            let mut streams = 0;
            for (name, at, ids) in steps {
                if name >= streams {
                    for ledger in [&mut ledger, &mut plain] {
                        // A position that the parent does not have is refused, and nothing is opened.
                        let parent = streams.checked_sub(1).map(stream);
                        let opening = match parent {
                            Some(parent) => Opening::Fork { parent, at_seq: Seq(at) },
                            None => Opening::New { parent: None },
                        };
                        let write = ledger.open(streams, opening);
                        let _ = ledger.commit(vec![write]);
                    }
                    streams += 1;
                }
                plain.shared.clear();
                let name = name.min(streams - 1);
                let (found, wanted) = (ledger.append(name, &ids, "same"), plain.append(name, &ids, "same"));
                prop_assert_eq!(format!("{found:?}"), format!("{wanted:?}"));
                let other = (ledger.append(name, &ids, "other"), plain.append(name, &ids, "other"));
                prop_assert_eq!(format!("{:?}", other.0), format!("{:?}", other.1));
                ledger.shared.looked_up = 1 << 20;
            }
        }
    }
}
