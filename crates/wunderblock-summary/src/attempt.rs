//! Writes a usable summary of a range, whatever the summariser does.
//!
//! ```text
//! a summariser ─┬─ too large ──► half of it, up to three times ─┐
//!               ├─ faults ─────► once more, with a correction ──┼─► taken
//!               ├─ no smaller ─► once more, aiming lower ───────┘
//!               └─ anything else, or again ─► extract, the floor ─► cut, if even that is too long
//! ```

use super::prompt::{self, Put};
use crate::call::CallFailure;
use crate::extract::{DATE, Extract, ReadMaterial};
use crate::task::{Brief, Summarise, SummaryTask, SummaryText};
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::{Manner, Rejection, SummaryCheck, SummarySpend};
use wunderblock_core::policy::{Optional, Permille, SummaryFormat, Template};
use wunderblock_core::ports::CostModel;
use wunderblock_core::stub::head;
use wunderblock_core::units::Tokens;
use wunderblock_redact::Redactor;

/// Producer recorded for summaries that are written without a model.
pub const EXTRACTIVE: &str = "extractive";
/// Maximum number of times that a prompt is halved because a summariser rejected it as too large.
const HALVINGS: u32 = 3;
/// Window assumed for a summariser that reports none: the catalog's value for unknown models.
const WINDOW: Tokens = Tokens(128_000);
/// Approximate maximum number of bytes in a token: prose has the longest tokens, and code and Chinese have shorter
/// ones.
const TOKEN_BYTES: usize = 6;
/// Mark appended to a text that was cut.
const CUT: &str = "\n⟨cut⟩";

/// Findings on a text that a summariser wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Figures of the check.
    pub check: SummaryCheck,
    /// Reasons to reject the text, each worded so that it helps to write a better one; empty if the text is accepted.
    pub faults: Vec<String>,
    /// The text, with marks on lines that its range does not support.
    pub text: String,
}

/// The deterministic half of summarising: it writes without a model, and checks what models write.
#[derive(Clone, Copy)]
pub struct Floor<'a> {
    /// Writes a summary from the range alone.
    pub extract: &'a dyn Fn(&ReadMaterial<'_>, &Brief<'_>, &dyn CostModel) -> Extract,
    /// Checks a summary against its range.
    pub verify: &'a dyn Fn(&str, &ReadMaterial<'_>, &Brief<'_>, &dyn CostModel) -> Judgement,
}

/// Settings of an attempt.
#[derive(Clone, Copy)]
pub struct AttemptOptions<'a> {
    /// Functions that write and check without a model.
    pub floor: Floor<'a>,
    /// Number of tokens in the content that the summary replaces; the summary must have fewer.
    pub before: Tokens,
    /// Maximum target given to a summariser, in tokens. The maximum applies if the brief's target is larger.
    pub by_model: Tokens,
    /// Maximum length of a summariser's text, as a multiple of its target.
    pub overage: Permille,
    /// Target of the second try, as a fraction of the first target.
    pub second: Permille,
    /// Maximum number of tokens in one prompt; as many as the summariser's window holds if unset.
    pub input: Optional<Tokens>,
    /// Factor by which the real number of input tokens may exceed our count.
    pub margin: Permille,
    /// Removes secrets before anything is sent or recorded.
    pub redactor: &'a Redactor,
    /// Receives the number of bytes that have arrived; returns whether to continue.
    pub progress: &'a dyn Fn(usize) -> bool,
}

/// A summary, with the record of how it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryDraft {
    /// Text of the summary.
    pub text: String,
    /// Items that the text consists of, as [`Extract`] has them; `None` if a model or program wrote the text, or if it
    /// was cut.
    pub items: Option<String>,
    /// Name of the model or program that wrote the summary, or [`EXTRACTIVE`].
    pub producer: Box<str>,
    /// First 16 hexadecimal digits of BLAKE3 over the prompt; `None` if no model or program wrote the text.
    pub prompt: Option<Box<str>>,
    /// Figures of the check.
    pub check: Option<SummaryCheck>,
    /// Texts and calls that were rejected before the summary was accepted, in order.
    pub rejected: Vec<Rejection>,
    /// Cost of all calls; `None` if nothing was called or no cost is known.
    pub spent: Option<SummarySpend>,
    /// How the text was obtained: normally, with a lower target, as a fallback, or cut.
    pub manner: Manner,
}

