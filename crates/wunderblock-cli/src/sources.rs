//! What enters a request from outside the ledger: flags first, then the settings file.

use crate::args::SourceArgs;
use crate::exit::{Failure, wrong};
use crate::settings::{SourceFiles, read};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::path::{Path, PathBuf};
use wunderblock::sources::{InstructionRules, SkillFile, Workspace, skills};
use wunderblock::{Given, Instructions, OfferedTool, Resource, Skill, Sources, StateProvider};
use wunderblock_core::message::{Dialect, Extra};
use wunderblock_core::request::Tool;
use wunderblock_core::state::State;

/// A provider of state, as the settings file names it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provider {
    pub(crate) name: String,
    command: Vec<String>,
}

impl Provider {
    /// Whether there is someone to ask, and a name for what they say.
    pub(crate) fn is_complete(&self) -> bool {
        !self.name.trim().is_empty() && self.command.first().is_some_and(|program| !program.is_empty())
    }
}

/// All sources of a request. `is_past`: it is one of the past, for which only what was typed counts, not the settings.
pub(crate) fn sources(
    typed: &SourceArgs,
    (files, rules): (&SourceFiles, &InstructionRules),
    (dialect, is_past): (Option<Dialect>, bool),
) -> Result<Sources, Failure> {
    let none = SourceFiles::default();
    let files = if is_past { &none } else { files };
    let mut sources = Sources {
        safety: given(typed.safety.iter().chain(&files.safety))?,
        system: given(typed.system.iter().chain(&files.system))?,
        memory: given(typed.memory.iter().chain(&files.memory))?,
        now: typed.now,
        ..Sources::default()
    };
    if let Some(path) = typed.tools.as_ref().or(files.tools.as_ref()) {
        sources.tools = Some(tools(path, dialect)?);
    }
    if let Some(path) = typed.resources.as_ref().or(files.resources.as_ref()) {
        sources.resources = Some(structured::<Resources>(path)?.0);
    }
    if let Some(path) = typed.state.as_ref().or(files.state.as_ref()) {
        sources.state = Some(structured::<State>(path)?);
    }
    let cwd = typed.cwd.as_deref();
    if let Some(cwd) = cwd {
        let mut rules = rules.clone();
        rules.scan |= typed.scan;
        let workspace = Workspace::find(cwd, &rules.markers).map_err(|error| wrong(error.to_string()))?;
        let session = given(typed.instructions.iter())?.unwrap_or_default();
        let dirs = skill_dirs(&workspace, typed, files, &rules);
        found(&dirs, &mut sources);
        sources.instructions = Some(Instructions { workspace, rules, session });
    } else if !typed.instructions.is_empty() || typed.scan {
        return Err(wrong("--instructions and --scan need --cwd DIR, the place they are for"));
    } else if !typed.skills.is_empty() || !files.skills.is_empty() {
        let dirs: Vec<PathBuf> = typed.skills.iter().chain(&files.skills).cloned().collect();
        found(&dirs, &mut sources);
    }
    if !is_past {
        let place = cwd.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
        let named = files.providers.iter();
        sources.providers = named
            .map(|one| StateProvider::command(one.name.as_str(), one.command.clone(), place.clone()))
            .collect();
    }
    Ok(sources)
}

/// Where skills are: those that were named, those of the project, those of the person.
fn skill_dirs(
    workspace: &Workspace,
    typed: &SourceArgs,
    files: &SourceFiles,
    rules: &InstructionRules,
) -> Vec<PathBuf> {
    let named = typed.skills.iter().chain(&files.skills).cloned();
    let project = workspace.root.join(".claude/skills");
    let person = rules.home.iter().map(|home| home.join(".claude/skills"));
    named.chain([project]).chain(person).collect()
}

/// The skills in these directories; what is to be said of those that cannot be used goes into the report.
fn found(dirs: &[PathBuf], sources: &mut Sources) {
    let (skills, mut findings) = skills(dirs);
    sources.findings.append(&mut findings);
    let skill = |file: SkillFile| Skill { name: file.name, description: file.description, body: file.body };
    sources.skills = Some(skills.into_iter().map(skill).collect());
}

fn given<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Option<Vec<Given>>, Failure> {
    let read = |path: &PathBuf| Ok(Given { name: path.to_string_lossy().into_owned(), text: read(path)? });
    let given: Vec<Given> = paths.map(read).collect::<Result<_, Failure>>()?;
    Ok((!given.is_empty()).then_some(given))
}

