//! Delegates of a session: the model that one gets, and what became of those that it had.
//!
//! ```text
//! events ─ delegation ─► Delegation of each call or start ─ link ─► with the sessions of delegates ─ tree ─► nodes
//! ```

mod call;
mod handle;
mod read;
mod report;
mod tree;

pub use call::DelegateCall;
pub use handle::Agents;
pub use tree::DelegationNode;
