//! Sessions that agents store.

mod aider;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod event_log;
mod gemini_cli;
mod opencode;
mod pi;
