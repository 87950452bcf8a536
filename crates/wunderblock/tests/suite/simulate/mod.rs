//! What a simulation promises, on sessions made up for it.

mod figures;
mod histories;
mod scene;
