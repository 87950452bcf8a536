//! Messages as the turns of a provider that has only two speakers.
//!
//! Messages of one speaker in a row become one turn, as such providers would combine them themselves; in a turn of the
//! user the results of tools come first. What a system message says between turns is said by the user, inside `<system>`.

use crate::writing::{Union, Writing};

/// Said by the user where a conversation would begin with the model, which these providers refuse.
pub(crate) const OPENING: &str = "(The conversation begins here.)";

/// One turn of the provider, of blocks that are written already.
pub(crate) struct Turn<B> {
    pub(crate) role: &'static str,
    pub(crate) results: Vec<B>,
    pub(crate) blocks: Vec<B>,
    /// Its content as a string, if it came as one.
    pub(crate) plain: Option<String>,
    pub(crate) fields: Union,
    /// The messages of the request it is made of that hold thinking.
    pub(crate) thinking: Vec<usize>,
}

impl<B> Turn<B> {
    /// A turn with nothing in it yet.
    pub(crate) fn new(role: &'static str) -> Self {
        let fields = Union::default();
        Self { role, results: Vec::new(), blocks: Vec::new(), plain: None, fields, thinking: Vec::new() }
    }

    /// Whether nothing is said in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.blocks.is_empty()
    }
}

/// The turns of a conversation.
pub(crate) struct TurnList<B> {
    /// The role of the model, in the provider's word.
    model: &'static str,
    pub(crate) turns: Vec<Turn<B>>,
    /// The first turn since the model last spoke.
    run: Option<usize>,
}

impl<B> TurnList<B> {
    pub(crate) fn new(model: &'static str) -> Self {
        Self { model, turns: Vec::new(), run: None }
    }

    /// Whether the model spoke last, or nobody did.
    pub(crate) fn awaits_user(&self) -> bool {
        self.turns.last().is_none_or(|turn| turn.role == self.model)
    }

    /// Adds a turn: to the last one of the same speaker, its results to the first turn since the model spoke.
    pub(crate) fn join(&mut self, mut turn: Turn<B>, writing: &mut Writing) {
        if let Some(first) = self.run.and_then(|run| self.turns.get_mut(run)).filter(|_| turn.role == "user")
        {
            let results = std::mem::take(&mut turn.results);
            if !results.is_empty() {
                first.plain = None;
                first.results.extend(results);
            }
        }
        match self.turns.last_mut() {
            Some(last) if last.role == turn.role => {
                last.plain = None;
                last.results.append(&mut turn.results);
                last.blocks.append(&mut turn.blocks);
                last.thinking.append(&mut turn.thinking);
                writing.unite(&mut last.fields, turn.fields.iter());
            }
            _ if turn.is_empty() => {}
            _ => {
                if turn.role == self.model {
                    self.run = None;
                } else if self.run.is_none() {
                    self.run = Some(self.turns.len());
                }
                self.turns.push(turn);
            }
        }
    }

    /// All turns, each with its results before its other blocks. Where the model would begin, `opening` does.
    pub(crate) fn finish(mut self, opening: impl FnOnce() -> Turn<B>) -> Vec<Turn<B>> {
        if self.turns.first().is_some_and(|turn| turn.role == self.model) {
            self.turns.insert(0, opening());
        }
        for turn in &mut self.turns {
            turn.results.append(&mut turn.blocks);
        }
        self.turns
    }
}

/// What a system message says, where the user has to say it.
pub(crate) fn wrapped(text: &str) -> String {
    format!("<system>\n{text}\n</system>")
}
