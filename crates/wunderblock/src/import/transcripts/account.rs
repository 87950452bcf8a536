//! Counts what an import does with the records of its file.

use super::feed::{LONG, ReadFile};
use super::imported::{ImportNotice, Imported};
use crate::limits::MAX_WARNINGS;
use wunderblock_core::message::{Dialect, Part};
use wunderblock_wire::transcript::{Format, RecordItem, RecordStatus, TranscriptRecord};

/// Outcome of an import so far.
pub(super) struct Account {
    pub(super) done: Imported,
    /// Number of warnings that found no room in the list.
    unlisted: u64,
}

impl Account {
    pub(super) fn of(file: &ReadFile) -> Self {
        Self { done: Imported::of(&file.path, file.format), unlisted: 0 }
    }

    /// Returns the outcome, with the number of the warnings that are not listed.
    pub(super) fn total(&self) -> Imported {
        let mut done = self.done.clone();
        if self.unlisted > 0 {
            done.warnings.push(format!("and {} more", self.unlisted));
        }
        done
    }

    /// Counts a record, and warns if it was not understood.
    pub(super) fn count(&mut self, record: &TranscriptRecord) {
        let is_message = |item: &&RecordItem| matches!(item, RecordItem::Message(_));
        self.done.messages += record.items.iter().filter(is_message).count() as u64;
        let (notice, word, why) = match &record.kept {
            RecordStatus::Opaque { .. } if self.is_generic() && &*record.kind != LONG => {
                self.done.opaque_bytes += record.len;
                *self.done.notices.entry(ImportNotice::Generic).or_default() += 1;
                return;
            }
            RecordStatus::Opaque { why } => (ImportNotice::UnknownRecord, "unknown", why),
            RecordStatus::Broken { why } => {
                self.done.broken += 1;
                (ImportNotice::Broken, "kept as it is", why)
            }
            RecordStatus::Understood | RecordStatus::Bookkeeping => return self.account_blocks(record),
        };
        self.done.opaque_bytes += record.len;
        let text = format!("{}:{}: {word}: {why}", self.done.path.display(), record.line);
        self.warn(notice, text);
    }

    /// Returns whether no reader knows the file's format, so that every record has an unknown shape.
    fn is_generic(&self) -> bool {
        matches!(self.done.format, Format::JsonLines | Format::JsonDocument)
    }

    /// Counts blocks of unknown shape in otherwise understood messages. Opaque items of the OpenAI Responses dialect,
    /// which Codex stores, are excluded: their types are known, and they are kept unchanged on purpose.
    fn account_blocks(&mut self, record: &TranscriptRecord) {
        let messages = record.items.iter().filter_map(|item| match item {
            RecordItem::Message(message) => Some(message),
            _ => None,
        });
        let leaves = messages.flat_map(|message| &message.parts).flat_map(Part::leaves);
        let unknown = leaves.filter_map(|(part, body)| match part {
            Part::Opaque { dialect, .. } if *dialect != Dialect::OpenaiResponses => Some(body.bytes().0),
            _ => None,
        });
        let (blocks, bytes) = unknown.fold((0_u64, 0), |(blocks, sum), bytes| (blocks + 1, sum + bytes));
        if blocks > 0 {
            self.done.opaque_bytes += bytes;
            let what = if blocks == 1 { "a block".to_owned() } else { format!("{blocks} blocks") };
            let text = format!(
                "{}:{}: {what} of unknown shape; kept unchanged",
                self.done.path.display(),
                record.line
            );
            self.warn(ImportNotice::UnknownBlock, text);
        }
    }

    /// Counts a notice, and adds its warning to the list if there is room.
    pub(super) fn warn(&mut self, notice: ImportNotice, text: String) {
        *self.done.notices.entry(notice).or_default() += 1;
        if self.done.warnings.len() < MAX_WARNINGS {
            self.done.warnings.push(text);
        } else {
            self.unlisted += 1;
        }
    }
}
