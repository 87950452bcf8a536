//! The stages of a reduction in order, from bytes to a shorter text.

use std::borrow::Cow;

use crate::command::Claim;
use crate::encode::SourceLines;
use crate::input::frame;
use crate::input::source::{self, SourceText};
use crate::kind::Kind;
use crate::options::{Level, Options};
use crate::reading::TextReading;
use crate::result::mark::{self, Gap, GapUnit};
use crate::result::segment::{self, TextSegment};
use crate::spans::query::QueryTerms;
use crate::target::SizeTarget;
use crate::text::lines::{self, MAX_TEXT_BYTES};
use crate::{detect, encode, rules};

/// Minimum size, in bytes, of a text that is reduced. For a shorter text, a mark and a second look cost more than
/// they can save.
pub(crate) const MIN_BYTES: usize = 512;
/// Size in bytes below which the output of a failed command stays as it is (Headroom's limit for errors: 8,000
/// characters).
const SHORT_FAILURE_BYTES: usize = 8_000;
/// Minimum share of the tokens that a reduction must save, in per cent. If a reduction saves less than this, the text
/// stays as it is.
const MIN_GAIN_PERCENT: u64 = 5;
/// Factor by which folding must shorten a text for the result to be used without trying an exact encoding.
const TINY_RATIO: u64 = 8;
/// Share of a budget, in per cent, at which it counts as full.
const FULL_PERCENT: u64 = 96;
/// Share of a budget, in per cent, below which twice as many steps are taken to fill it.
const ENOUGH_PERCENT: u64 = 90;
/// Maximum number of steps towards a budget. The number of tokens can only be estimated from the number of bytes, and
/// each step improves the estimate.
const MAX_STEPS: usize = 4;

/// A reduced text and its costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Text to show.
    pub text: String,
    /// Kind according to which the text was reduced. A text of less than 512 bytes is treated as prose if the caller
    /// did not give its kind.
    pub kind: Kind,
    /// Level that was applied: a selection is reduced losslessly even if `fold` was requested.
    pub level: Level,
    /// Number of tokens of the source.
    pub tokens_before: u64,
    /// Number of tokens of `text`.
    pub tokens_after: u64,
    /// Whether `text` alone is enough to restore the source ([`crate::invert`]).
    pub lossless: bool,
    /// Gaps, in the order of the source.
    pub gaps: Vec<Gap>,
    /// Reason why the text is unchanged, or `None` if it was changed.
    pub untouched: Option<Untouched>,
}

/// Reason why a text is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untouched {
    /// The text is too small.
    Small,
    /// The text is the short output of a failed command.
    Failure,
    /// The text is a reduction that has already been shown.
    Reduced,
    /// The text is a file that was read, or a diff. A file or a diff may be edited or applied next.
    File,
    /// The text is code, Markdown or a diff, whatever command printed it.
    Source,
    /// The text exceeds the maximum size of 2 GiB.
    Large,
    /// No reduction makes the text shorter by enough.
    NoGain,
}

impl Untouched {
    /// Returns the name that reports use for the reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Failure => "a short failure",
            Self::Reduced => "reduced before",
            Self::File => "a file that was read",
            Self::Source => "source",
            Self::Large => "larger than 2 GiB",
            Self::NoGain => "no gain",
        }
    }
}

/// Shortens a text.
///
/// A reduction cannot fail: there is a result for any bytes, which in the worst case is the text itself. Time and
/// memory are linear in the size of the input.
#[must_use]
pub fn reduce(bytes: &[u8], options: &Options<'_>) -> Reduced {
    if options.shown == 0
        && let Some(reduced) = reduce_framed(bytes, options)
    {
        return reduced;
    }
    let (seen, bytes) = bytes.split_at_checked(options.shown).unwrap_or((&[], bytes));
    let before = SeenPart { bytes: seen.len(), lines: memchr::memchr_iter(b'\n', seen).count() };
    reduce_after(before, bytes, options)
}

/// The part of a source that the reader has already seen. The part that was seen precedes the part that is reduced.
#[derive(Clone, Copy)]
struct SeenPart {
    bytes: usize,
    lines: usize,
}

