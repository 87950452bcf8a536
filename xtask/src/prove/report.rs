//! Report of one attack.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Maximum number of failures of a kind that are printed one by one.
const TOLD: usize = 3;
/// Time between two progress messages of an attack.
const TELL: Duration = Duration::from_secs(5);

/// Result of one attack.
pub(super) struct AttackReport {
    what: &'static str,
    tried: u64,
    begun: Instant,
    told: Instant,
    notes: Vec<String>,
    failures: BTreeMap<String, Vec<String>>,
}

impl AttackReport {
    pub(super) fn new(what: &'static str) -> Self {
        let now = Instant::now();
        Self { what, tried: 0, begun: now, told: now, notes: Vec::new(), failures: BTreeMap::new() }
    }

    /// Counts an attempt, and prints the number of attempts from time to time.
    pub(super) fn tried(&mut self) {
        self.tried += 1;
        if self.told.elapsed() >= TELL {
            self.told = Instant::now();
            println(&format!("{} {}, {} s", self.tried, self.what, self.begun.elapsed().as_secs()));
        }
    }

    /// Records a failure and prints its kind immediately, because the remaining attempts may take minutes.
    pub(super) fn fail(&mut self, kind: &str, failure: String) {
        let _ = writeln!(std::io::stderr(), "failed: {kind}");
        self.failures.entry(kind.to_owned()).or_default().push(failure);
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn failed(&self) -> usize {
        self.failures.values().map(Vec::len).sum()
    }

    pub(super) fn text(&self) -> String {
        let seconds = self.begun.elapsed().as_secs();
        let mut out = format!("{} {}, {} failed, {seconds} s\n", self.tried, self.what, self.failed());
        for note in &self.notes {
            let _ = writeln!(out, "  {note}");
        }
        for (kind, failures) in &self.failures {
            let _ = writeln!(out, "  {} × {kind}", failures.len());
            for failure in failures.iter().take(TOLD) {
                let _ = writeln!(out, "    {failure}");
            }
        }
        out
    }
}

pub(super) fn println(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
