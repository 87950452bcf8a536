//! Reading sources: what is found, in which order and rank, and what happens when files are not what they should be.

mod hierarchy;
mod hostile;
mod ignoring;
mod imports;
mod scanning;
mod scene;
mod skilled;
mod touching;
