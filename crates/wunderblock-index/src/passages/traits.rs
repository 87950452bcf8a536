//! Traits: what the form of a passage says about it, as bits of a row.

use crate::passages::lists;
use std::ops::BitOr;

/// Facts about a passage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(pub(crate) u16);

impl Traits {
    /// No trait.
    pub const NONE: Self = Self(0);
    /// A user says it.
    pub const USER: Self = Self(1);
    /// A model says it.
    pub const ASSISTANT: Self = Self(1 << 1);
    /// It has a word of the first person.
    pub const FIRST_PERSON: Self = Self(1 << 2);
    /// It has a question.
    pub const QUESTION: Self = Self(1 << 3);
    /// It has a word for a time.
    pub const TIME: Self = Self(1 << 4);
    /// It has a number.
    pub const NUMBER: Self = Self(1 << 5);
    /// It has a word that asks for something to be done from now on.
    pub const INSTRUCTION: Self = Self(1 << 7);
    /// It was not said, but is the output of a tool or a whole text: no passage is its neighbour.
    pub const OUTSIDE: Self = Self(1 << 9);
    /// The message before it, by another speaker, ends with a question. Set when an order is built, never stored.
    pub(crate) const ANSWER: Self = Self(1 << 13);

    /// Returns whether all given traits are set.
    #[must_use]
    pub const fn has(self, traits: Self) -> bool {
        self.0 & traits.0 == traits.0
    }

    /// Returns the traits that can be read from a text.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let given = |is_given: bool, traits| if is_given { traits } else { Self::NONE };
        let read = given(bytes.contains(&b'?'), Self::QUESTION)
            | given(bytes.iter().any(u8::is_ascii_digit), Self::NUMBER)
            | if text.is_ascii() { Self::NONE } else { lists::chinese(text) };
        let words = bytes.split(|byte| !byte.is_ascii_alphabetic());
        words.fold(read, |read, word| read | lists::english(word))
    }
}

impl BitOr for Traits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_are_read_from_the_form() {
        let [first, question, time] = [Traits::FIRST_PERSON, Traits::QUESTION, Traits::TIME];
        let [number, instruction] = [Traits::NUMBER, Traits::INSTRUCTION];
        for (text, expected) in [
            ("", Traits::NONE),
            ("Sounds lovely.", Traits::NONE),
            ("How was it? Great.", question),
            ("I'm off to Lisbon next week", first | time),
            ("We have three cats", first | number),
            ("Always run the formatter", instruction),
            ("See you on Monday at 5", time | number),
            ("the march of time", Traits::NONE),
            ("我昨天买了三本书", first | time | number),
            ("以后请不要用制表符", instruction),
            ("你去了哪里？", question),
            ("我们在北京大学见面", first),
        ] {
            assert_eq!(Traits::of(text), expected, "{text}");
        }
    }
}
