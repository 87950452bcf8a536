//! From a range to a summary that can be taken, whatever the summariser does.
//!
//! ```text
//! a summariser ─┬─ too large ──► half of it, up to three times ─┐
//!               ├─ faults ─────► once more, with a correction ──┼─► taken
//!               ├─ no smaller ─► once more, aiming lower ───────┘
//!               └─ anything else, or again ─► extract, the floor ─► cut, if even that is too long
//! ```

use super::prompt::{self, Put};
use crate::redact::Redactor;
use crate::summarize::extract::{DATE, ReadMaterial};
use crate::summarize::task::{Brief, Summarise, SummaryFailure, SummaryTask, SummaryText};
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::{Manner, Rejection, SummaryCheck, SummarySpend};
use wunderblock_core::policy::{Permille, SummaryFormat, Template};
use wunderblock_core::ports::CostModel;
use wunderblock_core::stub::head;
use wunderblock_core::units::Tokens;

/// What writes summaries that need no model.
pub const EXTRACTIVE: &str = "extractive";
/// So often a summariser that was given too much is given half of it.
const HALVINGS: u32 = 3;
/// What a summariser that does not tell its window is taken to hold: as the catalog has it for models it does not know.
const WINDOW: Tokens = Tokens(128_000);
/// Maximum bytes of a token, about: prose has the longest tokens, code and Chinese shorter ones.
const TOKEN_BYTES: usize = 6;
/// What follows a text that was cut.
const CUT: &str = "\n⟨cut⟩";

/// What was found in a text that a summariser wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The figures.
    pub check: SummaryCheck,
    /// Why it is not taken, each in words that help to write it better; empty if it is.
    pub faults: Vec<String>,
    /// The text, with marks at what its range does not say.
    pub text: String,
}

/// The deterministic half: what writes without a model, and what checks those who do.
#[derive(Clone, Copy)]
pub struct Floor<'a> {
    /// Writes a summary.
    pub extract: &'a dyn Fn(&ReadMaterial<'_>, &Brief<'_>, &dyn CostModel) -> String,
    /// Checks one.
    pub verify: &'a dyn Fn(&str, &ReadMaterial<'_>, &Brief<'_>, &dyn CostModel) -> Judgement,
}

/// How it is gone about.
#[derive(Clone, Copy)]
pub struct AttemptOptions<'a> {
    /// The deterministic half.
    pub floor: Floor<'a>,
    /// The tokens of what the summary replaces: it has to have fewer.
    pub before: Tokens,
    /// What a summariser is asked for, where that is less than the target, …
    pub by_model: Tokens,
    /// … and how many times that it may write.
    pub overage: Permille,
    /// A second try aims at this part of the target.
    pub second: Permille,
    /// The most a summariser is given at a time; 0 for what its window holds.
    pub input: Tokens,
    /// What is given is taken to be this many times its count.
    pub margin: Permille,
    /// Takes out secrets before anything is sent or recorded.
    pub redactor: &'a Redactor,
    /// Told how many bytes have come; answers whether to go on.
    pub progress: &'a dyn Fn(usize) -> bool,
}

/// A summary, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryDraft {
    /// The text.
    pub text: String,
    /// Who wrote it.
    pub producer: Box<str>,
    /// The first 16 hexadecimal digits of BLAKE3 over what it was told; none where nobody was told anything.
    pub prompt: Option<Box<str>>,
    /// What was found when it was checked.
    pub check: Option<SummaryCheck>,
    /// What was not taken before, in order.
    pub rejected: Vec<Rejection>,
    /// What all of it cost.
    pub spent: Option<SummarySpend>,
    /// How it came about.
    pub manner: Manner,
}

/// Writes a summary of at most `brief.most` tokens. It never fails: the floor needs nothing but the range.
#[must_use]
pub fn write(
    read: &ReadMaterial<'_>,
    brief: &Brief<'_>,
    costs: &dyn CostModel,
    summariser: Option<&dyn Summarise>,
    options: &AttemptOptions<'_>,
) -> SummaryDraft {
    let job = AttemptJob { read, brief, costs, options };
    // Numbers are counted, and places are listed, not told.
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
            SummaryDraft { text, producer, prompt, check, rejected, spent, manner }
        }
        None => job.mechanical(course.rejected, course.spent, Manner::Fallback),
    }
}

