//! Converts the caller's sources to an offer: takes in files and providers' answers, and packs texts as bodies.

use crate::ledger::texts::Texts;
use crate::request::input::sources::{AgentType, Given, Instructions, OfferedTool, Resource, Skill, Sources};
use crate::request::need::{FilesWanted, Outside, OutsideWanted};
use crate::request::packer::Packer;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::authority::{Authority, InstructionLevel};
use wunderblock_core::compose::Offer;
use wunderblock_core::decision::Injection;
use wunderblock_core::instruction::{Finding, FindingKind, InstructionFile, LoadReason, pieces, settle};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::preamble::{Deferral, IgnoreFile, Preamble, PreambleBlock, ToolBlock};
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;
use wunderblock_sources::{FoundSources, touched};

/// Returns what to read outside the ledger. `None` if there is nothing to read.
pub(in crate::request) fn outside(
    sources: &Sources,
    view: &View,
    texts: &Texts,
) -> Option<Box<OutsideWanted>> {
    let files = sources.instructions.as_ref().map(|instructions| files(instructions, view, texts));
    let providers = sources.providers.clone();
    (files.is_some() || !providers.is_empty()).then(|| Box::new(OutsideWanted { files, providers }))
}

/// Returns the offer of the sources, and the state to inject at the tail.
pub(in crate::request) fn offer(
    sources: &Sources,
    view: &View,
    outside: Option<Outside>,
    packer: &Packer,
) -> (Offer, Vec<Injection>) {
    let (found, said) = outside.map_or((None, Vec::new()), |outside| (outside.found, outside.said));
    let mut offer = Offer {
        now: sources.now,
        says_state: sources.state.is_some() || !sources.providers.is_empty(),
        findings: sources.findings.clone(),
        ..Offer::default()
    };
    for (section, given) in [
        (Section::Safety, &sources.safety),
        (Section::System, &sources.system),
        (Section::PinnedMemory, &sources.memory),
    ] {
        if let Some(given) = given {
            let said = given.iter().filter(|given| !given.text.trim().is_empty());
            offer.blocks.insert(section, said.map(|given| block(section, given, packer)).collect());
        }
    }
    if let Some(skills) = &sources.skills {
        offer.blocks.insert(Section::Skills, skills.iter().map(|skill| skill_block(skill, packer)).collect());
    }
    if let Some(agents) = &sources.agents {
        let mut blocks: Vec<PreambleBlock> = agents.iter().map(|agent| agent_block(agent, packer)).collect();
        blocks.sort_by(|a, b| a.name.cmp(&b.name));
        offer.blocks.insert(Section::Agents, blocks);
    }
    if let Some(resources) = &sources.resources {
        let blocks = resources.iter().map(|resource| resource_block(resource, packer)).collect();
        offer.blocks.insert(Section::Resources, blocks);
    }
    if let Some(tools) = &sources.tools {
        offer.tools = Some(tool_blocks(tools, packer, &mut offer.findings));
    }
    if let (Some(instructions), Some(found)) = (&sources.instructions, found) {
        settle_files(instructions, found, view, packer, &mut offer);
    }
    let state = state(sources, said, view, packer, &mut offer.findings);
    (offer, state)
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn block(section: Section, given: &Given, packer: &Packer) -> PreambleBlock {
    PreambleBlock::new(section, &given.name, &digest(&given.text), packer.pack(given.text.clone()))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn skill_block(skill: &Skill, packer: &Packer) -> PreambleBlock {
    let body = packer.pack_named(skill.body.clone());
    let read = body.handle().map(|handle| format!(" · read {handle}")).unwrap_or_default();
    let line = format!("- {}: {}{read}", on_one_line(&skill.name), on_one_line(&skill.description));
    PreambleBlock::new(Section::Skills, &skill.name, &digest(&skill.body), packer.pack(line)).with_body(body)
}

fn agent_block(agent: &AgentType, packer: &Packer) -> PreambleBlock {
    PreambleBlock::new(Section::Agents, &agent.name, &digest(&agent.line), packer.pack(agent.line.clone()))
}

fn resource_block(resource: &Resource, packer: &Packer) -> PreambleBlock {
    let text = resource.text.as_deref().unwrap_or_default();
    let digest = digest(text);
    if resource.pinned && !text.trim().is_empty() {
        return PreambleBlock::new(Section::Resources, &resource.uri, &digest, packer.pack(text.to_owned()));
    }
    let mut line = format!("- {}", on_one_line(&resource.uri));
    if !resource.name.is_empty() {
        line.push_str(&format!(" ({})", on_one_line(&resource.name)));
    }
    if !resource.description.is_empty() {
        line.push_str(&format!(": {}", on_one_line(&resource.description)));
    }
    let body = resource.text.clone().map(|text| packer.pack_named(text));
    if let Some(handle) = body.as_ref().and_then(Body::handle) {
        line.push_str(&format!(" · read {handle}"));
    }
    // The line of a resource that was not fetched is also its body, because there is nothing more to read. The line
    // gets a handle at once, because the ledger would assign one anyway.
    let body = body.unwrap_or_else(|| packer.pack_named(line.clone()));
    PreambleBlock::new(Section::Resources, &resource.uri, &digest, packer.pack(line)).with_body(body)
}

fn tool_blocks(tools: &[OfferedTool], packer: &Packer, findings: &mut Vec<Finding>) -> Vec<ToolBlock> {
    let mut names = BTreeSet::new();
    let mut blocks = Vec::with_capacity(tools.len());
    for OfferedTool { tool, deferred } in tools {
        let problem = match schema_problem(&tool.schema) {
            _ if tool.name.trim().is_empty() => Some("it has no name".to_owned()),
            Some(problem) => Some(problem),
            None if !names.insert(&tool.name) => {
                Some("another tool of this name is declared already".to_owned())
            }
            None => None,
        };
        if let Some(problem) = problem {
            findings.push(Finding {
                source: format!("tool {}", tool.name).into(),
                line: None,
                what: FindingKind::Unusable,
                detail: format!("{problem}; it is not declared").into(),
            });
            continue;
        }
        blocks.push(ToolBlock {
            name: tool.name.clone(),
            description: packer.pack(tool.description.to_string()),
            schema: packer.pack(tool.schema.to_string()),
            extra: tool.extra.clone(),
            deferred: deferred.then_some(Deferral::Asked),
            inferred: false,
        });
    }
    blocks.sort_by(|a, b| a.name.cmp(&b.name));
    blocks
}

/// Returns why a text is not a valid schema of a tool's input. Providers require a JSON Schema of type object. An
/// empty text means an object without properties.
fn schema_problem(schema: &str) -> Option<String> {
    if schema.is_empty() {
        return None;
    }
    let value: serde_json::Value = match serde_json::from_str(schema) {
        Ok(value) => value,
        Err(error) => return Some(format!("its schema is not JSON ({error})")),
    };
    let Some(object) = value.as_object() else { return Some("its schema is not a JSON object".to_owned()) };
    let kind = object.get("type");
    if kind.is_some_and(|kind| kind != "object") || kind.is_none() && !object.is_empty() && !combines(object)
    {
        return Some("its schema is not of type `object`".to_owned());
    }
    if object.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Some("`properties` of its schema is not an object".to_owned());
    }
    let names = |value: &serde_json::Value| {
        value.as_array().is_some_and(|names| names.iter().all(|name| name.is_string()))
    };
    if object.get("required").is_some_and(|required| !names(required)) {
        return Some("`required` of its schema is not a list of names".to_owned());
    }
    None
}

/// Returns whether a schema is defined by other schemas, or by properties.
fn combines(object: &serde_json::Map<String, serde_json::Value>) -> bool {
    ["$ref", "anyOf", "oneOf", "allOf", "properties"].iter().any(|word| object.contains_key(*word))
}

/// Returns the instruction files to read: those for the workspace, and those for the paths that work has touched.
fn files(instructions: &Instructions, view: &View, texts: &Texts) -> FilesWanted {
    let nothing = Preamble::default();
    let recorded = view.lane().preamble();
    let old = recorded.map_or(&nothing, AsRef::as_ref);
    // A lane that began without instructions has no frozen files.
    let is_first =
        old.ignore.is_empty() && !old.blocks.iter().any(|block| block.section == Section::Instructions);
    let recorded = recorded.filter(|_| !is_first);
    let frozen =
        |file: &IgnoreFile| (file.path.to_string(), texts.of(&file.text).unwrap_or_default().to_owned());
    let scans = instructions.rules.scan && !old.scanned.is_empty();
    FilesWanted {
        workspace: instructions.workspace.clone(),
        rules: instructions.rules.clone(),
        touched: touched_paths(instructions, view, old),
        frozen: recorded.map(|_| old.ignore.iter().map(frozen).collect()),
        scanned: recorded.filter(|_| scans).map(|_| old.scanned.iter().map(ToString::to_string).collect()),
    }
}

/// Decides which instruction files apply, and in which order.
fn settle_files(
    instructions: &Instructions,
    found: FoundSources,
    view: &View,
    packer: &Packer,
    offer: &mut Offer,
) {
    let nothing = Preamble::default();
    let old = view.lane().preamble().map_or(&nothing, AsRef::as_ref);
    let FoundSources { mut head, nested, ignore, scanned: found, mut findings, .. } = found;
    for given in &instructions.session {
        let (pieces, problems) = pieces(&given.text);
        findings.extend(problems.into_iter().map(|problem| Finding {
            source: given.name.as_str().into(),
            line: Some(problem.line),
            what: FindingKind::Unusable,
            detail: problem.detail.into(),
        }));
        head.push(InstructionFile {
            path: given.name.as_str().into(),
            level: InstructionLevel::Session,
            reason: LoadReason::Given,
            digest: digest(&given.text).into(),
            pieces,
        });
    }
    // Nested files that the preamble already contains count among the files before the conversation.
    let absorbed = |file: &InstructionFile| {
        old.blocks.iter().any(|block| block.section == Section::Instructions && block.name == file.path)
    };
    let order: BTreeMap<Box<str>, usize> = nested.iter().map(|file| file.path.clone()).zip(0..).collect();
    let (inside, outside): (Vec<_>, Vec<_>) = nested.into_iter().partition(absorbed);
    let before: Vec<InstructionFile> = head.iter().cloned().chain(inside.iter().cloned()).collect();
    let all: Vec<InstructionFile> = before.iter().cloned().chain(outside.iter().cloned()).collect();
    let settled = settle(&before);
    let texts_before = settled.texts;
    let everything = if outside.is_empty() { None } else { Some(settle(&all)) };
    let late = everything.as_ref().map_or(&[][..], |all| all.texts.get(before.len()..).unwrap_or_default());
    findings.extend(everything.as_ref().map_or(settled.findings, |all| all.findings.clone()));
    let count = head.len();
    let blocks: Vec<PreambleBlock> =
        before.iter().zip(&texts_before).filter_map(|(file, text)| file_block(file, text, packer)).collect();
    let (first, inside): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|block| head.iter().take(count).any(|file| file.path == block.name));
    offer.blocks.insert(Section::Instructions, first);
    offer.nested = inside;
    offer.nested.extend(outside.iter().zip(late).filter_map(|(file, text)| file_block(file, text, packer)));
    // The files are ordered from the outermost directory inwards, regardless of which was reached first.
    offer.nested.sort_by_key(|block| order.get(&block.name).copied());
    let files = ignore.into_iter();
    offer.ignore =
        Some(files.map(|(path, text)| IgnoreFile { path: path.into(), text: packer.pack(text) }).collect());
    offer.scanned = found.into_iter().map(String::into_boxed_str).collect();
    offer.findings.append(&mut findings);
}

