//! Families of models, from the data file.

use serde::Deserialize;
use std::sync::LazyLock;
use wunderblock_core::delegate::model::{ModelFamily, ModelTable, ModelVersion};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyTable {
    family: Vec<FamilyRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyRow {
    name: Box<str>,
    vendor: Box<str>,
    tier: Box<str>,
    pattern: Box<str>,
    versions: Vec<VersionRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionRow {
    id: Box<str>,
    bedrock: Option<Box<str>>,
    vertex: Option<Box<str>>,
}

static TABLE: LazyLock<ModelTable> = LazyLock::new(|| {
    let table: Result<FamilyTable, _> = toml::from_str(include_str!("models.toml"));
    let families = table.map(|table| table.family).unwrap_or_default().into_iter().map(family).collect();
    ModelTable { families, ..ModelTable::default() }
});

/// Returns the known families of models, without aliases of a caller.
#[must_use]
pub fn model_table() -> &'static ModelTable {
    &TABLE
}

fn family(row: FamilyRow) -> ModelFamily {
    let FamilyRow { name, vendor, tier, pattern, versions } = row;
    let version = |VersionRow { id, bedrock, vertex }| ModelVersion { id, bedrock, vertex };
    ModelFamily { name, vendor, tier, pattern, versions: versions.into_iter().map(version).collect() }
}
