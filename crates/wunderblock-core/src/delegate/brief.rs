//! Briefs: what a delegate is asked to do, and within which bounds.

use crate::form::stub::grouped;
use crate::units::{Millis, Tokens};
use std::fmt;

/// Task of a delegate, in the words of the agent that hands it over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// Result to reach.
    pub goal: Box<str>,
    /// Rules that the work must follow.
    pub constraints: Vec<Box<str>>,
    /// Facts that the delegate need not find out again.
    pub known: Vec<Box<str>>,
    /// Form of the result, in words.
    pub expected: Option<Box<str>>,
    /// JSON Schema that the result must satisfy.
    pub schema: Option<Box<str>>,
    /// Bounds of the work.
    pub bounds: Bounds,
}

/// Bounds of a delegate's work. `None` means that a bound is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of tokens that the work may use.
    pub tokens: Option<Tokens>,
    /// Maximum number of further levels of delegation: with 0, the delegate hands nothing to others.
    pub levels: Option<u32>,
    /// Time by which the result must be there.
    pub deadline: Option<Millis>,
}

/// A bound that a delegate cannot have as asked, because its parent's is narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowed {
    /// Tokens: asked, and those that the parent has.
    Tokens(Tokens, Tokens),
    /// Levels of delegation: asked, and those that remain below the parent.
    Levels(u32, u32),
    /// Deadline: asked, and that of the parent.
    Deadline(Millis, Millis),
}

impl fmt::Display for Narrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(asked, has) => write!(f, "{asked} tokens asked, the parent has {has}"),
            Self::Levels(asked, left) => write!(f, "{asked} further levels asked, {left} remain"),
            Self::Deadline(..) => f.write_str("the parent's deadline is earlier"),
        }
    }
}

/// Reason why a delegate cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BriefRefusal {
    /// The brief names no goal.
    #[error("the brief has no goal: say what the result is")]
    NoGoal,
    /// The parent may not delegate.
    #[error("the parent is at the maximum depth of delegation: let it do the work itself")]
    NoLevels,
    /// The parent has no tokens left.
    #[error("the parent has no tokens left for a delegate")]
    NoTokens,
    /// The deadline has passed.
    #[error("the deadline has passed")]
    Late,
}

impl Bounds {
    /// Returns the bounds of a delegate of a parent with bounds of its own, and the bounds that became narrower than
    /// asked. A delegate has at most the tokens and the time of its parent, and at least one level less.
    ///
    /// # Errors
    /// Returns the reason if the parent may not delegate, or if nothing is left of a bound.
    pub fn within(self, parent: Self, now: Millis) -> Result<(Self, Vec<Narrowed>), BriefRefusal> {
        let mut narrowed = Vec::new();
        let below = match parent.levels {
            Some(0) => return Err(BriefRefusal::NoLevels),
            Some(levels) => Some(levels - 1),
            None => None,
        };
        let mut note = |bound: Option<Narrowed>| narrowed.extend(bound);
        let tokens =
            lesser(self.tokens, parent.tokens, |asked, has| note(Some(Narrowed::Tokens(asked, has))));
        let levels = lesser(self.levels, below, |asked, left| note(Some(Narrowed::Levels(asked, left))));
        let deadline =
            lesser(self.deadline, parent.deadline, |asked, has| note(Some(Narrowed::Deadline(asked, has))));
        if tokens == Some(Tokens::ZERO) {
            return Err(BriefRefusal::NoTokens);
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Err(BriefRefusal::Late);
        }
        Ok((Self { tokens, levels, deadline }, narrowed))
    }
}

/// Returns the lesser of two bounds. Calls `cut` if the bound that was asked for is greater.
fn lesser<T: Ord + Copy>(asked: Option<T>, parent: Option<T>, cut: impl FnOnce(T, T)) -> Option<T> {
    match (asked, parent) {
        (Some(asked), Some(has)) if asked > has => {
            cut(asked, has);
            Some(has)
        }
        (asked, parent) => asked.or(parent),
    }
}

impl Brief {
    /// Checks that the brief names a goal.
    ///
    /// # Errors
    /// Returns [`BriefRefusal::NoGoal`] if the goal is empty.
    pub fn check(&self) -> Result<(), BriefRefusal> {
        if self.goal.trim().is_empty() { Err(BriefRefusal::NoGoal) } else { Ok(()) }
    }

