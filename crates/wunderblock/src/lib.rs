//! .

pub mod index;
