//! Files that only their owner may read.

use std::fs::OpenOptions;

/// Returns options that create files readable by their owner only. On systems without file modes, only the folder's
/// permissions protect a file.
#[must_use]
pub fn private_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is no mode to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
