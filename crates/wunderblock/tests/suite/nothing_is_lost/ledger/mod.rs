//! Promises of the library, tested at its boundary.

mod apis;
mod bounds;
pub(crate) mod care;
mod cases;
mod clock;
mod copies;
mod delegations;
mod door;
mod examples;
mod exports;
mod families;
pub(crate) mod history;
mod imports;
mod live;
mod logs;
mod meaning;
mod members;
mod outputs;
#[cfg(target_os = "linux")]
mod polls;
mod promises;
mod recorded;
mod road;
mod rows;
mod send;
mod storage;
mod trips;
mod waiting;
