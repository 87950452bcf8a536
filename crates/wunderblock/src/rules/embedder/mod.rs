//! A model that gives texts their vectors, in place of the table that is part of the program.
//!
//! ```text
//! redacted texts of chosen scopes ─► Embed ─► numbers ─ count, dimensions, direction ─► Vector, as bytes
//!                                      └► CallFailure ─► not called again for a minute; the table answers
//! ```
//! The library sends nothing unless its caller sets [`Config::embedder`](crate::Config::embedder) and the scopes whose
//! texts may be sent. See `docs/design/0031-meaning.md`, "Other embedders".

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "http")]
pub use http::{EmbeddingApi, EmbeddingModel, HttpEmbedder};

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use wunderblock_core::id::Scope;
use wunderblock_embed::{MAX_SIMILARITY, Vector};
use wunderblock_index::RELATED;
use wunderblock_index::vectors::MAX_DIMENSIONS;
use wunderblock_summary::CallFailure;

/// Maximum number of texts in a call. Some servers accept no more.
pub(crate) const TEXTS_MAX: usize = 32;
/// Maximum number of bytes of a text that are sent: more than a passage of words has. A longer one, such as a key or an
/// encoded file, would be refused by some servers, and everything after it would wait forever.
const TEXT_BYTES: usize = 1_024;
/// Time after a failure in which the model is not called again, so that no search waits for it.
const PAUSE: Duration = Duration::from_secs(60);
/// Text that is sent to learn the number of dimensions, and whether the model answers.
const PROBE: &str = "text";

/// Gives texts their vectors. Implement it for a model that is called in another way than over HTTP.
pub trait Embed: Send + Sync {
    /// Returns the name of what makes the vectors. Vectors are comparable only if their names are equal.
    fn model(&self) -> &str;

    /// Returns the number of dimensions, or `None` to take that of the vectors that are there, or of the first answer.
    fn dimensions(&self) -> Option<usize>;

    /// Returns the numbers of each text, in the order of the texts. The texts are redacted, at most 32, and have
    /// at most 1,024 bytes each. `progress`
    /// receives the number of bytes of the answer from time to time, and returns whether to continue.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    fn embed(
        &self,
        texts: &[&str],
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<Vec<f32>>, CallFailure>;
}

/// Scopes whose texts may be sent. A scope must be in each list that is not empty; two empty lists choose nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenScopes {
    /// Names of projects, as in [`Scope::project`].
    pub projects: Vec<String>,
    /// Names of users.
    pub users: Vec<String>,
}

impl ChosenScopes {
    fn contains(&self, scope: &Scope) -> bool {
        let is_in = |list: &Vec<String>, value: &Option<String>| {
            list.is_empty() || value.as_ref().is_some_and(|value| list.contains(value))
        };
        let is_any = !self.projects.is_empty() || !self.users.is_empty();
        is_any && is_in(&self.projects, &scope.project) && is_in(&self.users, &scope.user)
    }
}

/// A model that embeds texts of chosen scopes. Its answers are checked.
pub struct Embedder {
    by: Arc<dyn Embed>,
    scopes: ChosenScopes,
    floor: u16,
    dimensions: OnceLock<usize>,
    failed: Mutex<Option<(Instant, CallFailure)>>,
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedder")
            .field("model", &self.model())
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Embedder {
    /// Creates an embedder. `floor` is the cosine from which a text may be found by its meaning alone, as .35 is for the
    /// table: about one of a hundred unrelated texts should be as similar to a question.
    #[must_use]
    pub fn new(by: Arc<dyn Embed>, scopes: ChosenScopes, floor: f32) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let floor = (floor * f32::from(MAX_SIMILARITY)) as u16;
        let floor = floor.clamp(1, MAX_SIMILARITY - 1);
        Self { by, scopes, floor, dimensions: OnceLock::new(), failed: Mutex::default() }
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        self.by.model()
    }

