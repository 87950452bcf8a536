//! Delegates of a session: the model that one gets, and what became of those that it had.
//!
//! ```text
//! events ─ fold ─► Delegation of each call or start ─ link ─► with the sessions of delegates ─ tree ─► nodes
//! ```

mod call;
mod delegation;
mod fold;
mod handle;
mod link;
mod read;
mod report;
mod tree;

pub use call::DelegateCall;
pub use delegation::{DelegateText, Delegation, DelegationOutcome, ModelMismatch};
pub use handle::Agents;
pub use tree::DelegationNode;
