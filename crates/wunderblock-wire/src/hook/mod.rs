//! Hooks of agents: what an agent tells the program that it starts at an event, and what it takes in from the program.
//!
//! [`HookCall::decode`] reads the JSON that an agent writes to its hook's standard input, and [`HookCall::answer`]
//! writes the JSON that the agent reads from the hook's standard output. Agents differ in the names of their events,
//! in the fields of each event, and in the events at which a hook can add context. Each agent has a file here with
//! these differences and their source; everything that agents share is read once, in `fields`.
//!
//! Agents add fields and events from version to version, so only input that is not a JSON object is an error. A
//! missing field is `None`, or empty; an unknown event is [`HookEvent::Other`]. Inputs and results of tools are
//! borrowed from the text, because they can have many megabytes.
//!
//! An answer never decides: it neither allows nor forbids a call of a tool, and it never prevents an agent from
//! stopping. The only decision it contains is the one without which Codex ignores a replaced input.

mod call;
mod claude_code;
mod codex;
mod contract;
mod decode;
mod delegates;
mod fields;
mod gemini_cli;
mod opencode;

pub use call::{
    CompactTrigger, Delegation, HookAgent, HookAnswer, HookCall, HookEvent, SessionSource, ToolOutcome,
    TurnStop, UsedTool,
};
pub use delegates::{delegates, delegation, notified_result, outcome};
