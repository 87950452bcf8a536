//! Reads a file: line by line in bounded memory, or as a whole if it is a single document.

use super::feed::Feed;
use super::imported::OnBytes;
use crate::base::error::{Error, file_error};
use crate::import::records::name::raw_of;
use crate::import::transcripts::files::bytes::RawBytes;
use crate::import::transcripts::files::change;
use crate::import::transcripts::files::opened::{Content, OpenedFile};
use crate::import::transcripts::files::saved::Saved;
use crate::import::transcripts::placing::session::resume_import;
use crate::import::transcripts::placing::take::{end_line, let_in, take_record};
use crate::limits::{MAX_LINE, SOURCE_CHUNK};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use wunderblock_store::StoreError;
use wunderblock_wire::transcript::{Checkpoint, RecordStatus, TranscriptReader, TranscriptRecord};

/// Maximum number of lines read before their records are taken in.
const GROUP: usize = 256;
/// Maximum total size in bytes of the lines read before their records are taken in.
const GROUP_BYTES: usize = 1 << 20;

/// A line with its records.
struct ParsedLine {
    offset: u64,
    number: u64,
    bytes: Vec<u8>,
    records: Vec<TranscriptRecord>,
    /// Whether the file had named its session at this line.
    named: bool,
}

impl ParsedLine {
    /// Returns the line's finished records with their raw bytes.
    fn at_hand(&self) -> impl Iterator<Item = (&TranscriptRecord, &[u8])> {
        let bare = strip_end(&self.bytes);
        let finished = self.records.iter().filter(|record| !self.is_unfinished(record));
        finished.map(move |record| (record, raw_of(record, bare, self.offset)))
    }

    /// Returns whether a record may be incomplete: another process may still be writing the file's last line.
    fn is_unfinished(&self, record: &TranscriptRecord) -> bool {
        let is_broken = matches!(record.kept, RecordStatus::Broken { .. });
        is_broken && !self.bytes.ends_with(b"\n") && record.offset >= self.offset
    }
}

/// Place at which a later import can continue.
struct ResumePoint {
    at: u64,
    line: u64,
    reader: Vec<u8>,
}

pub(super) async fn document(
    feed: &mut Feed<'_>,
    opened: &mut OpenedFile<'_>,
) -> Result<Option<Saved>, Error> {
    let path = opened.path;
    let mut bytes = Vec::new();
    opened.file.seek(SeekFrom::Start(0)).map_err(|error| file_error(path, &error))?;
    opened.file.read_to_end(&mut bytes).map_err(|error| file_error(path, &error))?;
    feed.outbox.bytes = RawBytes::new(0, feed.outbox.claim.len);
    feed.outbox.bytes.push(&bytes);
    let mut reader = feed.reader();
    let mut records = reader.document(&bytes);
    records.extend(reader.finish());
    let at_hand: Vec<_> = records.iter().map(|record| (record, raw_of(record, &bytes, 0))).collect();
    feed.look_up(&at_hand).await?;
    for record in records {
        take_record(feed, record, &reader, &bytes, 0).await?;
    }
    let_in(feed, &reader).await?;
    Ok(None)
}

pub(super) async fn lines(
    feed: &mut Feed<'_>,
    opened: &mut OpenedFile<'_>,
    saved: Option<Saved>,
    progress: OnBytes<'_>,
) -> Result<Option<Saved>, Error> {
    let path = opened.path;
    // The samples of the stored bytes remain those of their continuation.
    let stored = saved.as_ref().filter(|_| opened.continues()).map(|saved| saved.samples.clone());
    let (mut reader, at, line) = match saved {
        Some(saved) => resume_import(feed, saved).await?,
        None => (feed.reader(), 0, 0),
    };
    if at == 0 && opened.continues() {
        // The import cannot continue, so the source is opened again, and read as a whole.
        return Err(Error::Store(StoreError::SourceMoved));
    }
    feed.outbox.bytes = RawBytes::new(at, feed.outbox.claim.len);
    let mut file = opened.file.try_clone().map_err(|error| file_error(path, &error))?;
    file.seek(SeekFrom::Start(at)).map_err(|error| file_error(path, &error))?;
    let file = BufReader::with_capacity(SOURCE_CHUNK, file);
    let mut input = LineInput { file, path, offset: at, number: line, stop: None };
    let len = opened.len;
    loop {
        let group = input.group(feed, &mut reader).await?;
        let at_hand: Vec<_> = group.iter().flat_map(ParsedLine::at_hand).collect();
        feed.look_up(&at_hand).await?;
        let ended = group.is_empty();
        for line in group {
            take(feed, line, &reader).await?;
            end_line(feed, &reader).await?;
        }
        progress(input.offset.min(len), len);
        if ended {
            break;
        }
    }
    let last = reader.finish();
    let at_hand: Vec<_> = last.iter().map(|record| (record, &[][..])).collect();
    feed.look_up(&at_hand).await?;
    for record in last {
        take_record(feed, record, &reader, &[], input.offset).await?;
    }
    let_in(feed, &reader).await?;
    let Some(ResumePoint { at, line, reader }) = input.stop else { return Ok(None) };
    let samples = match stored {
        Some(samples) => samples,
        None => change::samples(&mut opened.file, input.offset).unwrap_or_default(),
    };
    // Without samples, the next import could not recognise a grown file, so the state would be useless.
    let kept = !samples.is_empty();
    let rows = opened.rows.take();
    Ok(kept.then(|| Saved { samples, rows, ..feed.saved(at, line, reader) }))
}

