//! Locates a text in sources outside the ledger. Sources outside the ledger are blocks of the preamble, tools, and
//! files that were rejected or left out.

use super::{Advice, Placement, PlacementQuery, line_with};
use crate::request::input::options::ContextOptions;
use crate::request::steps::draft::Draft;
use std::path::Path;
use wunderblock_core::budget::Treatment;
use wunderblock_core::instruction::{Finding, FindingKind, pieces};
use wunderblock_core::preamble::{Deferral, Inclusion, PreambleBlock, ToolBlock};
use wunderblock_core::section::Section;
use wunderblock_core::stub::grouped;
use wunderblock_sources::text_named_by;

/// Returns the places in sources that contain the text, and the findings about sources that are not shown.
pub(super) fn outside(
    sought: &PlacementQuery<'_>,
    draft: &Draft,
    options: &ContextOptions,
) -> Vec<Placement> {
    let preamble = draft.preamble.as_deref();
    let blocks = preamble.into_iter().flat_map(|preamble| &preamble.blocks);
    let mut placements: Vec<Placement> =
        blocks.filter_map(|block| block_placement(sought, block, draft, options)).collect();
    let tools = preamble.into_iter().flat_map(|preamble| &preamble.tools);
    placements.extend(tools.filter_map(|tool| tool_placement(sought, tool, draft)));
    let root =
        options.sources.instructions.as_ref().map(|instructions| instructions.workspace.root.as_path());
    placements.extend(draft.findings.iter().filter_map(|finding| finding_placement(sought, finding, root)));
    placements
}

fn block_placement(
    sought: &PlacementQuery<'_>,
    block: &PreambleBlock,
    draft: &Draft,
    options: &ContextOptions,
) -> Option<Placement> {
    let shown = sought.line(&block.text, draft);
    let whole = block.body.as_ref().and_then(|body| sought.line(body, draft));
    let named = sought.names(&block.name).then(|| block.name.to_string());
    let line = shown.clone().or(whole).or(named)?;
    let limit = draft.report.limit;
    let crowded = || {
        let most = options.shares.most(block.section, limit);
        let name = wunderblock_core::allocate::key(block.section);
        format!(
            "{name} may take {} tokens: give the section `{name}` a larger share or maximum, or shorten its content",
            grouped(most.0)
        )
    };
    let level = block.level.map_or(block.authority.label(), |level| level.label());
    let (treatment, why, gives) = match block.shown {
        Inclusion::Out => (Treatment::LeftOut, "no room in its section".to_owned(), Some(crowded())),
        Inclusion::Cut if shown.is_none() => {
            (Treatment::LeftOut, "in the part that was cut".to_owned(), Some(crowded()))
        }
        Inclusion::Cut => (Treatment::Clipped, format!("{level}, {}", block.reason.label()), None),
        Inclusion::Whole if shown.is_none() && block.is_listed() => {
            let how = "ask for it by its handle, which shows it at the tail".to_owned();
            (Treatment::Stub, "listed; its body is read on demand".to_owned(), Some(how))
        }
        Inclusion::Whole => (Treatment::Verbatim, format!("{level}, {}", block.reason.label()), None),
    };
    Some(Placement {
        seq: None,
        what: block.name.to_string(),
        treatment,
        section: Some(block.section),
        tokens: draft.tokens_of(block),
        why,
        shown: gives.is_none(),
        advice: gives.map(Advice::Source),
        handle: block.body.as_ref().unwrap_or(&block.text).handle(),
        line,
    })
}

fn tool_placement(sought: &PlacementQuery<'_>, tool: &ToolBlock, draft: &Draft) -> Option<Placement> {
    let bodies = [&tool.description, &tool.schema];
    let line = bodies.into_iter().find_map(|body| sought.line(body, draft));
    let line = line.or_else(|| sought.names(&tool.name).then(|| tool.name.to_string()))?;
    let what = format!("tool {}", tool.name);
    let entry =
        draft.report.entries.iter().find(|entry| entry.section == Section::Tools && entry.what == what);
    let (treatment, why, gives) = match tool.deferred {
        None => (Treatment::Verbatim, "declared", None),
        Some(Deferral::Asked) => {
            (Treatment::Stub, "named only, as it was offered", Some("offer it undeferred"))
        }
        Some(Deferral::NoRoom) => {
            let how = "give the section `tools` a larger share or maximum, or offer fewer tools";
            (Treatment::Stub, "named only: there is no room for its schema", Some(how))
        }
    };
    Some(Placement {
        seq: None,
        what,
        treatment,
        section: Some(Section::Tools),
        tokens: entry.map(|entry| entry.tokens),
        why: why.to_owned(),
        shown: gives.is_none(),
        advice: gives.map(|gives| Advice::Source(gives.to_owned())),
        handle: tool.schema.handle().or_else(|| tool.description.handle()),
        line,
    })
}

/// Returns the finding about a source that is not shown, if the source contains the text. Reads the source's file.
fn finding_placement(
    sought: &PlacementQuery<'_>,
    finding: &Finding,
    root: Option<&Path>,
) -> Option<Placement> {
    let PlacementQuery::Text(text) = sought else { return None };
    let said = sought.names(&finding.source).then(|| finding.source.to_string());
    let line = said.or_else(|| line_with(&finding.detail, text)).or_else(|| in_file(finding, text, root))?;
    let gives = match finding.what {
        FindingKind::Refused => "the file that locks the block would have to allow it",
        FindingKind::Replaced => "the file that replaces it would have to add to it instead",
        FindingKind::Ignored => {
            "the ignore rule would have to be removed, which takes effect in the next session"
        }
        FindingKind::Repeated => "",
        FindingKind::Conflict => "one of the two files would have to be changed",
        FindingKind::Deferred => "sources that take effect now, or the lane's next step",
        FindingKind::NoRoom => "its section would need a larger share or maximum",
        FindingKind::Unusable => "the file would have to be fixed",
    };
    let is_there = matches!(finding.what, FindingKind::Repeated | FindingKind::Conflict);
    let place = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    Some(Placement {
        seq: None,
        what: format!("{}{place}", finding.source),
        treatment: if is_there { Treatment::Verbatim } else { Treatment::LeftOut },
        section: None,
        tokens: None,
        why: finding.detail.to_string(),
        shown: is_there,
        advice: (!gives.is_empty()).then(|| Advice::Source(gives.to_owned())),
        handle: None,
        line,
    })
}

/// Returns the line that contains a text, within the part of a file that a finding refers to.
fn in_file(finding: &Finding, text: &str, root: Option<&Path>) -> Option<String> {
    let whole = text_named_by(finding, root?)?;
    match finding.line.filter(|_| matches!(finding.what, FindingKind::Refused | FindingKind::Replaced)) {
        None => line_with(&whole, text),
        Some(line) => {
            let (pieces, _) = pieces(&whole);
            pieces.iter().filter(|piece| piece.line == line).find_map(|piece| line_with(&piece.text, text))
        }
    }
}
