//! Promises of the simulation, on sessions generated for it.

mod figures;
mod histories;
mod scene;