/// Reduces the output of a command that an agent has put into a frame, and shows the frame as it is. Returns `None` if
/// the text has no frame.
fn reduce_framed(bytes: &[u8], options: &Options<'_>) -> Option<Reduced> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let output =
        frame::output(whole).filter(|output| output.len() >= MIN_BYTES && !(options.known)(whole))?;
    let (head, tail) = (whole.get(..output.start)?, whole.get(output.end..)?);
    let level = match options.level {
        Level::Budget(tokens) => {
            Level::Budget(tokens.saturating_sub((options.count)(head) + (options.count)(tail)))
        }
        level => level,
    };
    let seen = SeenPart { bytes: head.len(), lines: memchr::memchr_iter(b'\n', head.as_bytes()).count() };
    let reduced = reduce_after(seen, bytes.get(output)?, &Options { level, ..*options });
    let tokens = (options.count)(whole);
    if let Some(why) = reduced.untouched {
        let original = Original { source: source::decode(bytes), tokens };
        return Some(original.untouched(Some(reduced.kind), reduced.level, why, options));
    }
    let mut text = String::with_capacity(head.len() + reduced.text.len() + tail.len());
    mark::escape(head, &mut text);
    text.push_str(&reduced.text);
    if !reduced.lossless && !tail.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    mark::escape(tail, &mut text);
    if reduced.lossless && !encode::decodes_to_source(&text, whole) {
        return None;
    }
    let level = if let Level::Budget(_) = reduced.level { options.level } else { reduced.level };
    Some(Reduced { tokens_before: tokens, tokens_after: (options.count)(&text), text, level, ..reduced })
}

fn reduce_after(seen: SeenPart, bytes: &[u8], options: &Options<'_>) -> Reduced {
    let source = source::decode(bytes).after(seen.bytes);
    let claim = options.command.map_or(Claim::Unknown, Claim::of);
    let level = match (&claim, options.level) {
        // A fold would leave out lines that the caller selected.
        (Claim::Selection, Level::Fold) => Level::Lossless,
        (_, level) => level,
    };
    let known = (options.known)(&source.text);
    // A reduction may have more noise per line than its source, so a text that is known to be a reduction is not
    // checked for binary data.
    if !known
        && bytes.len() >= MIN_BYTES
        && let Some(noise) = source::detect_binary(bytes)
    {
        return replace_binary(source::shifted(noise, seen.bytes), level, options);
    }
    let before = (options.count)(&source.text);
    let fits = match level {
        Level::Budget(tokens) => before <= tokens,
        Level::Lossless | Level::Fold => true,
    };
    let is_budget = matches!(level, Level::Budget(_));
    let stays = match claim {
        _ if known && fits => Some(Untouched::Reduced),
        Claim::File if fits => Some(Untouched::File),
        _ if options.failed && bytes.len() < SHORT_FAILURE_BYTES => Some(Untouched::Failure),
        _ if bytes.len() < MIN_BYTES || is_budget && fits => Some(Untouched::Small),
        _ => None,
    };
    if let Some(why) = stays {
        return Original { source, tokens: before }.untouched(None, level, why, options);
    }
    if source.text.len() > MAX_TEXT_BYTES {
        return Original { source, tokens: before }.too_large(seen, bytes, level, options);
    }
    let kind = options.kind.or_else(|| claim.report().and_then(rules::kind_of));
    let kind = kind.unwrap_or_else(|| detect::detect_kind(&source.text));
    if is_source(kind) && !is_budget {
        return Original { source, tokens: before }.untouched(Some(kind), level, Untouched::Source, options);
    }
    let query = QueryTerms::of(options.query);
    let plain = source::decode(bytes).after(seen.bytes).visible();
    let (lines, earlier) = (seen.lines, options.earlier);
    let mut reading = TextReading::of(&plain.text, kind, &claim, &query, earlier).after(lines);
    let tried = match level {
        Level::Lossless => None,
        Level::Fold => reduce_to(&plain, &mut reading, SizeTarget::Fold, options),
        Level::Budget(tokens) => fit_budget(&plain, &mut reading, tokens, before, options),
    };
    let enough = before - before * MIN_GAIN_PERCENT / 100;
    // If folding leaves hardly any text, no exact encoding can be as short, so none is tried.
    let is_tiny = |short: &ShortText| level == Level::Fold && short.tokens * TINY_RATIO <= before;
    // A result that would not be used is dropped here, to free its memory.
    let tried = tried.filter(|short| short.tokens <= enough);
    let exact = match &tried {
        Some(tried) if is_tiny(tried) => None,
        _ if !source.losses.is_empty() => None,
        _ if plain.losses.is_empty() => reduce_to(&source, &mut reading, SizeTarget::Exact, options),
        _ => {
            // An exact text keeps terminal controls, so the text is read again with them.
            drop(reading);
            drop(plain);
            let mut reading = TextReading::of(&source.text, kind, &claim, &query, earlier).after(lines);
            reduce_to(&source, &mut reading, SizeTarget::Exact, options)
        }
    };
    match choose_result(exact, tried, level, || one_gap(seen, bytes, &source.text, options)) {
        Some(short) if short.tokens <= enough => short.reduced(kind, level, before),
        _ => Original { source, tokens: before }.untouched(Some(kind), level, Untouched::NoGain, options),
    }
}

