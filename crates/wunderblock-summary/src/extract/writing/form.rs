//! Parts of a summary and their markup.

use super::item::{BETWEEN, ItemText, PACKED_LINE, SummaryItem, UNCHECKED_LEGEND};
use super::log::{self, Times};
use crate::extract::language::plain::{self, Escaping};
use crate::task::{Brief, Material};
use wunderblock_core::compact::Detail;
use wunderblock_core::policy::{self, Fill, TemplateSection};

/// Content of an empty part.
const NOTHING: &str = "–";

/// Parts of a summary and their markup.
#[derive(Clone, Debug)]
pub(in crate::extract) struct SummaryForm {
    pub(in crate::extract) parts: Vec<SummaryPart>,
    form: policy::SummaryFormat,
    root: String,
    pub(in crate::extract) marks: Escaping,
    /// Times of the entries, which only a log shows.
    times: Times,
}

/// A part of a summary, consisting of its heading (empty in the short forms) and its kinds of content.
#[derive(Clone, Debug)]
pub(in crate::extract) struct SummaryPart {
    pub(super) name: String,
    pub(super) fills: Vec<Fill>,
    /// Maximum number of items of each kind.
    pub(super) most: usize,
    /// Room that the part may take, as a multiple of the usual room.
    pub(in crate::extract) weight: u64,
}

impl SummaryForm {
    pub(in crate::extract) fn new(brief: &Brief<'_>) -> Self {
        let template = brief.template;
        let bare = |fills: &[Fill], most| SummaryPart {
            name: String::new(),
            fills: fills.to_vec(),
            most,
            weight: 1,
        };
        let parts = match brief.detail {
            Detail::Full => {
                let part = |section: &TemplateSection| SummaryPart {
                    name: section.name.to_string(),
                    fills: section.fill.clone(),
                    most: usize::MAX,
                    weight: u64::from(section.weight.max(1)),
                };
                template.sections.iter().map(part).collect()
            }
            Detail::KeyPoints => vec![
                bare(&[Fill::Intent, Fill::Constraints, Fill::Decisions], 2),
                bare(&[Fill::FilesModified, Fill::Errors, Fill::Todos], 3),
                bare(&[Fill::Current], 2),
            ],
            // A catalogue has no parts.
            Detail::Catalogue => Vec::new(),
            Detail::Statistics => vec![bare(&[Fill::Statistics], usize::MAX)],
        };
        let marks =
            if template.form == policy::SummaryFormat::Xml { Escaping::All } else { Escaping::Speakers };
        let root = element(&template.root);
        Self { parts, form: template.form, root, marks, times: Times::default() }
    }

    /// Adds the times of a range.
    pub(in crate::extract) fn timed(self, material: &Material<'_>) -> Self {
        let times = if self.is_log() { Times::of(material) } else { Times::default() };
        Self { times, ..self }
    }

    /// Returns whether the summary is a dated log, which has no headings and one line for each event.
    pub(super) fn is_log(&self) -> bool {
        self.form == policy::SummaryFormat::Log
    }

    pub(in crate::extract) fn has(&self, fill: Fill) -> bool {
        self.part(fill).is_some()
    }

    /// Returns the first part that contains a kind.
    pub(super) fn part(&self, fill: Fill) -> Option<&SummaryPart> {
        self.parts.get(self.part_number(fill)?)
    }

    /// Returns the index of the first part that contains a kind.
    pub(super) fn part_number(&self, fill: Fill) -> Option<usize> {
        self.parts.iter().position(|part| part.fills.contains(&fill))
    }

