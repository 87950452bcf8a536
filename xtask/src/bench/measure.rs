//! Clocks and meters: wall time, processor time, memory, file sizes, and the cost of a disk sync.

use crate::program::ChoreResult;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seed of all generated inputs.
pub(super) const SEED: u64 = 0x5742_6c6b;

/// Reports the benchmark's progress on stderr.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Durations of repeated work.
#[derive(Debug, Default)]
pub(super) struct Durations(Vec<Duration>);

impl Durations {
    /// Repeats some work and stores the duration of each round.
    pub(super) fn of<T>(rounds: usize, mut work: impl FnMut() -> ChoreResult<T>) -> ChoreResult<Self> {
        let mut times = Self::default();
        for _ in 0..rounds {
            times.take(&mut work)?;
        }
        Ok(times)
    }

    /// Does some work and stores its duration.
    pub(super) fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.push(start.elapsed());
        result
    }

    pub(super) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Returns a percentile of the durations, in milliseconds.
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

/// Processor time of all threads of this process so far; zero if the system does not report it.
pub(crate) fn cpu() -> Duration {
    processor_time(11)
}

/// Processor time of all ended children of this process so far; zero if the system does not report it.
pub(super) fn children_cpu() -> Duration {
    processor_time(13)
}

/// Sum of two fields of `/proc/self/stat`, user and system time, counted from the field after the name.
fn processor_time(first: usize) -> Duration {
    // On Linux, `/proc/self/stat` counts in hundredths of a second on every machine that Rust supports.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = after_name.split_whitespace().skip(first).take(2).flat_map(str::parse).collect();
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

/// Peak memory of a process in bytes, given its id or `self`; zero if the system does not report it.
pub(crate) fn peak_memory(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// A file for measuring appends and syncs without a ledger.
pub(super) struct SyncedFile(File);

impl SyncedFile {
    pub(super) fn new(folder: &Path) -> ChoreResult<Self> {
        Ok(Self(File::create(folder.join("bare"))?))
    }

    /// Appends bytes and waits until they are on the disk.
    pub(super) fn sync(&mut self, bytes: usize) -> ChoreResult<()> {
        self.0.write_all(&vec![0x57; bytes])?;
        Ok(self.0.sync_data()?)
    }
}

/// Size in bytes of a database file and its write-ahead log.
pub(super) fn size(path: &Path) -> u64 {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).map_or(0, |meta| meta.len())
    };
    beside("") + beside("-wal")
}