    /// Returns the message that hands the task over. `time` writes the deadline.
    #[must_use]
    pub fn text(&self, time: impl Fn(Millis) -> String) -> String {
        let mut text = format!("Goal:\n{}\n", self.goal.trim());
        list(&mut text, "Constraints", &self.constraints);
        list(&mut text, "Known", &self.known);
        if self.expected.is_some() || self.schema.is_some() {
            text.push_str("\nExpected result:\n");
        }
        if let Some(expected) = &self.expected {
            text.push_str(&format!("{}\n", expected.trim()));
        }
        if let Some(schema) = &self.schema {
            text.push_str(&format!(
                "One JSON value that satisfies this JSON Schema, and nothing else:\n{schema}\n"
            ));
        }
        let bounds = self.bounds.words(time);
        if !bounds.is_empty() {
            text.push_str(&format!("\nLimits: {}.\n", bounds.join("; ")));
        }
        text
    }
}

impl Bounds {
    /// Returns the bounds that are set, in words. `time` writes the deadline.
    #[must_use]
    pub fn words(&self, time: impl Fn(Millis) -> String) -> Vec<String> {
        let levels = |levels| match levels {
            0 => "do the work yourself, without handing any of it on".to_owned(),
            1 => "at most one further level of delegation".to_owned(),
            more => format!("at most {more} further levels of delegation"),
        };
        let tokens = self.tokens.map(|tokens| format!("at most {} tokens", grouped(tokens.0)));
        let deadline = self.deadline.map(|deadline| format!("finished by {}", time(deadline)));
        tokens.into_iter().chain(self.levels.map(levels)).chain(deadline).collect()
    }
}

fn list(text: &mut String, title: &str, items: &[Box<str>]) {
    if items.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}:\n"));
    for item in items {
        text.push_str(&format!("- {}\n", item.trim().replace('\n', "\n  ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_says_what_is_set_and_nothing_else() {
        let time = |at: Millis| format!("at {}", at.0);
        let short = Brief { goal: " Find it.\n".into(), ..Brief::default() };
        assert_eq!(short.text(time), "Goal:\nFind it.\n");
        let whole = Brief {
            goal: "Find it.".into(),
            constraints: vec!["Change nothing.".into(), "Two lines:\nthe second".into()],
            known: vec!["It is not in src/.".into()],
            expected: Some("A path.".into()),
            schema: Some("{}".into()),
            bounds: Bounds { tokens: Some(Tokens(20_000)), levels: Some(0), deadline: Some(Millis(7)) },
        };
        let expected = "Goal:\nFind it.\n\nConstraints:\n- Change nothing.\n- Two lines:\n  the second\n\nKnown:\n- It is not in src/.\n\nExpected result:\nA path.\nOne JSON value that satisfies this JSON Schema, and nothing else:\n{}\n\nLimits: at most 20,000 tokens; do the work yourself, without handing any of it on; finished by at 7.\n";
        assert_eq!(whole.text(time), expected);
    }

    #[test]
    fn bounds_of_every_pair_are_within_both() {
        let counts = [None, Some(1), Some(5), Some(9)];
        let bounds = |value: Option<u32>| Bounds {
            tokens: value.map(|value| Tokens(value.into())),
            levels: value,
            deadline: value.map(|value| Millis(value.into())),
        };
        for (asked, parent) in counts.iter().flat_map(|asked| counts.map(|parent| (*asked, parent))) {
            let (own, narrowed) = bounds(asked).within(bounds(parent), Millis(0)).unwrap();
            let least = |asked: Option<u32>, parent: Option<u32>| match (asked, parent) {
                (Some(asked), Some(parent)) => Some(asked.min(parent)),
                (asked, parent) => asked.or(parent),
            };
            let levels = least(asked, parent.map(|parent| parent - 1));
            assert_eq!(own, Bounds { levels, ..bounds(least(asked, parent)) });
            let cut = asked
                .zip(parent)
                .map_or(0, |(asked, parent)| 2 * usize::from(asked > parent) + usize::from(asked >= parent));
            assert_eq!(narrowed.len(), cut, "{asked:?} within {parent:?}");
        }
    }
}
