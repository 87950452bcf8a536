//! Allocation of the token limit among sections, as a function of the limit, the rules and the demand.
//!
//! A section may take its share of the limit, at least its minimum and at most its maximum. If all sections together
//! would leave the transcript less than its own minimum, they are reduced in a fixed order, the most dispensable
//! first, each down to its minimum. The transcript may use whatever the other sections leave.

use crate::source::section::Section;
use crate::units::Tokens;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Rule for the tokens that one section may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Room {
    /// Minimum number of tokens that the section may take, even if its share is smaller.
    pub min: Tokens,
    /// Maximum number of tokens that the section may take; `None` for no maximum.
    pub max: Option<Tokens>,
    /// Share of the limit, in hundredths.
    pub share: u8,
}

impl Default for Room {
    fn default() -> Self {
        Self { min: Tokens::ZERO, max: None, share: 100 }
    }
}

impl Room {
    const fn new(min: u64, share: u8) -> Self {
        Self { min: Tokens(min), max: None, share }
    }

    /// Returns the maximum number of tokens that the section may take under a limit.
    #[must_use]
    pub fn of(&self, limit: Tokens) -> Tokens {
        let share = Tokens(limit.0.saturating_mul(u64::from(self.share)) / 100);
        let max = self.max.unwrap_or(limit).min(limit);
        share.max(self.min).min(max)
    }
}

/// Rules for the tokens that each section may take. The defaults are for a coding agent: it cannot work without
/// instructions and tools, and the transcript is the material it works with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shares {
    /// Instruction files, including those that enter at the tail.
    pub instructions: Room,
    /// The conversation, including the prompt.
    pub transcript: Room,
    /// Tool schemas.
    pub tools: Room,
    /// Memory that is always present.
    pub memory: Room,
    /// Skill metadata.
    pub skills: Room,
    /// Types of delegates, including changes that enter at the tail.
    pub agents: Room,
    /// Listed and pinned resources.
    pub resources: Room,
    /// Summary nodes and the marks of gaps.
    pub summaries: Room,
    /// Texts recalled at the tail.
    pub recall: Room,
}

impl Default for Shares {
    fn default() -> Self {
        Self {
            instructions: Room::new(2_000, 20),
            transcript: Room { min: Tokens(1_000), max: None, share: 100 },
            tools: Room::new(2_000, 25),
            memory: Room::new(500, 10),
            skills: Room::new(500, 5),
            agents: Room::new(500, 5),
            resources: Room::new(500, 10),
            summaries: Room::new(1_000, 25),
            recall: Room::new(1_000, 25),
        }
    }
}

/// Error in the rule of a section.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoomError {
    /// The share exceeds 100 hundredths of the limit.
    #[error("invalid share of `{section}`: {share} hundredths of the limit; it must be at most 100")]
    Share {
        /// Key of the section.
        section: &'static str,
        /// Share, in hundredths of the limit.
        share: u8,
    },
    /// The minimum is above the maximum.
    #[error(
        "the minimum of `{section}`, {min} tokens, exceeds its maximum, {max}: lower one or raise the other"
    )]
    Order {
        /// Key of the section.
        section: &'static str,
        /// Minimum, in tokens.
        min: Tokens,
        /// Maximum, in tokens.
        max: Tokens,
    },
}

impl Shares {
    /// Returns each section that has a rule, with its rule.
    #[must_use]
    pub const fn rules(&self) -> [(Section, Room); 9] {
        [
            (Section::Instructions, self.instructions),
            (Section::Transcript, self.transcript),
            (Section::Tools, self.tools),
            (Section::PinnedMemory, self.memory),
            (Section::Skills, self.skills),
            (Section::Agents, self.agents),
            (Section::Resources, self.resources),
            (Section::Summaries, self.summaries),
            (Section::Recall, self.recall),
        ]
    }

    /// Returns the maximum number of tokens that a section may take by its rule alone; the whole limit if the section
    /// has no rule.
    #[must_use]
    pub fn most(&self, section: Section, limit: Tokens) -> Tokens {
        self.rule(section).map_or(limit, |room| room.of(limit))
    }

    fn rule(&self, section: Section) -> Option<Room> {
        self.rules().into_iter().find(|(of, _)| *of == section).map(|(_, room)| room)
    }

    /// Checks the rules for shares above 100 hundredths and for minimums above their maximums.
    ///
    /// # Errors
    /// Returns the error of the first invalid rule.
    pub fn check(&self) -> Result<(), RoomError> {
        for (section, room) in self.rules() {
            let section = key(section);
            if room.share > 100 {
                return Err(RoomError::Share { section, share: room.share });
            }
            if let Some(max) = room.max.filter(|max| *max < room.min) {
                return Err(RoomError::Order { section, min: room.min, max });
            }
        }
        Ok(())
    }
}

