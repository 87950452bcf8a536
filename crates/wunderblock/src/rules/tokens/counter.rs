//! Counts tokens for one model.
//!
//! Every text is counted once, in o200k, for any model. The o200k count and the class of the text are stored, and the
//! tokens of all other models are computed from them. A model's result is never less than the o200k count, because
//! reports promise this minimum.

use crate::rules::tokens::class::Class;
use crate::rules::tokens::estimate::{self, Family};
use wunderblock_core::budget::Certainty;
use wunderblock_core::ports::Framing;
use wunderblock_core::units::Tokens;
use wunderblock_tokens::Vocabulary;

/// Facts about a text that do not depend on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Number of tokens in o200k.
    pub o200k: u32,
    /// Class of the text.
    pub class: Class,
}

impl Counted {
    /// Counts and classifies `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self { o200k: Vocabulary::O200k.count(text), class: Class::of(text) }
    }
}

/// How the tokens of a model are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenModel {
    /// Family whose factors are used for estimates.
    pub family: Family,
    /// Vocabulary of the model, if it is embedded in the program.
    pub vocabulary: Option<Vocabulary>,
}

/// Counts texts for one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    model: TokenModel,
}

impl Counter {
    /// Creates a counter for a model.
    #[must_use]
    pub const fn new(model: TokenModel) -> Self {
        Self { model }
    }

    /// Returns the model of this counter.
    #[must_use]
    pub const fn model(&self) -> TokenModel {
        self.model
    }

    /// Returns the stored count of a text, which is the same for every model.
    #[must_use]
    pub fn count(&self, text: &str) -> Counted {
        Counted::of(text)
    }

    /// Returns the cl100k count, if the model needs it. If the model does not need this count, nothing is counted.
    #[must_use]
    pub fn count_cl100k(&self, text: &str) -> Option<u32> {
        (self.model.vocabulary == Some(Vocabulary::Cl100k)).then(|| Vocabulary::Cl100k.count(text))
    }

    /// Returns the number of tokens in a counted text, which is the model's own count or estimate, but at least the
    /// o200k count.
    ///
    /// `cl100k` is used only for models of that vocabulary. If `cl100k` is missing for a model with this vocabulary,
    /// the tokens are estimated.
    #[must_use]
    pub fn scale(&self, counted: Counted, cl100k: Option<u32>) -> Tokens {
        let o200k = u64::from(counted.o200k);
        match (self.model.vocabulary, cl100k) {
            (Some(Vocabulary::O200k), _) => Tokens(o200k),
            (Some(Vocabulary::Cl100k), Some(own)) => Tokens(u64::from(own).max(o200k)),
            _ => estimate::estimate(self.model.family, counted.o200k, counted.class),
        }
    }

    /// Returns the certainty of [`Counter::scale`] for the same arguments.
    #[must_use]
    pub const fn certainty(&self, counted: Counted, cl100k: Option<u32>) -> Certainty {
        match (self.model.vocabulary, cl100k) {
            (Some(Vocabulary::O200k), _) | (Some(Vocabulary::Cl100k), Some(_)) => Certainty::Exact,
            _ => estimate::certainty(self.model.family, counted.class),
        }
    }

    /// Returns the number of tokens that the provider adds around the texts.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        estimate::framing(self.model.family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tokens::estimate::tests::FAMILIES;
    use proptest::prelude::*;

    fn counter(family: Family, vocabulary: Option<Vocabulary>) -> Counter {
        Counter::new(TokenModel { family, vocabulary })
    }

    #[test]
    fn a_count_is_exact_only_in_the_models_own_vocabulary() {
        let counted = Counted { o200k: 100, class: Class::Code };
        let table = [
            (Family::Openai, Some(Vocabulary::O200k), None, 100, Certainty::Exact),
            (Family::Openai, Some(Vocabulary::O200k), Some(120), 100, Certainty::Exact),
            (Family::Openai, Some(Vocabulary::Cl100k), Some(120), 120, Certainty::Exact),
            (Family::Openai, Some(Vocabulary::Cl100k), Some(90), 100, Certainty::Exact),
            (Family::Openai, Some(Vocabulary::Cl100k), None, 102, Certainty::Unverified),
            (Family::Claude, None, None, 127, Certainty::Estimated),
            (Family::Gemini, None, Some(900), 120, Certainty::Unverified),
        ];
        for (family, vocabulary, cl100k, tokens, certainty) in table {
            let counter = counter(family, vocabulary);
            assert_eq!(
                counter.scale(counted, cl100k),
                Tokens(tokens),
                "{family:?} {vocabulary:?} {cl100k:?}"
            );
            assert_eq!(counter.certainty(counted, cl100k), certainty, "{family:?} {vocabulary:?} {cl100k:?}");
        }
    }

    proptest! {
        #[test]
        fn no_model_is_below_the_o200k_count(
            text in "(?s).{0,200}", family in proptest::sample::select(&FAMILIES[..]),
            vocabulary in proptest::sample::select(vec![None, Some(Vocabulary::O200k), Some(Vocabulary::Cl100k)]),
        ) {
            let counter = counter(family, vocabulary);
            let counted = counter.count(&text);
            prop_assert_eq!(counted, counter.count(&text));
            let tokens = counter.scale(counted, counter.count_cl100k(&text));
            prop_assert!(tokens >= Tokens(u64::from(counted.o200k)));
        }
    }
}
