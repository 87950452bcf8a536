//! What enters a request from outside the ledger, and what is promised of it.

mod desk;
mod files;
mod forget;
mod freeze;
mod guard;
mod prefix;
mod state;
mod trust;
mod twin;
