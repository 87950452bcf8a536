//! Parses resources from a file: a list, or the answer of an MCP server.

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use wunderblock::Resource;

/// A list of resources, or an object that contains one, like MCP's answer to `resources/list`.
#[derive(Default)]
pub(crate) struct Resources(pub(crate) Vec<Resource>);

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ResourcesVisitor).map(Self)
    }
}

/// Visitor for both forms. An untagged enum could not report what is wrong, or where.
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

/// A resource in a file. Accepts all fields of MCP's `Resource`, including those that are not used here.
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
