//! Delegates of a session: the model that one gets, and what became of those that it had.
//!
//! ```text
//! events ─ fold ─► Delegation of each call or start ─ link ─► with the sessions of delegates ─ tree ─► nodes
//! ```

mod call;
pub(crate) mod delegation;
pub(crate) mod fold;
mod handle;
pub(crate) mod link;
mod read;
mod report;
mod tree;

pub use call::DelegateCall;
pub use delegation::{DelegateText, Delegation, DelegationOutcome, ModelMismatch};
pub use handle::Agents;
pub use tree::DelegationNode;