/// Takes in the records of a line.
async fn take(feed: &mut Feed<'_>, line: ParsedLine, reader: &TranscriptReader) -> Result<(), Error> {
    feed.gate.named = line.named;
    let bare = strip_end(&line.bytes);
    for record in &line.records {
        if line.is_unfinished(record) {
            feed.unfinished(line.number);
            continue;
        }
        take_record(feed, record.clone(), reader, bare, line.offset).await?;
    }
    Ok(())
}

/// Cursor over the lines of a file.
struct LineInput<'p> {
    file: BufReader<Content>,
    path: &'p Path,
    /// Offset of the next line's first byte.
    offset: u64,
    /// Number of the last line read.
    number: u64,
    /// Last place at which the next import can continue.
    stop: Option<ResumePoint>,
}

impl LineInput<'_> {
    /// Reads the next lines and their records; returns an empty list at the end of the file. The bytes go to `feed`.
    async fn group(
        &mut self,
        feed: &mut Feed<'_>,
        reader: &mut TranscriptReader,
    ) -> Result<Vec<ParsedLine>, Error> {
        let mut group = Vec::new();
        let mut size = 0;
        let mut is_whole = true;
        while is_whole && group.len() < GROUP && size < GROUP_BYTES {
            let mut bytes = Vec::new();
            let limit = MAX_LINE as u64 + 1;
            let read = (&mut self.file).take(limit).read_until(b'\n', &mut bytes);
            read.map_err(|error| file_error(self.path, &error))?;
            if bytes.is_empty() {
                break;
            }
            is_whole = bytes.ends_with(b"\n");
            if !is_whole && bytes.len() > MAX_LINE {
                if group.is_empty() {
                    let line = self.long(feed, bytes, reader.session().is_some()).await?;
                    group.push(line);
                } else {
                    // The line is read again with the next group, after the lines of this group have been taken in.
                    self.file
                        .seek_relative(-(bytes.len() as i64))
                        .map_err(|error| file_error(self.path, &error))?;
                }
                break;
            }
            if !is_whole {
                self.stop_here(reader);
            }
            size += bytes.len();
            let (offset, number) = (self.offset, self.number + 1);
            feed.outbox.bytes.push(&bytes);
            let bare = strip_end(&bytes);
            feed.remind(reader, bare).await?;
            let records = reader.line(offset, number, bare);
            self.offset += bytes.len() as u64;
            self.number = number;
            group.push(ParsedLine { offset, number, bytes, records, named: reader.session().is_some() });
        }
        if is_whole && !group.is_empty() {
            self.stop_here(reader);
        }
        Ok(group)
    }

    fn stop_here(&mut self, reader: &TranscriptReader) {
        if let Some(Checkpoint { state, resume, resume_line }) = reader.checkpoint() {
            let line = resume_line.map_or(self.number, |line| line.saturating_sub(1));
            self.stop = Some(ResumePoint { at: resume.unwrap_or(self.offset), line, reader: state });
        }
    }

    /// Reads a line that is too long to be parsed. Its bytes are stored while they are read, and its record names
    /// their location.
    async fn long(&mut self, feed: &mut Feed<'_>, first: Vec<u8>, named: bool) -> Result<ParsedLine, Error> {
        let (offset, number) = (self.offset, self.number + 1);
        let blanked = feed.sessions.is_erased_at(offset);
        let mut len = 0;
        let mut part = first;
        let mut ends = false;
        loop {
            let text = part.strip_suffix(b"\n").unwrap_or(&part);
            len += text.len() as u64;
            ends |= part.ends_with(b"\n");
            feed.outbox.bytes.push(&part);
            if blanked {
                feed.outbox.bytes.blank(self.offset, self.offset + text.len() as u64);
            }
            self.offset += part.len() as u64;
            feed.store(self.offset).await?;
            if ends {
                break;
            }
            part.clear();
            let read = (&mut self.file).take(SOURCE_CHUNK as u64).read_until(b'\n', &mut part);
            if read.map_err(|error| file_error(self.path, &error))? == 0 {
                break;
            }
        }
        self.number = number;
        let bytes = if ends { b"\n".to_vec() } else { Vec::new() };
        let record = feed.long_record(offset, len, number);
        Ok(ParsedLine { offset, number, bytes, records: vec![record], named })
    }
}

fn strip_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
