//! Promises of the simulation, tested on sessions that are generated for this purpose.

mod figures;
mod histories;
mod scene;