/// Chooses between an exact and a lossy result. The exact result is chosen if it is as short as the lossy one, or if
/// it fits a budget. If neither result fits a budget, the shortest of three is chosen: the two results, and one mark
/// over the whole text.
fn choose_result(
    exact: Option<ShortText>,
    tried: Option<ShortText>,
    level: Level,
    one_gap: impl FnOnce() -> ShortText,
) -> Option<ShortText> {
    let fits = |short: &ShortText| match level {
        Level::Budget(tokens) => short.tokens <= tokens,
        Level::Lossless | Level::Fold => true,
    };
    let best = match (exact, tried) {
        (Some(exact), Some(tried))
            if tried.tokens < exact.tokens && (level == Level::Fold || !fits(&exact)) =>
        {
            Some(tried)
        }
        (Some(exact), _) => Some(exact),
        (None, tried) => tried,
    };
    match best {
        Some(short) if fits(&short) => Some(short),
        over if matches!(level, Level::Budget(_)) => {
            over.into_iter().chain([one_gap()]).min_by_key(|short| short.tokens)
        }
        best => best,
    }
}

/// Returns whether texts of a given kind are edited or applied. The bytes of texts that are edited or applied stay as
/// they are, unless a budget limits them.
const fn is_source(kind: Kind) -> bool {
    matches!(kind, Kind::Code | Kind::Markdown | Kind::Diff)
}

/// A text to be reduced, and its number of tokens.
struct Original<'b> {
    source: SourceText<'b>,
    tokens: u64,
}

impl Original<'_> {
    /// Returns the text as it is. Bytes that are not text are still left out and marked. Anything that looks like a
    /// mark is escaped, except in a file that was read, where a note precedes it.
    fn untouched(self, kind: Option<Kind>, level: Level, why: Untouched, options: &Options<'_>) -> Reduced {
        let Self { source, tokens } = self;
        let mut text = source.head_marks(options.handle);
        match why {
            Untouched::Reduced => text.push_str(&source.text),
            Untouched::File => {
                text.push_str(if mark::looks_marked(&source.text) { mark::FILE_NOTE } else { "" });
                text.push_str(&source.text);
            }
            _ => mark::escape(&source.text, &mut text),
        }
        let found = || match why {
            // Detection would compile the patterns of several kinds, which takes 1 ms, although nothing depends on
            // the kind.
            _ if source.text.len() < MIN_BYTES => Kind::Prose,
            Untouched::File => detect::detect_file_kind(&source.text),
            _ => detect::detect_kind(&source.text),
        };
        Reduced {
            kind: kind.or(options.kind).unwrap_or_else(found),
            lossless: source.losses.is_empty(),
            tokens_before: tokens,
            tokens_after: if text.len() == source.text.len() { tokens } else { (options.count)(&text) },
            text,
            level,
            gaps: source.losses,
            untouched: Some(why),
        }
    }

    /// Returns a text that is too large to be read: unchanged, or replaced by one mark if it exceeds a budget.
    fn too_large(self, seen: SeenPart, bytes: &[u8], level: Level, options: &Options<'_>) -> Reduced {
        let kind = options.kind.unwrap_or(Kind::Prose);
        match level {
            Level::Budget(_) => {
                one_gap(seen, bytes, &self.source.text, options).reduced(kind, level, self.tokens)
            }
            Level::Lossless | Level::Fold => self.untouched(Some(kind), level, Untouched::Large, options),
        }
    }
}

