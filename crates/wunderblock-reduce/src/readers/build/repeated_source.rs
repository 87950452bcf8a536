//! Source and help below a diagnostic: where the same was said of other places already, they explain nothing more.

use std::collections::HashMap;

use crate::label::Label;
use crate::lines::TextLines;
use crate::readers::diagnostic::{self, DiagnosticPart};
use crate::span::{LineSpan, Rank};
use crate::template;

use super::build_line::{BuildLine, strip_prefix};

/// Maximum number of diagnostics of one message that are shown with their source.
const MAX_SHOWN: u32 = 3;

/// Leaves out what stands below a message that came often enough before. The message and its place stay, as do notes
/// that have a place.
pub(super) fn fold_source(lines: &TextLines<'_>, read: &[BuildLine], spans: &mut [LineSpan]) {
    let mut said: HashMap<u64, u32> = HashMap::new();
    let mut words = Vec::new();
    let mut known = false;
    for (at, is) in read.iter().enumerate() {
        let line = strip_prefix(lines.get(at));
        match is {
            BuildLine::Part(DiagnosticPart::Head(_)) => {
                let count = said.entry(message_hash(line, &mut words)).or_default();
                *count += 1;
                known = *count > MAX_SHOWN;
            }
            BuildLine::Part(DiagnosticPart::Total | DiagnosticPart::Step) | BuildLine::Progress => {
                known = false
            }
            BuildLine::Part(DiagnosticPart::Code) => leave_out(spans, at, known, Label::SourceLines),
            BuildLine::Part(DiagnosticPart::Help)
                if diagnostic::place_length(line.trim_start()).is_none() =>
            {
                leave_out(spans, at, known, Label::HelpLines);
            }
            // `a.c: In function 'f':` leads to the next message.
            BuildLine::Other if diagnostic::is_lead(line) => leave_out(spans, at, known, Label::SourceLines),
            BuildLine::Other if line.trim().is_empty() => {
                leave_out(spans, at, known && is_within(read, at), Label::SourceLines)
            }
            _ => {}
        }
    }
}

fn leave_out(spans: &mut [LineSpan], at: usize, known: bool, what: Label) {
    if let Some(span) = spans.get_mut(at).filter(|_| known) {
        (span.rank, span.score, span.label) = (Rank::Filler, 1, Some(what));
    }
}

/// Whether an empty line stands between lines of source.
fn is_within(read: &[BuildLine], at: usize) -> bool {
    read.get(at + 1) == Some(&BuildLine::Part(DiagnosticPart::Code))
}

/// The hash of a message without its place and without the parts it quotes.
pub(in crate::readers) fn message_hash(line: &str, words: &mut Vec<u32>) -> u64 {
    let text = line.trim_start();
    let mut rest = text.get(diagnostic::place_length(text).unwrap_or(0)..).unwrap_or(text);
    let mut hash = 0u64;
    while let Some(open) = rest.find(['\'', '"', '`', '‘', '“']) {
        let quote = rest.get(open..).and_then(|rest| rest.chars().next()).unwrap_or('\'');
        let close = match quote {
            '‘' => '’',
            '“' => '”',
            quote => quote,
        };
        hash = hash.rotate_left(5) ^ template::masked_hash(rest.get(..open).unwrap_or(""), words);
        let inner = rest.get(open + quote.len_utf8()..).unwrap_or("");
        let end = inner.find(close).map_or(inner.len(), |end| end + close.len_utf8());
        rest = inner.get(end..).unwrap_or("");
    }
    hash.rotate_left(5) ^ template::masked_hash(rest, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::build;

    #[test]
    fn source_below_a_message_that_came_often_is_left_out() {
        let text: String = (1..=9)
            .map(|nth| {
                format!("src/a.c:{nth}:5: warning: unused variable 'v{nth}' [-Wunused]\n   {nth} |     int v{nth} = 0;\n     |         ^~\n")
            })
            .collect();
        let lines = TextLines::of(&text);
        let spans = build::spans(&lines);
        let rank = |part: &str| {
            let at = text.find(part).unwrap();
            spans.iter().find(|span| span.range().contains(&at)).unwrap().rank
        };
        assert_eq!(rank("int v2"), Rank::Context);
        assert_eq!(rank("int v8"), Rank::Filler);
        for nth in 1..=9 {
            assert_eq!(rank(&format!("src/a.c:{nth}:5")), Rank::Must);
        }
    }

    #[test]
    fn messages_are_the_same_whatever_they_quote() {
        let mut words = Vec::new();
        let one = message_hash("a.c:1:2: warning: unused 'x' [-Wu]", &mut words);
        assert_eq!(one, message_hash("src/b.c:77:2: warning: unused 'long_name' [-Wu]", &mut words));
        assert_ne!(one, message_hash("a.c:1:2: warning: shadowed 'x' [-Ws]", &mut words));
        message_hash("a.c:1: 'open", &mut words);
        message_hash("‘", &mut words);
    }
}
