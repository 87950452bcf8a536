//! Agents that are installed on a machine, and their histories.
//!
//! The agents are data (`agent/agents.toml`). This module reads neither environment variables nor the home directory: the
//! caller passes them as [`Places`].

mod history;
mod resume;
pub mod settings;
mod transcript;

pub use crate::rules::agent::{Agent, agents};
pub use history::{AgentHistory, HistoryFile, find_session, histories};
pub use resume::{Resume, resume};
pub use transcript::{TranscriptPlace, transcript_place, write_agent_transcript};
pub use wunderblock_sources::places::Places;
