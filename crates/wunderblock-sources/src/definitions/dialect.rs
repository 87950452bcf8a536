//! Fields of definitions, product by product, and the definition that they make.

use super::value::{Fields, Value};
use wunderblock_core::delegate::definition::{AgentDefinition, Origin};
use wunderblock_core::delegate::tools::{ToolPattern, ToolRules};

/// Names of a product's fields. An empty name is that of a field that the product does not have.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) product: &'static str,
    /// Field with the prompt, if the prompt is not the text after the front matter.
    prompt: &'static str,
    effort: &'static str,
    denied: &'static str,
    requires: &'static str,
    permissions: &'static str,
    omits_instructions: &'static str,
    max_turns: &'static [&'static str],
    /// Other fields of the product, which are shown as written.
    others: &'static [&'static str],
    /// Whether the product rejects a definition with an unknown field.
    strict: bool,
}

/// The products. Sources: `docs/design/0019-delegates.md`.
static DIALECTS: [Dialect; 4] = [
    Dialect {
        product: "claude-code",
        prompt: "prompt",
        effort: "effort",
        denied: "disallowedTools",
        requires: "requiredMcpServers",
        permissions: "permissionMode",
        omits_instructions: "omitClaudeMd",
        max_turns: &["maxTurns"],
        others: &[
            "background",
            "color",
            "experimental",
            "hooks",
            "initialPrompt",
            "isolation",
            "mcpServers",
            "memory",
            "skills",
        ],
        strict: false,
    },
    Dialect {
        product: "gemini-cli",
        prompt: "",
        effort: "",
        denied: "",
        requires: "",
        permissions: "",
        omits_instructions: "",
        max_turns: &["max_turns"],
        others: &[
            "agent_card_json",
            "agent_card_url",
            "auth",
            "display_name",
            "kind",
            "mcp_servers",
            "temperature",
            "timeout_mins",
        ],
        strict: true,
    },
    Dialect {
        product: "codex",
        prompt: "developer_instructions",
        effort: "model_reasoning_effort",
        denied: "",
        requires: "",
        permissions: "sandbox_mode",
        omits_instructions: "",
        max_turns: &[],
        others: &["config_file", "mcp_servers", "model_provider", "nickname_candidates", "profile", "skills"],
        strict: false,
    },
    Dialect {
        product: "opencode",
        prompt: "prompt",
        effort: "reasoningEffort",
        denied: "",
        requires: "",
        permissions: "permission",
        omits_instructions: "",
        max_turns: &["steps", "maxSteps"],
        others: &["color", "disable", "hidden", "mode", "options", "temperature", "top_p", "variant"],
        strict: false,
    },
];

/// Fields that a definition of a third party may not set, besides permissions.
pub(super) const OWNERS_ONLY: [&str; 4] = ["hooks", "initialPrompt", "mcpServers", "mcp_servers"];

/// A definition as read, before its fields have a meaning.
pub(super) struct RawDefinition<'a> {
    /// Name from the path or the key, for products whose fields have no name.
    pub(super) name: String,
    pub(super) fields: &'a Fields,
    /// Text after the front matter.
    pub(super) body: &'a str,
    pub(super) origin: Origin,
}