/// What several summaries cost together, under the name of the first one's model.
pub(crate) fn sum_spent(spent: impl IntoIterator<Item = SummarySpend>) -> Option<SummarySpend> {
    spent.into_iter().reduce(|sum, more| SummarySpend {
        calls: sum.calls.saturating_add(more.calls),
        input: sum.input + more.input,
        output: sum.output + more.output,
        // A sum that lacks a part is not known.
        micro_dollars: sum.micro_dollars.zip(more.micro_dollars).map(|(a, b)| a.saturating_add(b)),
        model: sum.model,
    })
}

/// What is to be done, and with what.
struct AttemptJob<'a> {
    read: &'a ReadMaterial<'a>,
    brief: &'a Brief<'a>,
    costs: &'a dyn CostModel,
    options: &'a AttemptOptions<'a>,
}

/// What has become of it so far.
struct Course {
    name: Box<str>,
    rejected: Vec<Rejection>,
    spent: Option<SummarySpend>,
}

/// A text that is taken.
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

    /// Asks until something can be taken, a bounded number of times.
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
                Some(SummaryFailure::TooLarge) if halvings < HALVINGS => {
                    course.reject(&SummaryFailure::TooLarge.to_string(), redactor);
                    halvings += 1;
                    limit = Tokens(prompt::size(&task, self.costs).0 / 2);
                    continue;
                }
                Some(failure @ (SummaryFailure::TooLong | SummaryFailure::CutOff))
                    if manner == Manner::Normal =>
                {
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
                course.reject(&SummaryFailure::Empty.to_string(), redactor);
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

    /// Asks once. What is longer than twice the maximum is not read to its end.
    fn written(&self, summariser: &dyn Summarise, task: &SummaryTask) -> SummaryText {
        let most = usize::try_from(task.most.0).unwrap_or(usize::MAX).saturating_mul(2 * TOKEN_BYTES);
        let mut is_over = false;
        let answer = summariser.summarise(task, &mut |bytes| {
            is_over |= bytes > most;
            !is_over && (self.options.progress)(bytes)
        });
        let mut written =
            answer.unwrap_or_else(|failure| SummaryText { failure: Some(failure), ..SummaryText::default() });
        if is_over && written.failure == Some(SummaryFailure::Stopped) {
            written.failure = Some(SummaryFailure::TooLong);
        }
        written
    }

    /// Why a text is no gain.
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

    /// What the summariser can be given.
    fn limit(&self, summariser: &dyn Summarise) -> Tokens {
        let AttemptOptions { input, margin, .. } = *self.options;
        let window = summariser.window().unwrap_or(WINDOW).saturating_sub(self.brief.most);
        let held = u128::from(window.0) * 1_000 / u128::from(margin.0.max(1_000));
        let held = Tokens(u64::try_from(held).unwrap_or(u64::MAX));
        if input == Tokens::ZERO { held } else { held.min(input) }
    }

    /// The floor.
    fn mechanical(
        &self,
        rejected: Vec<Rejection>,
        spent: Option<SummarySpend>,
        manner: Manner,
    ) -> SummaryDraft {
        let text = (self.options.floor.extract)(self.read, self.brief, self.costs);
        let cut = self.cut(&text);
        let manner = if cut.is_some() { Manner::Capped } else { manner };
        let text = cut.unwrap_or(text);
        let check = Some((self.options.floor.verify)(&text, self.read, self.brief, self.costs).check);
        let producer = EXTRACTIVE.into();
        SummaryDraft { text, producer, prompt: None, check, rejected, spent, manner }
    }

    /// As many whole lines of a text as fit, if it does not fit; of a line that is too long by itself, its beginning.
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
            // A token is seldom less than a byte.
            end = text.len().min(usize::try_from(most.0).unwrap_or(usize::MAX).saturating_mul(4));
        }
        // Where there is no room for the mark, there is none.
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

/// What is wrong, for a person: the first fault, and how many more there are.
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

/// What a model wrote without what models put around it: a fence of code, a sentence before the first part, one after the
/// last.
fn tidy<'t>(text: &'t str, template: &Template) -> &'t str {
    let mut text = text.trim();
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