/// Writes a summary of at most `brief.most` tokens. Writing never fails, because the floor needs nothing but the
/// range.
#[must_use]
pub fn write(
    read: &ReadMaterial<'_>,
    brief: &Brief<'_>,
    costs: &dyn CostModel,
    summariser: Option<&dyn Summarise>,
    options: &AttemptOptions<'_>,
) -> SummaryDraft {
    let job = AttemptJob { read, brief, costs, options };
    // Statistics are counted and a catalogue lists positions: neither needs prose, so no summariser is called.
    let is_told = !matches!(brief.detail, Detail::Statistics | Detail::Catalogue);
    let asked = summariser.filter(|_| is_told);
    let Some(summariser) = asked else {
        return job.mechanical(Vec::new(), None, Manner::Normal);
    };
    let mut course = Course { name: summariser.name().into(), rejected: Vec::new(), spent: None };
    match job.ask(summariser, &mut course) {
        Some(Taken { text, prompt, check, manner }) => {
            let Course { name: producer, rejected, spent } = course;
            let (prompt, check) = (Some(prompt), Some(check));
            SummaryDraft { text, items: None, producer, prompt, check, rejected, spent, manner }
        }
        None => job.mechanical(course.rejected, course.spent, Manner::Fallback),
    }
}

/// Adds up the costs of several summaries. The sum carries the model name of the first summary.
pub fn sum_spent(spent: impl IntoIterator<Item = SummarySpend>) -> Option<SummarySpend> {
    spent.into_iter().reduce(|sum, more| SummarySpend {
        calls: sum.calls.saturating_add(more.calls),
        input: sum.input + more.input,
        output: sum.output + more.output,
        // A sum is unknown if one of its parts is.
        micro_dollars: sum.micro_dollars.zip(more.micro_dollars).map(|(a, b)| a.saturating_add(b)),
        model: sum.model,
    })
}

/// Inputs of one attempt.
struct AttemptJob<'a> {
    read: &'a ReadMaterial<'a>,
    brief: &'a Brief<'a>,
    costs: &'a dyn CostModel,
    options: &'a AttemptOptions<'a>,
}

/// Rejections and costs so far.
struct Course {
    name: Box<str>,
    rejected: Vec<Rejection>,
    spent: Option<SummarySpend>,
}

/// A summariser's text that was accepted.
struct Taken {
    text: String,
    prompt: Box<str>,
    check: SummaryCheck,
    manner: Manner,
}

impl Course {
    fn reject(&mut self, why: &str, redactor: &Redactor) {
        let why = redactor.redact(why).text.as_ref().into();
        self.rejected.push(Rejection { producer: self.name.clone(), why });
    }
}

