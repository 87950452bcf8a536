//! Logs and exports.

mod chat_export;
mod json;
mod openai_chat;
mod requests;
mod swe_agent;
mod tau_bench;
mod wunderblock;