impl Dialect {
    /// Returns the dialect of a product.
    pub(super) fn of(product: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.product == product)
    }

    /// Returns the definition that fields make, with remarks on fields that do not count.
    ///
    /// # Errors
    /// Returns the reason why the fields make no definition.
    pub(super) fn definition(
        &self,
        raw: RawDefinition<'_>,
    ) -> Result<(AgentDefinition, Vec<String>), String> {
        let RawDefinition { name, fields, body, origin } = raw;
        let mut remarks = Vec::new();
        let third_party = origin.layer.is_third_party();
        let own = |field: &str| !(third_party && (OWNERS_ONLY.contains(&field) || field == self.permissions));
        for field in fields.0.iter().map(|(field, _)| field).filter(|field| !own(field)) {
            remarks.push(format!("`{field}` is left out: a plugin may not set it"));
        }
        for field in fields.0.iter().map(|(field, _)| field).filter(|field| !self.knows(field)) {
            let end = if self.strict { "the product rejects the file" } else { "it is ignored" };
            remarks.push(format!("unknown field `{field}`: {end}"));
        }
        let disabled = fields.flag("disable").unwrap_or(false);
        let description = fields.text("description").map(|text| text.replace("\\n", " "));
        // Claude Code lists an agent of a plugin even if nothing describes it.
        let description = description.or_else(|| third_party.then(|| "Agent of a plugin.".to_owned()));
        let description = description.or_else(|| disabled.then(String::new));
        let description = description.ok_or("has no `description`: nothing says when to use it")?;
        let prompt = fields.text(self.prompt).unwrap_or_else(|| body.trim().to_owned());
        let mut definition = AgentDefinition::new(&name, &one_line(&description), &prompt, origin);
        definition.model = fields.text("model").map(|model| model.trim().into());
        definition.effort = fields.text(self.effort).map(Into::into);
        definition.tools = self.tools(fields);
        let list = |field| fields.get(field).map(Value::items).unwrap_or_default();
        definition.requires = list(self.requires).into_iter().map(Into::into).collect();
        if let Some(permissions) = fields.get(self.permissions).filter(|_| own(self.permissions)) {
            definition.permissions = self.permissions(permissions);
        }
        definition.omits_instructions = fields.flag(self.omits_instructions).unwrap_or(false);
        // The primary agents of OpenCode are chosen by a person.
        definition.hidden =
            fields.flag("hidden").unwrap_or(false) || fields.text("mode").as_deref() == Some("primary");
        definition.disabled = disabled;
        definition.max_turns =
            self.max_turns.iter().find_map(|field| fields.text(field)).and_then(|number| number.parse().ok());
        let shown = self.others.iter().filter(|field| own(field));
        definition.fields =
            shown.filter_map(|field| Some(((*field).into(), fields.get(field)?.shown().into()))).collect();
        Ok((definition, remarks))
    }

    fn knows(&self, field: &str) -> bool {
        let named = [
            "name",
            "description",
            "model",
            "tools",
            self.prompt,
            self.effort,
            self.denied,
            self.requires,
            self.permissions,
            self.omits_instructions,
        ];
        // A role of Codex may have any key of its settings file, and OpenCode hands unknown keys to the provider.
        let open = matches!(self.product, "codex" | "opencode");
        open || named.contains(&field) || self.max_turns.contains(&field) || self.others.contains(&field)
    }

    /// Returns the rules of tools: a list or a string allows, and a map of OpenCode denies. In other products a map, or a field
    /// without a value, allows nothing.
    fn tools(&self, fields: &Fields) -> ToolRules {
        let patterns =
            |names: Vec<String>| names.iter().map(|name| ToolPattern::parse(name)).collect::<Vec<_>>();
        let mut rules = ToolRules::default();
        match fields.get("tools") {
            None => {}
            Some(Value::Map(map)) if self.product == "opencode" => {
                let off = map.0.iter().filter(|(_, value)| *value == Value::Bool(false));
                rules.deny = patterns(off.map(|(name, _)| name.clone()).collect());
            }
            Some(value) => rules.allow = Some(patterns(value.items())),
        }
        if let Some(denied) = fields.get(self.denied) {
            rules.deny.extend(patterns(denied.items()));
        }
        // The wildcards of Gemini CLI begin with one underscore instead of two.
        if self.product == "gemini-cli" {
            let renamed = |rule: &mut ToolPattern| {
                if let Some(rest) = rule.name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_')) {
                    let rest = rest.replacen('_', "__", 1);
                    rule.name = format!("mcp__{rest}").into();
                }
            };
            rules.allow.iter_mut().flatten().chain(&mut rules.deny).for_each(renamed);
        }
        rules
    }

    fn permissions(&self, value: &Value) -> Vec<(Box<str>, Box<str>)> {
        match value {
            Value::Map(map) => {
                map.0.iter().map(|(key, value)| (key.as_str().into(), value.shown().into())).collect()
            }
            other => vec![(self.permissions.into(), other.shown().into())],
        }
    }
}

/// Returns a text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
