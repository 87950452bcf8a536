//! Questions whose evidence is known, and the conversations that they are about.

use wunderblock_core::units::Millis;

/// Conversations with questions about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalSet {
    /// Conversations, each with its own questions.
    pub conversations: Vec<EvalConversation>,
    /// Number of references to evidence that name no turn of their conversation.
    pub unknown_evidence: usize,
}

/// A conversation in one or more sessions. Its questions are asked of these sessions alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalConversation {
    /// Name of the conversation, unique in its set.
    pub name: String,
    /// Sessions in their order.
    pub sessions: Vec<EvalSession>,
    /// Questions.
    pub questions: Vec<EvalQuestion>,
}

/// A session of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalSession {
    /// Time at which the session began, if the set states it.
    pub at: Option<Millis>,
    /// Turns in their order.
    pub turns: Vec<EvalTurn>,
}

/// What one speaker said at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalTurn {
    /// Name of the turn, unique in its conversation.
    pub id: String,
    /// Name of the speaker; `user` and `assistant` name roles.
    pub speaker: String,
    /// Words of the speaker.
    pub text: String,
}

/// A question with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalQuestion {
    /// Text of the question.
    pub text: String,
    /// Names of the turns that hold the answer. Empty if the conversation has no answer.
    pub evidence: Vec<String>,
    /// Kind of the question, in the words of the set.
    pub category: String,
}
