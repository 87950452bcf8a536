//! Reading sources: the files found, their order and rank, and the handling of unusable files.

mod hierarchy;
mod hostile;
mod ignoring;
mod imports;
mod scanning;
mod scene;
mod skilled;
mod touching;