impl AttemptJob<'_> {
    fn tokens(&self, text: &str) -> Tokens {
        self.costs.text(text).tokens
    }

    /// Calls the summariser until a text is accepted, but only a bounded number of times. `None` if no text is.
    fn ask(&self, summariser: &dyn Summarise, course: &mut Course) -> Option<Taken> {
        let redactor = self.options.redactor;
        let mut limit = self.limit(summariser);
        let mut brief = *self.brief;
        brief.target = brief.target.min(self.options.by_model);
        brief.most = brief.most.min(self.options.overage.of(brief.target));
        let mut correction: Vec<String> = Vec::new();
        let (mut halvings, mut corrected, mut manner) = (0, false, Manner::Normal);
        loop {
            let put = Put { limit, redactor, correction: &correction };
            let Some(task) = prompt::task(self.read.material, &brief, &put, self.costs) else {
                let why = format!("what it can be given, {limit} tokens, holds nothing of the range");
                course.reject(&why, redactor);
                return None;
            };
            let written = self.written(summariser, &task);
            course.spent = sum_spent(course.spent.take().into_iter().chain(written.spent));
            match written.failure {
                None => {}
                Some(CallFailure::TooLarge) if halvings < HALVINGS => {
                    course.reject(&CallFailure::TooLarge.to_string(), redactor);
                    halvings += 1;
                    // The new limit is half of what was sent, not half of the old limit, because a prompt smaller
                    // than half the old limit would be sent again unchanged.
                    limit = Tokens(prompt::size(&task, self.costs).0 / 2);
                    continue;
                }
                // The text did not end within its limit, so a shorter one is requested once.
                Some(failure @ (CallFailure::TooLong | CallFailure::CutOff)) if manner == Manner::Normal => {
                    course.reject(&failure.to_string(), redactor);
                    manner = Manner::Aggressive;
                    brief.target = self.options.second.of(brief.target);
                    correction = vec![failure.to_string()];
                    continue;
                }
                Some(failure) => {
                    course.reject(&failure.to_string(), redactor);
                    return None;
                }
            }
            let text = tidy(&written.text, brief.template);
            if text.is_empty() {
                course.reject(&CallFailure::Empty.to_string(), redactor);
                return None;
            }
            if let Some(why) = self.too_long(text, brief.most) {
                course.reject(&why, redactor);
                if manner == Manner::Aggressive {
                    return None;
                }
                manner = Manner::Aggressive;
                brief.target = self.options.second.of(brief.target);
                correction = vec![why];
                continue;
            }
            let Judgement { check, faults, text } =
                (self.options.floor.verify)(text, self.read, &brief, self.costs);
            if faults.is_empty() {
                return Some(Taken { text, prompt: digest(&task), check, manner });
            }
            course.reject(&in_one_sentence(&faults), redactor);
            if std::mem::replace(&mut corrected, true) {
                return None;
            }
            correction = faults;
        }
    }

    /// Calls the summariser once. Stops the call when the answer exceeds twice its maximum, because a provider bills
    /// every token of it.
    fn written(&self, summariser: &dyn Summarise, task: &SummaryTask) -> SummaryText {
        let most = usize::try_from(task.most.0).unwrap_or(usize::MAX).saturating_mul(2 * TOKEN_BYTES);
        let mut is_over = false;
        let answer = summariser.summarise(task, &mut |bytes| {
            is_over |= bytes > most;
            !is_over && (self.options.progress)(bytes)
        });
        let mut written =
            answer.unwrap_or_else(|failure| SummaryText { failure: Some(failure), ..SummaryText::default() });
        if is_over && written.failure == Some(CallFailure::Stopped) {
            written.failure = Some(CallFailure::TooLong);
        }
        written
    }

    /// Returns why a text is too long to be accepted, or `None` if the text is short enough.
    fn too_long(&self, text: &str, most: Tokens) -> Option<String> {
        let (tokens, before) = (self.tokens(text), self.options.before);
        if tokens >= before {
            Some(format!("it has {tokens} tokens, no fewer than the {before} it would replace"))
        } else if tokens > most {
            Some(format!("it has {tokens} tokens, more than the {most} it may have"))
        } else {
            None
        }
    }

    /// Returns the maximum number of tokens in a prompt: the summariser's window less the answer, divided by the
    /// margin.
    fn limit(&self, summariser: &dyn Summarise) -> Tokens {
        let AttemptOptions { input, margin, .. } = *self.options;
        let window = summariser.window().unwrap_or(WINDOW).saturating_sub(self.brief.most);
        let held = u128::from(window.0) * 1_000 / u128::from(margin.0.max(1_000));
        let held = Tokens(u64::try_from(held).unwrap_or(u64::MAX));
        input.cap(held)
    }

    /// Writes the summary without a model, and cuts it if it exceeds its maximum.
    fn mechanical(
        &self,
        rejected: Vec<Rejection>,
        spent: Option<SummarySpend>,
        manner: Manner,
    ) -> SummaryDraft {
        let Extract { text, items } = (self.options.floor.extract)(self.read, self.brief, self.costs);
        let cut = self.cut(&text);
        let manner = if cut.is_some() { Manner::Capped } else { manner };
        let items = items.filter(|_| cut.is_none());
        let text = cut.unwrap_or(text);
        let check = Some((self.options.floor.verify)(&text, self.read, self.brief, self.costs).check);
        let producer = EXTRACTIVE.into();
        SummaryDraft { text, items, producer, prompt: None, check, rejected, spent, manner }
    }

    /// Cuts a text that exceeds the maximum to the whole lines that fit, or to the start of its first line. `None` if
    /// the text fits.
    fn cut(&self, text: &str) -> Option<String> {
        let most = self.brief.most;
        if self.tokens(text) <= most {
            return None;
        }
        let mut end = 0;
        let mut total = self.tokens(CUT);
        for line in text.split_inclusive('\n') {
            total += self.tokens(line);
            if total > most {
                break;
            }
            end += line.len();
        }
        if end == 0 {
            // Not even the first line fits, so cutting starts with four bytes per token. The loop below halves the
            // length until the text fits.
            end = text.len().min(usize::try_from(most.0).unwrap_or(usize::MAX).saturating_mul(4));
        }
        // The mark is left out if it alone exceeds the maximum.
        let mark = if self.tokens(CUT) <= most { CUT } else { "" };
        loop {
            let kept = head(text, end).trim_end();
            let cut = format!("{kept}{mark}");
            if self.tokens(&cut) <= most || kept.is_empty() {
                return Some(cut);
            }
            end = kept.len() / 2;
        }
    }
}