/// Returns the key of a section in the rules: its name, except `memory` for pinned memory.
#[must_use]
pub const fn key(section: Section) -> &'static str {
    match section {
        Section::PinnedMemory => "memory",
        other => other.name(),
    }
}

/// Sections to reduce when the limit is too small, the most dispensable first.
const DISPENSABLE: [Section; 6] = [
    Section::Resources,
    Section::Agents,
    Section::Skills,
    Section::PinnedMemory,
    Section::Tools,
    Section::Instructions,
];

/// Returns the number of tokens granted to each section that has a demand. `demand` is in tokens. Sections without a
/// rule (safety, system) cannot be reduced, and get what they demand.
#[must_use]
pub fn allocate(
    limit: Tokens,
    shares: &Shares,
    demand: &BTreeMap<Section, Tokens>,
) -> BTreeMap<Section, Tokens> {
    let wanted = |section: &Section, asked: &Tokens| (*section, shares.most(*section, limit).min(*asked));
    let mut granted: BTreeMap<Section, Tokens> =
        demand.iter().map(|(section, asked)| wanted(section, asked)).collect();
    // The transcript keeps its minimum: the other sections share what remains.
    let room = limit.saturating_sub(shares.transcript.min);
    for section in DISPENSABLE {
        let taken: Tokens = granted.values().copied().sum();
        let over = taken.saturating_sub(room);
        let Some(grant) = granted.get_mut(&section) else { continue };
        let min = shares.rule(section).map_or(Tokens::ZERO, |room| room.min);
        *grant = (*grant).min(grant.saturating_sub(over).max(min));
    }
    granted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn demand(of: &[(Section, u64)]) -> BTreeMap<Section, Tokens> {
        of.iter().map(|(section, tokens)| (*section, Tokens(*tokens))).collect()
    }

    #[test]
    fn a_section_takes_its_share_and_no_more_than_it_asks_for() {
        let asked =
            demand(&[(Section::Instructions, 50_000), (Section::Tools, 3_000), (Section::Safety, 90)]);
        let granted = allocate(Tokens(100_000), &Shares::default(), &asked);
        let expected =
            demand(&[(Section::Instructions, 20_000), (Section::Tools, 3_000), (Section::Safety, 90)]);
        assert_eq!(granted, expected);
    }

    #[test]
    fn in_a_small_window_the_minimum_counts_and_the_dispensable_give_way() {
        let asked =
            demand(&[(Section::Instructions, 9_000), (Section::Tools, 9_000), (Section::Resources, 9_000)]);
        let granted = allocate(Tokens(5_000), &Shares::default(), &asked);
        // The minimums of 2,000, 2,000 and 500 tokens and the transcript's 1,000 sum to 5,500. No section is reduced
        // below its minimum, so the sum stays above the limit. Planning then refuses the request and names its parts.
        assert_eq!(
            granted,
            demand(&[(Section::Instructions, 2_000), (Section::Tools, 2_000), (Section::Resources, 500)])
        );
        let granted = allocate(Tokens(12_000), &Shares::default(), &asked);
        assert_eq!(
            granted,
            demand(&[(Section::Instructions, 2_400), (Section::Tools, 3_000), (Section::Resources, 1_200)])
        );
    }

    #[test]
    fn rules_that_cannot_be_meant_are_refused() {
        let share = Shares { tools: Room { share: 101, ..Room::default() }, ..Shares::default() };
        assert_eq!(
            share.check().unwrap_err().to_string(),
            "invalid share of `tools`: 101 hundredths of the limit; it must be at most 100"
        );
        let order =
            Shares { skills: Room { min: Tokens(9), max: Some(Tokens(8)), share: 1 }, ..Shares::default() };
        assert!(order.check().unwrap_err().to_string().contains("9 tokens, exceeds its maximum, 8"));
        assert!(Shares::default().check().is_ok());
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_asked_and_the_same_demand_gets_the_same(
            limit in 0u64..300_000,
            asked in proptest::collection::vec(0u64..200_000, 6),
        ) {
            let sections = DISPENSABLE.iter().copied().zip(asked.iter().map(|tokens| Tokens(*tokens)));
            let demand: BTreeMap<_, _> = sections.collect();
            let granted = allocate(Tokens(limit), &Shares::default(), &demand);
            prop_assert_eq!(&granted, &allocate(Tokens(limit), &Shares::default(), &demand));
            for (section, grant) in &granted {
                prop_assert!(*grant <= demand[section]);
                prop_assert!(*grant <= Tokens(limit));
            }
            let taken: Tokens = granted.values().copied().sum();
            let min: Tokens = Shares::default().rules().iter().map(|(_, room)| room.min).sum();
            prop_assert!(taken + Tokens(1_000) <= Tokens(limit.max(min.0)));
        }
    }
}