    /// Returns the kind under which an item of this kind appears: this kind itself or, if the template has no place
    /// for it, a similar kind.
    pub(in crate::extract) fn place_of(&self, fill: Fill) -> Option<Fill> {
        let near: &[Fill] = match fill {
            Fill::FilesModified | Fill::FilesRead => &[Fill::FilesModified, Fill::Recent, Fill::Done],
            Fill::Todos | Fill::Next => &[Fill::Next, Fill::Todos],
            Fill::Errors => &[Fill::Findings, Fill::Commands],
            _ => &[],
        };
        let any = [Fill::Identifiers, Fill::Current, Fill::Recent, Fill::Intent];
        let last = || self.parts.last().and_then(|part| part.fills.last()).copied();
        std::iter::once(&fill).chain(near).chain(&any).copied().find(|fill| self.has(*fill)).or_else(last)
    }

    /// Writes a summary of these items.
    pub(super) fn write(&self, items: &[&SummaryItem]) -> String {
        let mut out = String::new();
        if items.iter().any(|item| item.is_unchecked()) {
            out.push_str(UNCHECKED_LEGEND);
            out.push('\n');
        }
        if self.is_log() {
            log::write(&mut out, items, &self.times, self.marks);
            let is_name = |item: &&&SummaryItem| matches!(item.text, ItemText::Packed { .. });
            self.fill(&mut out, items.iter().filter(is_name).copied().collect());
            out.truncate(out.trim_end().len());
            return out;
        }
        let is_xml =
            self.form == policy::SummaryFormat::Xml && self.parts.iter().any(|part| !part.name.is_empty());
        if is_xml {
            out.push_str(&format!("<{}>\n", self.root));
        }
        for (number, part) in self.parts.iter().enumerate() {
            if !part.name.is_empty() {
                if !out.is_empty() && !is_xml {
                    out.push('\n');
                }
                out.push_str(&heading(self.form, number, &part.name));
                out.push('\n');
            }
            let before = out.len();
            // Requests and their outcomes alternate, turn by turn.
            let has_turns = [Fill::Intent, Fill::Outcomes].iter().all(|fill| part.fills.contains(fill));
            let told_as = |item: &SummaryItem| match item.fill {
                Fill::Outcomes if has_turns => Fill::Intent,
                fill => fill,
            };
            for fill in &part.fills {
                self.fill(&mut out, items.iter().filter(|item| told_as(item) == *fill).copied().collect());
            }
            if out.len() == before && !part.name.is_empty() {
                out.push_str(NOTHING);
                out.push('\n');
            }
            if is_xml {
                out.push_str(&format!("</{}>\n", element(&part.name)));
            }
        }
        if is_xml {
            out.push_str(&format!("</{}>\n", self.root));
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn fill(&self, out: &mut String, mut items: Vec<&SummaryItem>) {
        items.sort_by_key(|item| item.order);
        let mut line = String::new();
        let mut open: Option<&str> = None;
        for item in items {
            let ItemText::Packed { label, name } = &item.text else {
                flush(out, &mut line);
                open = None;
                out.push_str(&item.write(self.marks));
                out.push('\n');
                continue;
            };
            let name = plain::disarmed(name.to_string(), self.marks);
            if open == Some(label) && line.len() + name.len() <= PACKED_LINE {
                line.push_str(BETWEEN);
                line.push_str(&name);
                line.push_str(&item.positions());
            } else {
                flush(out, &mut line);
                line = item.write(self.marks);
                open = Some(label);
            }
        }
        flush(out, &mut line);
    }
}

fn flush(out: &mut String, line: &mut String) {
    if !line.is_empty() {
        out.push_str(line);
        out.push('\n');
        line.clear();
    }
}

/// Returns the line that begins a part.
pub(crate) fn heading(form: policy::SummaryFormat, number: usize, name: &str) -> String {
    match form {
        policy::SummaryFormat::Markdown | policy::SummaryFormat::Log => {
            format!("## {}", plain::line(name, Escaping::All))
        }
        policy::SummaryFormat::Numbered => format!("{}. {}:", number + 1, plain::line(name, Escaping::All)),
        policy::SummaryFormat::Xml => format!("<{}>", element(name)),
    }
}

/// Turns a name into a valid element name.
fn element(name: &str) -> String {
    let element: String =
        name.trim().chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    if element.is_empty() { "part".to_owned() } else { element }
}
