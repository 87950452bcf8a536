//! The kinds of facts, and who may write which.

use super::Fact;

impl Fact {
    /// The kinds that callers may append. The others steer lanes or are receipts: only the engine writes those.
    pub const OPEN_KINDS: [&'static str; 9] = [
        "session.opened",
        "session.closed",
        "task.started",
        "task.finished",
        "message.appended",
        "content.pinned",
        "usage.measured",
        "turn.completed",
        "subagent.spawned",
    ];

    /// The kinds that only the engine writes.
    pub const ENGINE_KINDS: [&'static str; 11] = [
        "session.forked",
        "context.built",
        "context.injected",
        "content.reduced",
        "content.erased",
        "view.trimmed",
        "preamble.changed",
        "budget.warned",
        "session.compacted",
        "compaction.rejected",
        "compaction.undone",
    ];

    /// Whether callers may append it. See [`Fact::OPEN_KINDS`].
    #[must_use]
    pub fn is_open(&self) -> bool {
        Self::OPEN_KINDS.contains(&self.kind())
    }

    /// The kind as written on disk and in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SessionOpened(_) => "session.opened",
            Self::SessionForked(_) => "session.forked",
            Self::SessionClosed(_) => "session.closed",
            Self::TaskStarted(_) => "task.started",
            Self::TaskFinished(_) => "task.finished",
            Self::MessageAppended(_) => "message.appended",
            Self::ContextBuilt(_) => "context.built",
            Self::ContextInjected(_) => "context.injected",
            Self::ContentReduced(_) => "content.reduced",
            Self::ContentPinned(_) => "content.pinned",
            Self::ContentErased(_) => "content.erased",
            Self::ViewTrimmed(_) => "view.trimmed",
            Self::PreambleChanged(_) => "preamble.changed",
            Self::BudgetWarned(_) => "budget.warned",
            Self::UsageMeasured(_) => "usage.measured",
            Self::TurnCompleted(_) => "turn.completed",
            Self::SessionCompacted(_) => "session.compacted",
            Self::CompactionRejected(_) => "compaction.rejected",
            Self::CompactionUndone(_) => "compaction.undone",
            Self::SubagentSpawned(_) => "subagent.spawned",
        }
    }
}
