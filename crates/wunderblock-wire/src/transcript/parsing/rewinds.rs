//! Rewinds of a conversation to before one of its prompts, in formats whose records are not a tree.

use super::seen::hash;
use crate::transcript::record::{RecordItem, RecordPlace, TranscriptRecord};
use serde::{Deserialize, Serialize};

/// Prompts of a conversation, and the rewind from which no record has continued yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Rewinds {
    /// Hashes of the ids of the prompts in the conversation, in order.
    prompts: Vec<u64>,
    pending: Option<Rewind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Rewind {
    /// Back by this number of user turns.
    Turns(u64),
    /// Back to the beginning.
    Start,
}

impl Rewinds {
    /// Rewinds to before the prompt with this id. Returns `false` if the conversation has no such prompt.
    pub(in crate::transcript) fn back_to(&mut self, id: &str) -> bool {
        let wanted = hash([id]);
        let Some(at) = self.prompts.iter().rposition(|prompt| *prompt == wanted) else { return false };
        let turns = (self.prompts.len() - at) as u64;
        self.prompts.truncate(at);
        self.pending = Some(match self.pending {
            Some(Rewind::Turns(earlier)) => Rewind::Turns(earlier + turns),
            Some(Rewind::Start) => Rewind::Start,
            None => Rewind::Turns(turns),
        });
        true
    }

    /// Rewinds to the beginning.
    pub(in crate::transcript) fn back_to_start(&mut self) {
        self.prompts.clear();
        self.pending = Some(Rewind::Start);
    }

    /// Places a record with content after the rewind, if there is one, and remembers the record if it is a prompt.
    /// `id` is the id by which a rewind would name the record.
    pub(in crate::transcript) fn continue_with(&mut self, record: &mut TranscriptRecord, id: Option<&str>) {
        let says = |item: &RecordItem| matches!(item, RecordItem::Message(_) | RecordItem::Compacted { .. });
        if !record.items.iter().any(says) {
            return;
        }
        match self.pending.take() {
            Some(Rewind::Turns(turns)) => record.place = RecordPlace::RolledBack { turns },
            Some(Rewind::Start) => record.place = RecordPlace::Root,
            None => {}
        }
        let turn = |item: &RecordItem| matches!(item, RecordItem::Message(said) if said.is_user_turn());
        if let Some(id) = id.filter(|_| record.items.iter().any(turn)) {
            self.prompts.push(hash([id]));
        }
    }
}
