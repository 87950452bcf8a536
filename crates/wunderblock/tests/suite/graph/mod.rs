//! What a summary stands for can be read back, exactly, from wherever its name stands.

mod describing;
mod expanding;
mod scene;
mod wellness;
