//! Content that enters a request from outside the ledger, and the promises about it.

mod desk;
mod files;
mod forget;
mod freeze;
mod guard;
mod prefix;
mod state;
mod trust;
mod twin;