/// Joins faults into one sentence for a person: the first fault, and the number of others.
fn in_one_sentence(faults: &[String]) -> String {
    let first = faults.first().map(String::as_str).unwrap_or_default();
    match faults.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} ({} more)", count - 1),
    }
}

fn digest(task: &SummaryTask) -> Box<str> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(task.system.as_bytes()).update(task.prompt.as_bytes());
    hasher.finalize().to_hex().chars().take(16).collect::<String>().into()
}

/// Strips what models put around a summary: a code fence, text before the first part and, for XML, text after the
/// end.
fn tidy<'t>(text: &'t str, template: &Template) -> &'t str {
    let mut text = text.trim();
    // A fence within the text shows that the outer fences do not enclose the whole text.
    if let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"))
        && let Some((info, inner)) = inner.split_once('\n')
        && !info.trim().contains(' ')
        && !inner.contains("```")
    {
        text = inner.trim();
    }
    let first = template.sections.first().map(|section| match template.form {
        SummaryFormat::Log => DATE.to_owned(),
        SummaryFormat::Markdown => format!("## {}", section.name),
        SummaryFormat::Numbered => format!("1. {}", section.name),
        SummaryFormat::Xml => format!("<{}>", template.root),
    });
    let starts_line =
        |at: &usize| text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let begin =
        first.and_then(|heading| text.match_indices(heading.as_str()).map(|(at, _)| at).find(starts_line));
    text = begin.and_then(|at| text.get(at..)).unwrap_or(text);
    if template.form == SummaryFormat::Xml {
        let close = format!("</{}>", template.root);
        let end = text.rfind(&close).map_or(text.len(), |at| at + close.len());
        text = text.get(..end).unwrap_or(text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_put_around_a_summary_goes() {
        let markdown = Template::default();
        let xml = Template { form: SummaryFormat::Xml, root: "state".into(), ..Template::default() };
        let table = [
            (&markdown, " ## Goal\n- a\n", "## Goal\n- a"),
            (&markdown, "```markdown\n## Goal\n- a\n```", "## Goal\n- a"),
            (&markdown, "Here is the summary:\n\n## Goal\n- a", "## Goal\n- a"),
            (&markdown, "no ## Goal here", "no ## Goal here"),
            (&markdown, "```\n## Goal\n```sh\nls\n```\n- a\n```", "## Goal\n```sh\nls\n```\n- a\n```"),
            (
                &xml,
                "Sure!\n<state>\n<Goal>a</Goal>\n</state>\nAnything else?",
                "<state>\n<Goal>a</Goal>\n</state>",
            ),
            (&markdown, "", ""),
            (&markdown, "``````", "``````"),
        ];
        for (template, text, expected) in table {
            assert_eq!(tidy(text, template), expected, "{text:?}");
        }
    }
}
