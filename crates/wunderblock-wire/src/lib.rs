//! Provider dialects and agents' transcript formats: bytes to messages and back.

pub mod transcript;
