//! Input from outside the ledger: the section of a request that a text belongs to, the authority of the text,
//! instruction files, and the explicit state of the work.

pub mod authority;
pub mod instruction;
pub mod section;
pub mod state;
