//! What a program that opens a Wunderblock ledger reads before it does so: settings files, the environment, and what
//! its caller chose.
//!
//! ```text
//! settings file ─► sections::root::File ─┐
//! environment, caller ─► Overrides ──────┼─► Settings ─► Engine          the ledger, opened for what a program does
//!                                        └──────┬─────► delegate rules, catalog
//! caller ─► RequestChoice ──────────────────────┴─────► ContextOptions   model, window, policy, sources of a request
//! caller ─► text ─► Lookup ─► Session, positions        caller ─► SessionChoice, MessageChoice ─► filters
//! ```
//! The command line, the MCP server and other doors to a ledger use this crate. It knows no arguments, no terminal and
//! no protocol: choices arrive as data, and errors name what is wrong, not the option that said it.
//! See docs/design/0028-settings.md.

mod definitions;
mod embedder;
mod error;
mod file;
pub mod filter;
mod home;
pub mod input;
mod kept;
pub mod lookup;
mod options;
mod overrides;
mod policy;
mod resources;
pub mod sections;
mod settings;
mod sources;
mod tools;

pub use definitions::{DefinitionChoice, definition_query, delegate_model};
pub use error::SettingsError;
pub use home::{places, state_folder, working_folder};
pub use kept::outputs::outputs_session;
pub use kept::private_file::private_file;
pub use kept::spool;
pub use options::{RequestChoice, context_options, lane};
pub use overrides::Overrides;
pub use policy::policy;
pub use sections::compaction::CompactionChoice;
pub use sections::context::ReaderChoice;
pub use settings::Settings;
pub use sources::SourceChoice;
