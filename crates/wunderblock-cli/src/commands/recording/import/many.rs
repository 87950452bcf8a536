//! Imports many files, with one progress bar, and collects the totals.

use super::line::print_imported;
use super::summary::ImportSummary;
use crate::args::{Global, Import};
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::Failure;
use crate::output::hint::failure_text;
use crate::resolve::importing::{ImportOptions, Shown, import, import_bar};
use crate::resolve::names::Names;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use wunderblock::{Engine, Error, ImportReason, Imported, Transcripts};
use wunderblock_settings::lookup::is_transcript;

/// An import of many files.
pub(super) struct ManyFiles<'i> {
    pub(super) global: &'i Global,
    pub(super) engine: &'i Engine,
    pub(super) wanted: &'i Import,
}

impl ManyFiles<'_> {
    /// Imports files and adds each one to the totals, in the row that `group` returns for its path. Files that are not
    /// transcripts are skipped. Returns all failures, except for files that are not transcripts.
    pub(super) async fn import(
        &self,
        found: Transcripts,
        summary: &mut ImportSummary,
        group: impl Fn(&Path) -> PathBuf,
    ) -> Result<Vec<Failure>, Failure> {
        let Self { global, engine, wanted } = *self;
        let unchanged = if wanted.verify { Vec::new() } else { found.unchanged(engine).await? };
        let bar = import_bar(global, "");
        bar.set_length(found.files.iter().map(|file| file.bytes).sum());
        let (mut failed, mut before) = (Vec::new(), 0);
        for (number, file) in found.files.iter().enumerate() {
            bar.set_message(format!("{}/{}", number + 1, found.files.len()));
            bar.set_position(before);
            let imported = match unchanged.get(number) {
                Some(Some(imported)) => Ok(imported.clone()),
                _ => self.file(&file.path, &bar, before).await,
            };
            before += file.bytes;
            match imported {
                Ok(imported) => {
                    if self.is_listed() {
                        bar.suspend(|| print_imported(global, &imported, &Names::default()))?;
                    }
                    summary.add(group(&file.path), &imported);
                }
                Err(error @ Failure::Engine(Error::Import { reason: ImportReason::NotATranscript, .. })) => {
                    summary.skipped += 1;
                    if self.is_listed() {
                        bar.suspend(|| say(global, &format!("skipped: {}", clean(&failure_text(&error)))));
                    }
                }
                Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
                Err(error) => failed.push(error),
            }
        }
        bar.finish_and_clear();
        Ok(failed)
    }

    /// Returns whether each file gets a line: for programs, and for people who ask for details.
    pub(super) fn is_listed(&self) -> bool {
        self.global.json || self.global.verbose
    }

    async fn file(&self, file: &Path, bar: &ProgressBar, before: u64) -> Result<Imported, Failure> {
        is_transcript(file)?;
        let shown = Shown::Part { bar, before, warnings: self.global.verbose };
        Ok(import(self.global, self.engine, file, options(self.wanted, shown)).await?)
    }
}

/// Returns the options of an import as the user gave them.
pub(super) fn options<'b>(wanted: &Import, shown: Shown<'b>) -> ImportOptions<'b> {
    ImportOptions { format: wanted.format.0, verify: wanted.verify, shown }
}
