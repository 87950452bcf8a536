//! The content behind a summary can be read back exactly, under each of its names.

mod describing;
mod expanding;
mod scene;
mod wellness;