/// Replaces binary data by one mark, because no level shows any of it. The tokens of binary data are estimated at one
/// per four bytes instead of being counted.
fn replace_binary(noise: Gap, level: Level, options: &Options<'_>) -> Reduced {
    let text = noise.mark(options.handle) + "\n";
    Reduced {
        kind: Kind::Blob,
        level,
        tokens_before: noise.count() / 4,
        tokens_after: (options.count)(&text),
        text,
        lossless: false,
        gaps: vec![noise],
        untouched: None,
    }
}

/// A shorter text, its tokens and its gaps.
struct ShortText {
    text: String,
    tokens: u64,
    gaps: Vec<Gap>,
}

impl ShortText {
    fn reduced(self, kind: Kind, level: Level, tokens_before: u64) -> Reduced {
        Reduced {
            text: self.text,
            kind,
            level,
            tokens_before,
            tokens_after: self.tokens,
            lossless: self.gaps.is_empty(),
            gaps: self.gaps,
            untouched: None,
        }
    }
}

/// Reduces a text to one target. Returns `None` if a check fails, or if no result is shorter than the text, which the
/// caller already has.
fn reduce_to(
    source: &SourceText<'_>,
    reading: &mut TextReading<'_>,
    target: SizeTarget,
    options: &Options<'_>,
) -> Option<ShortText> {
    let segments = reading.segments(target);
    compose(source, segments, reading, target, options)
}

/// Returns one mark in place of the whole text, including the parts that would be set aside from it.
fn one_gap(seen: SeenPart, bytes: &[u8], text: &str, options: &Options<'_>) -> ShortText {
    let first = seen.lines as u64 + 1;
    let last = (seen.lines + lines::count_lines(text)) as u64;
    let span = seen.bytes..seen.bytes + bytes.len();
    let gap = Gap { span, measure: GapUnit::Lines, first, last, within: None, told: Vec::new() };
    let text = gap.mark(options.handle) + if text.ends_with('\n') { "\n" } else { "" };
    ShortText { tokens: (options.count)(&text), text, gaps: vec![gap] }
}

/// Writes, marks, encodes and checks the segments of a text.
fn compose(
    source: &SourceText<'_>,
    segments: Vec<TextSegment>,
    reading: &TextReading<'_>,
    target: SizeTarget,
    options: &Options<'_>,
) -> Option<ShortText> {
    let text: &str = &source.text;
    if !segment::tiles_source(&segments, text.len()) {
        return None;
    }
    if target == SizeTarget::Exact
        && segments.iter().any(|segment| matches!(segment, TextSegment::Gap { .. }))
    {
        return None;
    }
    let written = match segments.as_slice() {
        // A text that stays as it is needs no second copy.
        [TextSegment::Keep(_)] if !text.contains(mark::OPEN) => Cow::Borrowed(text),
        _ if source.is_in_place() => segment::write_segments(&segments, text, options.handle).into(),
        _ => {
            let locate = |gap: &Gap| source.locate(gap.clone());
            segment::write_located(&segments, text, options.handle, &locate).into()
        }
    };
    let gaps = segments.into_iter().filter_map(|segment| match segment {
        TextSegment::Gap { gap, .. } => Some(source.locate(gap)),
        TextSegment::Keep(_) | TextSegment::Coded { .. } | TextSegment::Note(_) => None,
    });
    let mut gaps: Vec<Gap> = if source.losses.is_empty() {
        // Collecting reuses the memory of the segments, which may be as numerous as the lines.
        gaps.collect()
    } else {
        source.losses.iter().cloned().chain(gaps).collect()
    };
    gaps.shrink_to_fit();
    let exact = target == SizeTarget::Exact;
    // The encoding is compared with `written` later, so `written` is compared with the source here.
    if exact && !encode::decodes_to_source(&written, text) {
        return None;
    }
    let is_file = options.command.is_some_and(|command| Claim::of(command) == Claim::File);
    let shortest = options.level == Level::Lossless;
    let lines = SourceLines { handle: options.handle, before: reading.before(), shortest };
    let lines = Some(lines).filter(|_| exact && !is_file);
    let mut short = match (encode::encode(&written, reading.kind(), lines), written) {
        (Some(packed), _) => packed,
        // No encoding is shorter, and nothing was set aside. A search for a budget still needs the number of tokens
        // for its next step.
        (None, Cow::Borrowed(_)) if source.losses.is_empty() && !matches!(target, SizeTarget::Bytes(_)) => {
            return None;
        }
        (None, written) => written.into_owned(),
    };
    if !source.losses.is_empty() {
        short.insert_str(0, &source.head_marks(options.handle));
    }
    let tokens = (options.count)(&short);
    Some(ShortText { text: short, tokens, gaps })
}