fn file_block(file: &InstructionFile, text: &str, packer: &Packer) -> Option<PreambleBlock> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let body = packer.pack(text.to_owned());
    Some(PreambleBlock::instruction(&file.path, file.level, file.reason.clone(), &file.digest, body))
}

/// Returns the paths that work has touched: those named by calls in the view, and those that caused recorded files to
/// be loaded.
fn touched_paths(instructions: &Instructions, view: &View, old: &Preamble) -> Vec<String> {
    let parts = view.entries().rev().flat_map(|entry| &entry.message.parts);
    let gists = parts.filter_map(|part| match part {
        Part::ToolCall { gist, .. } => gist.as_deref(),
        _ => None,
    });
    let mut paths: BTreeSet<String> = touched(gists, &instructions.workspace).into_iter().collect();
    for block in &old.blocks {
        if let LoadReason::Nested(path) | LoadReason::PathRule(path) = &block.reason {
            paths.insert(path.to_string());
        }
    }
    paths.into_iter().collect()
}

/// Returns the state to inject. A state that has already been injected and no longer applies is injected as `none`.
fn state(
    sources: &Sources,
    said: Vec<Result<String, String>>,
    view: &View,
    packer: &Packer,
    findings: &mut Vec<Finding>,
) -> Vec<Injection> {
    let mut texts = sources.state.as_ref().map(|state| state.texts()).unwrap_or_default();
    let asked = sources.state.is_some() || !sources.providers.is_empty();
    let mut silent = BTreeSet::new();
    for (provider, said) in sources.providers.iter().zip(said) {
        match said {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => texts.push((provider.name.clone(), text)),
            Err(why) => {
                silent.insert(provider.name.clone());
                findings.push(Finding {
                    source: format!("state provider {}", provider.name).into(),
                    line: None,
                    what: FindingKind::Unusable,
                    detail: format!("{why}; what it said last still stands").into(),
                });
            }
        }
    }
    let names: BTreeSet<String> = texts.iter().map(|(name, _)| name.clone()).collect();
    let gone = view
        .lane()
        .said_names(Section::State)
        .filter(|name| asked && !names.contains(*name) && !silent.contains(*name));
    texts.extend(gone.map(|name| (name.to_owned(), "none".to_owned())).collect::<Vec<_>>());
    let injection = |(name, text): (String, String)| Injection {
        section: Section::State,
        authority: Authority::of(Section::State),
        from_stream: None,
        from_seq: Seq::START,
        body: packer.pack(text),
        what: name.into(),
        why: "".into(),
        part_of: None,
    };
    texts.into_iter().map(injection).collect()
}
