//! Formats of logs and exports, which no agent continues: chats and requests in the forms of providers, exports of
//! products, our own export, and JSON of an unknown shape.

pub(super) mod chat_export;
mod environment;
pub(super) mod export;
pub(super) mod generic;
pub(super) mod openai_chat;
pub(super) mod requests;
pub(super) mod swe_agent;
pub(super) mod tau_bench;