/// Returns the fullest text found within a budget. Returns the shortest text if none fits, because a mark may cost
/// more than the budget. After each step, the size in bytes is adjusted by the measured tokens per byte.
fn fit_budget(
    source: &SourceText<'_>,
    reading: &mut TextReading<'_>,
    budget: u64,
    before: u64,
    options: &Options<'_>,
) -> Option<ShortText> {
    let scale = |tokens: u64, bytes: usize, of: u64| {
        usize::try_from(u128::from(tokens) * bytes as u128 / u128::from(of.max(1))).unwrap_or(usize::MAX)
    };
    let mut room = scale(budget, source.text.len(), before);
    let (mut best, mut shortest): (Option<(usize, ShortText)>, Option<ShortText>) = (None, None);
    let mut too_much = usize::MAX;
    let mut last: Option<BudgetStep> = None;
    for step in 0..2 * MAX_STEPS {
        let fill = best.as_ref().map_or(0, |(_, best)| best.tokens * 100 / budget.max(1));
        if step >= MAX_STEPS && fill >= ENOUGH_PERCENT {
            break;
        }
        let Some(short) = reduce_to(source, reading, SizeTarget::Bytes(room), options) else { break };
        let (tokens, length) = (short.tokens, short.text.len());
        // Marks have more tokens per byte than text, so two measured points predict better than one.
        let measured = BudgetStep { room, tokens };
        let line = last.and_then(|last| last.interpolate(measured, budget));
        last = Some(measured);
        if tokens <= budget {
            let full = tokens * 100 >= budget * FULL_PERCENT;
            if best.as_ref().is_none_or(|(_, best)| best.tokens < tokens) {
                best = Some((room, short));
                shortest = None;
            }
            if full {
                break;
            }
        } else {
            too_much = too_much.min(room);
            if best.is_none() && shortest.as_ref().is_none_or(|shortest| tokens < shortest.tokens) {
                shortest = Some(short);
            }
        }
        let next = match &best {
            // If the line does not lead to a better fit, bisect.
            Some((fits, _)) if step + 1 >= MAX_STEPS && too_much < usize::MAX => {
                usize::midpoint(*fits, too_much)
            }
            _ => line.unwrap_or(scale(budget, room.min(length), tokens)),
        };
        // Stay below any size that was too large, and by a larger margin after more steps.
        let ceiling = match best {
            Some(_) => too_much.saturating_sub(too_much / 100 + 1),
            None => too_much.saturating_sub(too_much / if step + 1 < MAX_STEPS { 50 } else { 8 } + 1),
        };
        if next.min(ceiling) == room {
            break;
        }
        room = next.min(ceiling);
    }
    best.map(|(_, best)| best).or(shortest)
}

/// A step towards a budget: the room that was given, in bytes, and the resulting number of tokens.
#[derive(Clone, Copy)]
struct BudgetStep {
    room: usize,
    tokens: u64,
}

impl BudgetStep {
    /// Returns the room at which the line through two steps meets the budget.
    fn interpolate(self, next: Self, budget: u64) -> Option<usize> {
        let rise = i128::from(next.tokens) - i128::from(self.tokens);
        let run = next.room as i128 - self.room as i128;
        if rise == 0 || (rise > 0) != (run > 0) {
            return None;
        }
        usize::try_from(next.room as i128 + (i128::from(budget) - i128::from(next.tokens)) * run / rise).ok()
    }
}