    /// Returns why the latest call failed, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<CallFailure> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|(_, failure)| failure.clone())
    }

    /// Returns whether texts of a scope may be sent.
    pub(crate) fn is_for(&self, scope: &Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// Takes the number of dimensions of vectors that are there, unless the model states or has shown its own.
    pub(crate) fn hold(&self, dimensions: usize) {
        let _ = self.dimensions.set(dimensions);
    }

    /// Returns the number of dimensions, if it is known.
    pub(crate) fn known_dimensions(&self) -> Option<usize> {
        self.by.dimensions().or_else(|| self.dimensions.get().copied())
    }

    /// Returns the number of dimensions. If it is not known, the model is asked.
    pub(crate) fn dimensions(&self) -> Result<usize, CallFailure> {
        self.known_dimensions().map_or_else(|| self.probe(), Ok)
    }

    /// Asks the model for the vector of a fixed text. Returns its number of dimensions.
    pub(crate) fn probe(&self) -> Result<usize, CallFailure> {
        let vectors = self.vectors(&[PROBE], &mut |_| true)?;
        Ok(vectors.first().map_or(0, |vector| vector.bytes().len()))
    }

    /// Returns the vectors of redacted texts, in their order.
    pub(crate) fn vectors<'t>(
        &self,
        texts: &[&'t str],
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<Vector>, CallFailure> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, failure)) = failed.filter(|(at, _)| at.elapsed() < PAUSE) {
            return Err(failure);
        }
        let head = |text: &&'t str| text.get(..text.floor_char_boundary(TEXT_BYTES)).unwrap_or(text);
        let heads: Vec<&str> = texts.iter().map(head).collect();
        let made = self.by.embed(&heads, progress).and_then(|numbers| self.checked(&numbers, texts.len()));
        // A search that is given up says nothing about the model.
        if !matches!(made, Err(CallFailure::Stopped)) {
            let failed = made.as_ref().err().map(|failure| (Instant::now(), failure.clone()));
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        }
        made
    }

    /// Checks an answer to a number of texts.
    fn checked(&self, answer: &[Vec<f32>], texts: usize) -> Result<Vec<Vector>, CallFailure> {
        let broken = |why: String| Err(CallFailure::Broken(why));
        if answer.len() != texts {
            return broken(format!("it has {} vectors for {texts} texts", answer.len()));
        }
        let first = answer.first().map_or(0, Vec::len);
        let expected = self.known_dimensions().unwrap_or(first);
        if let Some(other) = answer.iter().map(Vec::len).find(|len| *len != expected) {
            return broken(format!("it has a vector of {other} dimensions, where {expected} are expected"));
        }
        if !(1..=MAX_DIMENSIONS).contains(&expected) {
            return broken(format!("it has {expected} dimensions; at most {MAX_DIMENSIONS} can be stored"));
        }
        let vectors: Option<Vec<Vector>> =
            answer.iter().map(|numbers| Vector::from_numbers(numbers)).collect();
        let Some(vectors) = vectors else {
            return broken("a vector is zero, infinite or not a number".to_owned());
        };
        self.hold(expected);
        Ok(vectors)
    }

    /// Returns the similarity that means the same for the table: the floor of this model is that of the table.
    pub(crate) fn like_table(&self, similarity: u16) -> u16 {
        let [own, floor, table, max] = [similarity, self.floor, RELATED, MAX_SIMILARITY].map(u32::from);
        let similarity = match own.checked_sub(floor) {
            Some(above) => table + above * (max - table) / (max - floor),
            None => own * table / floor,
        };
        u16::try_from(similarity).unwrap_or(MAX_SIMILARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Embed for Nothing {
        fn model(&self) -> &str {
            "nothing"
        }

        fn dimensions(&self) -> Option<usize> {
            None
        }

        fn embed(&self, _: &[&str], _: &mut dyn FnMut(usize) -> bool) -> Result<Vec<Vec<f32>>, CallFailure> {
            Err(CallFailure::Empty)
        }
    }

    #[test]
    fn a_floor_is_the_floor_of_the_table() {
        for floor in [-1.0, 0.0, 0.2, 0.35, 0.7, 1.0, 9.0, f32::NAN] {
            let embedder = Embedder::new(Arc::new(Nothing), ChosenScopes::default(), floor);
            let all: Vec<u16> = (0..=MAX_SIMILARITY).map(|own| embedder.like_table(own)).collect();
            assert!(all.is_sorted() && (all[0], all[1023]) == (0, MAX_SIMILARITY), "{floor}");
            assert_eq!(all[usize::from(embedder.floor)], RELATED, "{floor}");
        }
    }

    #[test]
    fn only_named_scopes_are_chosen() {
        let scope = |project: Option<&str>, user: Option<&str>| Scope {
            project: project.map(Into::into),
            user: user.map(Into::into),
            ..Scope::default()
        };
        let chosen = |projects: &[&str], users: &[&str]| ChosenScopes {
            projects: projects.iter().map(|name| (*name).to_owned()).collect(),
            users: users.iter().map(|name| (*name).to_owned()).collect(),
        };
        let own = scope(Some("a/b"), Some("ann"));
        assert!(chosen(&["x", "a/b"], &[]).contains(&own));
        assert!(chosen(&[], &["ann"]).contains(&own));
        assert!(chosen(&["a/b"], &["ann"]).contains(&own));
        for other in
            [chosen(&[], &[]), chosen(&["a"], &[]), chosen(&["a/b"], &["an"]), chosen(&["a"], &["ann"])]
        {
            assert!(!other.contains(&own), "{other:?}");
        }
        assert!(!chosen(&["a/b"], &[]).contains(&scope(None, Some("ann"))));
        assert!(!chosen(&[], &["ann"]).contains(&scope(Some("a/b"), None)));
    }
}
