//! Starts and ends of sub-agents' work, from the lane's frontier on.

use super::View;
use crate::event::Fact;
use crate::units::Seq;
use std::collections::BTreeMap;

/// Facts about sub-agents, by position.
pub(super) type DelegateFacts = BTreeMap<Seq, Fact>;

impl View {
    /// Returns the starts and ends of sub-agents' work and of the session, from the lane's frontier on, in order.
    pub fn delegated(&self) -> impl Iterator<Item = (Seq, &Fact)> {
        self.delegated.iter().map(|(seq, fact)| (*seq, fact))
    }

    pub(super) fn delegate(&mut self, seq: Seq, fact: &Fact) {
        if seq >= self.trim.drop_before {
            self.delegated.insert(seq, fact.clone());
        }
    }
}
