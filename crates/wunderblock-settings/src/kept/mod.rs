//! Outputs of commands, finished and running, as a ledger takes them in.

pub(crate) mod outputs;
pub(crate) mod private_file;
pub mod spool;
