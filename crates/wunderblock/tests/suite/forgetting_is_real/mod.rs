//! Forgetting is real: erased content is in no file, and a restore does not bring it back.

pub(crate) mod keeping;