/// A list of resources, or an object that has one, as MCP's `resources/list` answers.
struct Resources(Vec<Resource>);

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ResourcesVisitor).map(Self)
    }
}

/// Not an untagged enum: that could not say what is wrong, nor where.
struct ResourcesVisitor;

impl<'de> Visitor<'de> for ResourcesVisitor {
    type Value = Vec<Resource>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of resources, or an object with `resources`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let listed = Vec::<Listed>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(listed.into_iter().map(Resource::from).collect())
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Table {
            resources: Vec<Listed>,
        }
        let table = Table::deserialize(MapAccessDeserializer::new(table))?;
        Ok(table.resources.into_iter().map(Resource::from).collect())
    }
}

/// A resource as it stands in a file: with the fields of MCP's `Resource`, those of no use here included.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    uri: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    text: Option<String>,
    #[serde(default)]
    pinned: bool,
    title: Option<String>,
    #[serde(rename = "mimeType")]
    _mime_type: Option<IgnoredAny>,
    #[serde(rename = "size")]
    _size: Option<IgnoredAny>,
    #[serde(rename = "annotations")]
    _annotations: Option<IgnoredAny>,
    #[serde(rename = "icons")]
    _icons: Option<IgnoredAny>,
    #[serde(rename = "_meta")]
    _meta: Option<IgnoredAny>,
}

impl From<Listed> for Resource {
    fn from(listed: Listed) -> Self {
        let Listed { uri, name, description, text, pinned, title, .. } = listed;
        Self { uri, name: title.unwrap_or(name), description, text, pinned }
    }
}

/// A file of JSON, or of TOML if its name says so.
fn structured<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = read(path)?;
    let refused = |why: String| wrong(format!("{}: {why}", path.display()));
    if path.extension().is_some_and(|end| end == "toml") {
        return toml::from_str(&text).map_err(|error| refused(error.to_string()));
    }
    serde_json::from_str(&text).map_err(|error| refused(error.to_string()))
}

/// A tool in our form.
#[derive(Deserialize)]
struct OwnTool {
    name: Box<str>,
    #[serde(default)]
    description: Box<str>,
    schema: Box<RawValue>,
    #[serde(default)]
    extra: Extra,
    #[serde(default)]
    deferred: bool,
}

impl From<OwnTool> for OfferedTool {
    fn from(own: OwnTool) -> Self {
        let OwnTool { name, description, schema, extra, deferred } = own;
        // Our own form has the schema's text; the schema itself is what people write.
        let schema = serde_json::from_str(schema.get()).unwrap_or_else(|_| schema.get().into());
        Self { tool: Tool { name, description, schema, extra }, deferred }
    }
}

/// Tools from a file: a JSON array in a provider's form, or in ours. `"deferred": true` beside a tool of ours names it only.
fn tools(path: &Path, dialect: Option<Dialect>) -> Result<Vec<OfferedTool>, Failure> {
    let text = read(path)?;
    let refused = |why: &str| {
        let form = "not a JSON array of tools in Anthropic's, OpenAI's or the neutral form";
        wrong(format!("{}: {form}{why}", path.display()))
    };
    // Anything else inside a request would be taken for a request without tools.
    serde_json::from_str::<Vec<serde_json::Map<String, Value>>>(&text)
        .map_err(|error| refused(&format!(": {error}")))?;
    if let Ok(own) = serde_json::from_str::<Vec<OwnTool>>(&text) {
        return Ok(own.into_iter().map(OfferedTool::from).collect());
    }
    let request = format!("{{\"model\":\"m\",\"max_tokens\":1,\"messages\":[],\"tools\":{text}}}");
    let candidates = [dialect.unwrap_or(Dialect::Anthropic), Dialect::Anthropic, Dialect::OpenaiChat];
    let decoded = candidates.into_iter().find_map(|dialect| {
        let request = wunderblock_wire::decode(dialect, request.as_bytes()).ok()?;
        let known = request.tools.iter().all(|tool| !tool.name.is_empty());
        known.then(|| request.tools.into_iter().map(OfferedTool::from).collect())
    });
    decoded.ok_or_else(|| refused("; every tool needs a name in the same form"))
}
