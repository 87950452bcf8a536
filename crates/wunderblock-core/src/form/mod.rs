//! Forms of texts that a request does not show as they are: stubs in place of large bodies, and fences around texts
//! without authority.

pub mod fence;
pub mod stub;
