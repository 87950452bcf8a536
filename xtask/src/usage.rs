//! Compares our token counts with the usage that providers reported in transcripts.
//!
//! For each session and model, the report compares the measured growth over the second half of the replies with the
//! estimated growth, and with the growth estimated using a correction learned from the first half. The report also
//! compares the predicted size of each request with the measured one; the prediction adds our estimate of later
//! content to the previous reply (its anchor).

use crate::program::ChoreResult;
use std::fmt::Write as _;
use wunderblock::catalog::Catalog;
use wunderblock::tokens::{Counted, Counter};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Message, MessageOrigin, Role};
use wunderblock_core::ports::{CostModel, Framing};
use wunderblock_core::units::{Bytes, Cost, Seq, Tokens};
use wunderblock_core::usage::{Calibration, Measured, UsageMark, Weight, anchor, calibrate};
use wunderblock_wire::transcript::{RecordItem, RecordPlace, TranscriptReader, detect};

/// Counts texts that are all inline, and corrects the counts.
struct CorrectedCounter(Counter, Option<Calibration>);

impl CorrectedCounter {
    fn correct(&self, estimate: Tokens) -> Tokens {
        self.1.map_or(estimate, |calibration| calibration.of(estimate))
    }
}

impl CostModel for CorrectedCounter {
    fn text(&self, text: &str) -> Cost {
        let counted = Counted::of(text);
        let tokens = self.correct(self.0.scale(counted, self.0.count_cl100k(text)));
        Cost { tokens: tokens.max(Tokens(u64::from(counted.o200k))), bytes: Bytes::ZERO }
    }
    fn json(&self, text: &str) -> Cost {
        let cost = self.text(text);
        Cost { tokens: cost.tokens + Tokens(text.matches('"').count() as u64 / 2), ..cost }
    }
    // Blobs add nothing to the counts, because a reader of transcripts keeps all bodies inline.
    fn blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
    fn json_blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
    fn framing(&self) -> Framing {
        let framing = self.0.framing();
        Framing { message: self.correct(framing.message), call: self.correct(framing.call) }
    }
}

/// An entry of a transcript's main session that affects usage.
enum UsageEntry {
    Said(Box<Message>),
    Measured { model: String, api_id: Option<Box<str>>, input: Tokens, output: Tokens },
    Reset,
}

/// Returns a Markdown table over the sessions with enough replies.
pub(crate) fn table(files: &[String]) -> ChoreResult<String> {
    let mut out = String::from(
        "| session | model | replies | growth measured | ours | corrected | foretold: median | p90 | worst | off by over 5 % |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut passed_over = 0;
    for file in files {
        let told = read(file)?;
        let mut models: Vec<&str> = told.iter().filter_map(model_of).collect();
        models.sort_unstable();
        models.dedup();
        let rows: Vec<String> = models.into_iter().filter_map(|model| row(file, &told, model)).collect();
        passed_over += usize::from(rows.is_empty());
        out.extend(rows);
    }
    let _ = write!(out, "\n{passed_over} of {} files report too little usage to learn from.", files.len());
    Ok(out)
}

fn model_of(told: &UsageEntry) -> Option<&str> {
    match told {
        UsageEntry::Measured { model, .. } => Some(model),
        _ => None,
    }
}

fn read(file: &str) -> ChoreResult<Vec<UsageEntry>> {
    let bytes = std::fs::read(file)?;
    let Ok(format) = detect(file, bytes.get(..1 << 16).unwrap_or(&bytes)) else { return Ok(Vec::new()) };
    let mut reader = TranscriptReader::new(format, file);
    let (mut told, mut offset, mut last, mut speaker) = (Vec::new(), 0, None, String::new());
    for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let records = reader.line(offset, line, bytes);
        offset += bytes.len() as u64 + 1;
        for record in records.into_iter().filter(|record| record.session.is_none()) {
            let follows = match &record.place {
                RecordPlace::Next => true,
                RecordPlace::After(id) => last.as_ref() == Some(id),
                RecordPlace::Root | RecordPlace::RolledBack { .. } => false,
            };
            // The conversation branched at this point, so earlier measurements belong to another branch.
            told.extend((!follows && last.is_some()).then_some(UsageEntry::Reset));
            last = record.id.or(last);
            for item in record.items {
                match item {
                    RecordItem::Message(message) => {
                        speaker = message.model.as_deref().map_or(speaker, str::to_owned);
                        told.push(UsageEntry::Said(Box::new(message)));
                    }
                    RecordItem::Usage(usage) => told.push(UsageEntry::Measured {
                        model: usage.model.as_deref().map_or_else(|| speaker.clone(), str::to_owned),
                        api_id: usage.api_id,
                        input: usage.input + usage.cache_read + usage.cache_write,
                        output: usage.output,
                    }),
                    RecordItem::Compacted { .. } => told.push(UsageEntry::Reset),
                    RecordItem::Opened(_)
                    | RecordItem::Turn(_)
                    | RecordItem::Spawned(_)
                    | RecordItem::Returned(_)
                    | RecordItem::About { .. }
                    | RecordItem::Fact(_) => {}
                }
            }
        }
    }
    Ok(told)
}

