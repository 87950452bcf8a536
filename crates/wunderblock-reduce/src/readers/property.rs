//! Properties of every reader, and functions to check them.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::result::segment;
use crate::spans::select::{self, KeepLimit};
use crate::spans::span::LineSpan;
use crate::text::lines::TextLines;

/// Returns a text folded at the level `fold`.
pub(crate) fn fold(text: &str, spans: fn(&TextLines<'_>) -> Vec<LineSpan>) -> String {
    shown(text, spans, KeepLimit::Fold)
}

/// Returns a text reduced to at most a given number of bytes.
pub(crate) fn within(text: &str, spans: fn(&TextLines<'_>) -> Vec<LineSpan>, bytes: usize) -> String {
    shown(text, spans, KeepLimit::Bytes(bytes))
}

fn shown(text: &str, spans: fn(&TextLines<'_>) -> Vec<LineSpan>, room: KeepLimit) -> String {
    let lines = TextLines::of(text);
    let spans = spans(&lines);
    let mut at = 0;
    for span in &spans {
        assert_eq!(span.range().start, at, "spans tile {text:?}: {spans:?}");
        assert!(span.range().end > at, "no span is empty in {text:?}: {spans:?}");
        assert!(text.is_char_boundary(span.range().end), "{text:?}");
        at = span.range().end;
    }
    assert_eq!(at, text.len(), "spans reach the end of {text:?}: {spans:?}");
    let segments = select::select(&lines, &spans, room);
    assert!(segment::tiles_source(&segments, text.len()));
    segment::write_segments(&segments, text, Some("wb:0123456789abcdef"))
}

/// Checks that spans tile any text: random texts, and each sample with a part broken. A folded text may be longer
/// than its source only by the cost of the marks.
pub(crate) fn tiles(samples: &[&str], spans: fn(&TextLines<'_>) -> Vec<LineSpan>) {
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) });
    let random = "(\\PC{0,12}|[-+@ |:,\t\"]{0,9}|\r?\n){0,24}";
    let broken =
        (0..samples.len(), any::<(u16, u16, u16)>(), random).prop_map(|(nth, (from, to, put), noise)| {
            let sample: Vec<char> = samples[nth].chars().collect();
            let at = |n: u16| usize::from(n) % (sample.len() + 1);
            let (from, to) = (at(from).min(at(to)), at(from).max(at(to)));
            let cut = if put % 3 == 0 { to } else { from };
            sample[..from]
                .iter()
                .chain(noise.collect_noise(put).iter())
                .chain(&sample[cut..])
                .collect::<String>()
        });
    let result = runner.run(&prop_oneof![random.prop_map(String::from), broken], |text| {
        let folded = fold(&text, spans);
        let escapes = text.matches('⟨').count() * "⟨".len();
        prop_assert!(folded.len() <= text.len() + escapes + text.len() / 4 + 8);
        within(&text, spans, text.len() / 4);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

trait Noise {
    fn collect_noise(&self, put: u16) -> Vec<char>;
}

impl Noise for String {
    fn collect_noise(&self, put: u16) -> Vec<char> {
        if put.is_multiple_of(2) { self.chars().collect() } else { Vec::new() }
    }
}
