//! Bodies of facts: the texts that become blobs, and that redaction and erasure reach.

use super::Fact;
use crate::record::memory::{Claim, MemoryDeed};
use crate::record::message::{Body, Part};

impl Fact {
    /// Returns the bodies that the fact holds, to be moved into blobs.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::MessageAppended(said) => said.message.parts.iter_mut().flat_map(Part::bodies_mut).collect(),
            Self::SessionCompacted(compacted) => {
                compacted.summary.iter_mut().chain(&mut compacted.items).collect()
            }
            Self::ContentReduced(reduced) => vec![&mut reduced.text],
            Self::ContextBuilt(built) => built.inputs.iter_mut().collect(),
            Self::PreambleChanged(changed) => changed.preamble.bodies_mut().collect(),
            Self::ContextInjected(injected) => {
                let own = injected.items.iter_mut().filter(|item| item.is_new());
                own.map(|item| &mut item.body).collect()
            }
            Self::SubagentSpawned(spawned) => spawned.prompt.iter_mut().collect(),
            Self::SubagentReturned(returned) => returned.result.iter_mut().collect(),
            Self::DocumentSection(section) => section.heading.iter_mut().chain([&mut section.text]).collect(),
            Self::MemoryProposed(proposed) => {
                let quotes = proposed.evidence.iter_mut().map(|evidence| &mut evidence.quote);
                proposed.claim.iter_mut().flat_map(Claim::bodies_mut).chain(quotes).collect()
            }
            Self::MemoryReviewed(reviewed) => reviewed.cause.iter_mut().collect(),
            Self::MemoryChanged(changed) => {
                let edited = match &mut changed.deed {
                    MemoryDeed::Applied { edited, .. } => edited.as_mut(),
                    _ => None,
                };
                edited.into_iter().flat_map(Claim::bodies_mut).chain(&mut changed.cause).collect()
            }
            Self::MemoryForgotten(forgotten) => forgotten.cause.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the bodies that are read on demand by their handles. These bodies become blobs however short they are.
    pub fn on_demand_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::PreambleChanged(changed) => {
                changed.preamble.blocks.iter_mut().filter_map(|block| block.body.as_mut()).collect()
            }
            Self::SessionCompacted(compacted) if compacted.lane.is_some() => {
                compacted.summary.iter_mut().collect()
            }
            Self::DocumentSection(section) => vec![&mut section.text],
            _ => Vec::new(),
        }
    }

    /// Returns the bodies that the fact holds.
    #[must_use]
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Self::MessageAppended(said) => said.message.parts.iter().flat_map(Part::bodies).collect(),
            Self::SessionCompacted(compacted) => compacted.summary.iter().chain(&compacted.items).collect(),
            Self::ContentReduced(reduced) => vec![&reduced.text],
            Self::ContextBuilt(built) => built.inputs.iter().collect(),
            Self::PreambleChanged(changed) => changed.preamble.bodies().collect(),
            Self::ContextInjected(injected) => {
                injected.items.iter().filter(|item| item.is_new()).map(|item| &item.body).collect()
            }
            Self::SubagentSpawned(spawned) => spawned.prompt.iter().collect(),
            Self::SubagentReturned(returned) => returned.result.iter().collect(),
            Self::DocumentSection(section) => section.heading.iter().chain([&section.text]).collect(),
            Self::MemoryProposed(proposed) => {
                let quotes = proposed.evidence.iter().map(|evidence| &evidence.quote);
                proposed.claim.iter().flat_map(Claim::bodies).chain(quotes).collect()
            }
            Self::MemoryReviewed(reviewed) => reviewed.cause.iter().collect(),
            Self::MemoryChanged(changed) => {
                changed.deed.edited().into_iter().flat_map(Claim::bodies).chain(&changed.cause).collect()
            }
            Self::MemoryForgotten(forgotten) => forgotten.cause.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the bodies that people and models read: all except the items of a summary, which repeat its text.
    #[must_use]
    pub fn readable_bodies(&self) -> Vec<&Body> {
        match self {
            Self::SessionCompacted(compacted) => compacted.summary.iter().collect(),
            fact => fact.bodies(),
        }
    }
}
