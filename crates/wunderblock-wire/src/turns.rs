//! Messages as the turns of a provider that has only two speakers.
//!
//! Consecutive messages from one speaker become one turn, because these providers would combine them anyway. In a
//! user turn, the tool results come first. System messages between turns become user text inside `<system>`.

use crate::writing::{Union, Writing};

/// User text that is put before a conversation in which the model speaks first, because these providers require the
/// user to begin.
pub(crate) const OPENING: &str = "(The conversation begins here.)";

/// One turn in the provider's request, made of encoded blocks.
pub(crate) struct Turn<B> {
    pub(crate) role: &'static str,
    pub(crate) results: Vec<B>,
    pub(crate) blocks: Vec<B>,
    /// Content as a string, if it was read as one.
    pub(crate) plain: Option<String>,
    pub(crate) fields: Union,
    /// Indexes of the messages with thinking that are part of this turn.
    pub(crate) thinking: Vec<usize>,
}

impl<B> Turn<B> {
    /// Creates an empty turn.
    pub(crate) fn new(role: &'static str) -> Self {
        let fields = Union::default();
        Self { role, results: Vec::new(), blocks: Vec::new(), plain: None, fields, thinking: Vec::new() }
    }

    /// Returns whether the turn has no content.
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.blocks.is_empty()
    }
}

/// The turns of a conversation.
pub(crate) struct TurnList<B> {
    /// Role of the model in the provider's spelling.
    model: &'static str,
    pub(crate) turns: Vec<Turn<B>>,
    /// Index of the first turn since the model last spoke.
    run: Option<usize>,
}

impl<B> TurnList<B> {
    pub(crate) fn new(model: &'static str) -> Self {
        Self { model, turns: Vec::new(), run: None }
    }

    /// Returns whether the model spoke last, or nobody has spoken yet.
    pub(crate) fn awaits_user(&self) -> bool {
        self.turns.last().is_none_or(|turn| turn.role == self.model)
    }

    /// Adds a turn. The turn joins the last turn if the speaker is the same. The results of a turn join the first
    /// turn since the model spoke.
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
                // The text is no longer alone, so its turn cannot be a string.
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

    /// Returns all turns, each with its results before its other blocks. `opening` comes first if the model would
    /// otherwise begin.
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

/// Returns the text of a system message in the form in which a user turn contains it.
pub(crate) fn wrapped(text: &str) -> String {
    format!("<system>\n{text}\n</system>")
}