fn marks<'a>(told: &'a [UsageEntry], costs: &CorrectedCounter) -> Vec<UsageMark<'a>> {
    let mark = |(seq, told): (u64, &'a UsageEntry)| match told {
        UsageEntry::Said(said) if said.role == Role::Assistant => Some(UsageMark::Reply {
            api_id: said.api_id.as_deref(),
            weight: Weight::of(said, costs),
            failed: matches!(said.standing, MessageOrigin::Failed(_)),
        }),
        UsageEntry::Said(said) => {
            said.standing.is_sendable().then(|| UsageMark::Other(Weight::of(said, costs)))
        }
        UsageEntry::Measured { model, api_id, input, output } => Some(UsageMark::Measured(Measured {
            seq: Seq(seq),
            model,
            api_id: api_id.as_deref(),
            input: *input,
            output: *output,
            live: false,
            // The forecast is for the next request of the client that sent this one.
            sent: true,
        })),
        UsageEntry::Reset => Some(UsageMark::Reset),
    };
    (1..).zip(told).filter_map(mark).collect()
}

/// Input of a reply in tokens: measured, predicted, and its growth since the previous reply as measured and
/// estimated.
struct InputForecast {
    input: u64,
    foretold: u64,
    grown: u64,
    estimated: u64,
}

/// Compares each reply except the first with the prediction made just before it. A request whose input shrank without
/// notice is predicted like any other, and counts as not grown.
fn steps(marks: &[UsageMark<'_>], model: &str) -> Vec<InputForecast> {
    let mut steps = Vec::new();
    let (mut before, mut since, mut reply) = (None::<Measured<'_>>, Tokens::ZERO, Tokens::ZERO);
    for (at, mark) in marks.iter().enumerate() {
        match mark {
            UsageMark::Reply { weight, .. } => reply += weight.total(),
            UsageMark::Other(weight) => {
                since += reply + weight.total();
                reply = Tokens::ZERO;
            }
            UsageMark::Measured(measured) if measured.model == model && measured.input > Tokens::ZERO => {
                // Records of one reply repeat its usage; count it once.
                if measured.api_id.is_some() && before.is_some_and(|last| last.api_id == measured.api_id) {
                    continue;
                }
                let said = marks.get(..at).unwrap_or_default();
                if matches!(said.last(), Some(UsageMark::Reply { failed: true, .. })) {
                    continue;
                }
                let words =
                    said.iter().rev().take_while(|mark| matches!(mark, UsageMark::Reply { .. })).count();
                let known = said.get(..at - words).unwrap_or_default();
                if let (Some(last), Some(anchor)) = (before, anchor(known.iter().copied(), model)) {
                    steps.push(InputForecast {
                        input: measured.input.0,
                        foretold: anchor.total().0,
                        grown: measured.input.saturating_sub(last.input).0,
                        estimated: since.0,
                    });
                }
                (before, since, reply) = (Some(*measured), reply, Tokens::ZERO);
            }
            UsageMark::Reset => (before, since, reply) = (None, Tokens::ZERO, Tokens::ZERO),
            _ => {}
        }
    }
    steps
}

fn row(file: &str, told: &[UsageEntry], model: &str) -> Option<String> {
    let counter = Catalog::embedded().lookup(model).row.counter();
    let plain = CorrectedCounter(counter, None);
    let all = marks(told, &plain);
    let replies = told.iter().enumerate().filter(|(_, told)| model_of(told) == Some(model));
    let replies: Vec<usize> = replies.map(|(at, _)| at).collect();
    let middle = replies.get(replies.len() / 2).copied()?;
    let learned = calibrate(marks(told.get(..middle)?, &plain), model)?;
    let second = told.get(middle..)?;
    let growth = |costs: &CorrectedCounter| {
        let steps = steps(&marks(second, costs), model);
        let grown = steps.into_iter().filter(|step| step.grown > 0);
        grown.fold((0, 0), |sum, step| (sum.0 + step.grown, sum.1 + step.estimated))
    };
    let (measured, ours) = growth(&plain);
    let (_, corrected) = growth(&CorrectedCounter(counter, Some(learned)));
    let mut errors: Vec<f64> = steps(&all, model).iter().map(error).collect();
    errors.sort_by(f64::total_cmp);
    let rank =
        |part: usize| errors.get(errors.len() * part / 100).or(errors.last()).copied().unwrap_or_default();
    let over = errors.iter().filter(|error| **error > 5.0).count();
    let of = |estimate: u64| format!("{:.2}", estimate as f64 / measured.max(1) as f64);
    let name = std::path::Path::new(file).file_name()?.to_string_lossy().into_owned();
    Some(format!(
        "| {name} | {model} | {} | {measured} | {} | {} (× {:.3}) | {:.2} % | {:.2} % | {:.2} % | {over} of {} |\n",
        replies.len(),
        of(ours),
        of(corrected),
        f64::from(learned.per_mille) / 1_000.0,
        rank(50),
        rank(90),
        rank(100),
        errors.len(),
    ))
}

/// Error of a prediction, in percent of the measured input.
fn error(step: &InputForecast) -> f64 {
    step.foretold.abs_diff(step.input) as f64 * 100.0 / step.input.max(1) as f64
}
