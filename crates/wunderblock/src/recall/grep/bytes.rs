//! Search in texts that are kept as bytes, window by window.

use super::pattern::Pattern;
use super::{Match, StreamScan, lines_around};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::{AROUND, KeptText, Window, masked, shown_part};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use wunderblock_core::message::Role;
use wunderblock_store::StoredEvent;

/// Text for which a message stands, to be searched.
#[derive(Clone, Copy)]
pub(super) struct KeptLines<'a> {
    pub(super) scan: &'a StreamScan<'a>,
    pub(super) row: &'a StoredEvent,
    pub(super) role: Role,
    pub(super) text: &'a KeptText,
}

impl KeptLines<'_> {
    /// Passes the matching lines to `found`. A match of several lines is found if it has at most as many bytes as there
    /// are around a window.
    pub(super) async fn each(
        self,
        engine: &Engine,
        pattern: &Pattern,
        found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<()>, Error> {
        let deadline = self.scan.deadline;
        // A line that is longer than a window is shown once.
        let (mut last, mut is_enough) = (0, false);
        let mut each = |window: Window| {
            let mut visible = None;
            for (number, start, end) in pattern.lines(&window.bytes, window.own.start, deadline) {
                let number = window.line + number - 1;
                if start >= window.own.end || deadline.is_over() {
                    break;
                }
                if number == last {
                    continue;
                }
                last = number;
                let visible = visible.get_or_insert_with(|| match self.scan.masks {
                    Some(masks) => masked(&window.bytes, masks),
                    None => Cow::Borrowed(&*window.bytes),
                });
                let matched = pattern.range(window.bytes.get(start..end).unwrap_or_default());
                let one = self.line(&window, visible, start..end, matched.unwrap_or_default());
                is_enough = found(Match { line: number, ..one }).is_break();
                if is_enough {
                    break;
                }
            }
            let ends = is_enough || deadline.is_over();
            Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let _ = self.text.each_window(engine, AROUND, deadline, &mut each).await?;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Returns the match at a place in a line of a window, of which the visible bytes are shown.
    fn line(self, window: &Window, visible: &[u8], line: Range<usize>, matched: Range<usize>) -> Match {
        // A match that continues on the next line is shown only to the end of its first line.
        let matched = line.start + matched.start..line.start + matched.end;
        let part = shown_part(line.clone(), &matched);
        let shown = |range: Range<usize>| String::from_utf8_lossy(visible.get(range).unwrap_or_default());
        let before = shown(part.start..matched.start).len();
        let len = shown(matched.start..matched.end.min(part.end)).len();
        let [lines_before, lines_after] = lines_around(visible, line.start, line.end, self.scan.context);
        Match {
            session: self.scan.stream.clone(),
            seq: self.row.seq,
            at: self.row.at,
            role: self.role,
            handle: None,
            document: None,
            place: Some(self.text.place(window.at(part.start), window.at(part.end))),
            line: 0,
            found: before..before + len,
            text: shown(part).into_owned(),
            before: lines_before,
            after: lines_after,
        }
    }
}
