//! Records of imported files: their names, where they are in the stored files, and which of them were erased.

pub(crate) mod file_name;
pub(crate) mod find;
pub(crate) mod lost;
pub(crate) mod name;
