//! Formats in which agents store their sessions, one file per format.

pub(super) mod aider;
pub(super) mod claude_code;
pub(super) mod codex;
pub(super) mod copilot;
pub(super) mod cursor;
pub(super) mod event_log;
pub(super) mod gemini_cli;
pub(super) mod opencode;
pub(super) mod pi;
