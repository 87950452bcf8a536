//! How much of the limit each section may take: a function of limit, rules and demand.
//!
//! A section may take its share, but no less than its minimum and no more than its maximum. Where all of them together
//! would leave the transcript less than its own minimum, they give way in a fixed order, down to their minimum, the most
//! dispensable first. What a section does not use flows to the transcript.

use crate::section::Section;
use crate::units::Tokens;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What one section may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Room {
    /// At least so much, if it asks for it.
    pub min: Tokens,
    /// At most so much; no bound if none.
    pub max: Option<Tokens>,
    /// This part of the limit, in hundredths.
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

    /// What it comes to under a limit.
    #[must_use]
    pub fn of(&self, limit: Tokens) -> Tokens {
        let share = Tokens(limit.0.saturating_mul(u64::from(self.share)) / 100);
        let max = self.max.unwrap_or(limit).min(limit);
        share.max(self.min).min(max)
    }
}

/// What each section may take. The default is for a coding agent: instructions and tools are what it cannot do without,
/// the transcript is what it works with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shares {
    /// Instruction files, those at the tail included.
    pub instructions: Room,
    /// What was said and done, the prompt included.
    pub transcript: Room,
    /// Tool schemas.
    pub tools: Room,
    /// Memory that is always present.
    pub memory: Room,
    /// Skill metadata.
    pub skills: Room,
    /// Listed and pinned resources.
    pub resources: Room,
    /// Summary nodes and the marks of gaps.
    pub summaries: Room,
    /// What comes back at the tail.
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
            resources: Room::new(500, 10),
            summaries: Room::new(1_000, 25),
            recall: Room::new(1_000, 25),
        }
    }
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoomError {
    /// More than all of it.
    #[error("the share of `{section}` is {share} hundredths of the limit; 100 is all of it")]
    Share {
        /// Whose.
        section: &'static str,
        /// How much.
        share: u8,
    },
    /// A minimum above the maximum.
    #[error(
        "`{section}` asks for at least {min} tokens and at most {max}; the minimum must not be the larger"
    )]
    Order {
        /// Whose.
        section: &'static str,
        /// The minimum.
        min: Tokens,
        /// The maximum.
        max: Tokens,
    },
}

impl Shares {
    /// The rules, by the section they are for.
    #[must_use]
    pub const fn rules(&self) -> [(Section, Room); 8] {
        [
            (Section::Instructions, self.instructions),
            (Section::Transcript, self.transcript),
            (Section::Tools, self.tools),
            (Section::PinnedMemory, self.memory),
            (Section::Skills, self.skills),
            (Section::Resources, self.resources),
            (Section::Summaries, self.summaries),
            (Section::Recall, self.recall),
        ]
    }

    /// What a section may take at most by its rule alone; a section without a rule may take all.
    #[must_use]
    pub fn most(&self, section: Section, limit: Tokens) -> Tokens {
        self.rule(section).map_or(limit, |room| room.of(limit))
    }

    fn rule(&self, section: Section) -> Option<Room> {
        self.rules().into_iter().find(|(of, _)| *of == section).map(|(_, room)| room)
    }

    /// Looks for rules that cannot be meant.
    ///
    /// # Errors
    /// The first of them.
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

/// What a section is called among the rules.
#[must_use]
pub const fn key(section: Section) -> &'static str {
    match section {
        Section::PinnedMemory => "memory",
        other => other.name(),
    }
}

/// Who gives way first.
const DISPENSABLE: [Section; 5] =
    [Section::Resources, Section::Skills, Section::PinnedMemory, Section::Tools, Section::Instructions];

/// What each section with a demand gets. `demand` is in tokens; sections without a rule (safety, system) cannot be cut,
/// and get what they ask for.
#[must_use]
pub fn allocate(
    limit: Tokens,
    shares: &Shares,
    demand: &BTreeMap<Section, Tokens>,
) -> BTreeMap<Section, Tokens> {
    let wanted = |section: &Section, asked: &Tokens| (*section, shares.most(*section, limit).min(*asked));
    let mut granted: BTreeMap<Section, Tokens> =
        demand.iter().map(|(section, asked)| wanted(section, asked)).collect();
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
        // 2,000 + 2,000 + 500 and 1,000 for the transcript are 5,500: the resources give way down to nothing below
        // their minimum, so the sum stays above the limit, and what follows is a refusal that names the parts.
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
            "the share of `tools` is 101 hundredths of the limit; 100 is all of it"
        );
        let order =
            Shares { skills: Room { min: Tokens(9), max: Some(Tokens(8)), share: 1 }, ..Shares::default() };
        assert!(order.check().unwrap_err().to_string().contains("at least 9 tokens and at most 8"));
        assert!(Shares::default().check().is_ok());
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_asked_and_the_same_demand_gets_the_same(
            limit in 0u64..300_000,
            asked in proptest::collection::vec(0u64..200_000, 5),
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
