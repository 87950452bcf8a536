//! Clocks and cost models: time, processor time, memory, and what the disk costs by itself.

use crate::program::ChoreResult;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// What inputs follow from.
pub(super) const SEED: u64 = 0x5742_6c6b;

/// Says on stderr how far the benchmark is.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Durations of one thing done often.
#[derive(Debug, Default)]
pub(super) struct Durations(Vec<Duration>);

impl Durations {
    /// Does something this often, and notes how long each time took.
    pub(super) fn of<T>(rounds: usize, mut work: impl FnMut() -> ChoreResult<T>) -> ChoreResult<Self> {
        let mut times = Self::default();
        for _ in 0..rounds {
            times.take(&mut work)?;
        }
        Ok(times)
    }

    /// Does something and notes how long it took.
    pub(super) fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.push(start.elapsed());
        result
    }

    pub(super) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The time that so many of a hundred do not exceed, in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, |time| millis(*time))
    }
}

pub(super) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Processor time that this process has used, all its threads together; zero where the system does not say.
pub(crate) fn cpu() -> Duration {
    // Linux counts in hundredths of a second here, on every machine Rust runs on.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = after_name.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

/// The most memory this process ever had, in bytes; zero where the system does not say.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// A file that is appended to and synced, to see what that costs without a ledger.
pub(super) struct SyncedFile(File);

impl SyncedFile {
    pub(super) fn new(folder: &Path) -> ChoreResult<Self> {
        Ok(Self(File::create(folder.join("bare"))?))
    }

    /// Appends so many bytes and waits until they are on the disk.
    pub(super) fn sync(&mut self, bytes: usize) -> ChoreResult<()> {
        self.0.write_all(&vec![0x57; bytes])?;
        Ok(self.0.sync_data()?)
    }
}

/// The size of a file and what SQLite keeps beside it.
pub(super) fn size(path: &Path) -> u64 {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).map_or(0, |meta| meta.len())
    };
    beside("") + beside("-wal")
}
