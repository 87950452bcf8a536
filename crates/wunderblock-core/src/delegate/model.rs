//! Names of models: families with their aliases and tiers, and the forms that providers give to ids.
//!
//! A delegate runs at its parent's provider. An alias of the parent's family therefore means the parent's own id, and
//! any other alias means an id in the form of that provider.

use super::tools::matches_wildcards;
use std::collections::BTreeMap;

/// Word for the parent's model.
pub const INHERIT: &str = "inherit";

/// Region prefixes of inference profiles on Amazon Bedrock.
const REGIONS: [&str; 8] = ["us-gov", "us", "eu", "apac", "jp", "au", "ca", "global"];

/// Models that follow each other under one alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFamily {
    /// Alias, for example `opus`.
    pub name: Box<str>,
    /// Vendor of the models.
    pub vendor: Box<str>,
    /// Size of the models among those of the vendor: `large`, `medium` or `small`.
    pub tier: Box<str>,
    /// Pattern of the family's ids at any provider, in lower case, in which `*` matches any characters.
    pub pattern: Box<str>,
    /// Versions, newest first.
    pub versions: Vec<ModelVersion>,
}

/// Version of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelVersion {
    /// Id at the vendor.
    pub id: Box<str>,
    /// Id on Amazon Bedrock, without region; `None` if it is unknown.
    pub bedrock: Option<Box<str>>,
    /// Id on Google Vertex AI; `None` if it is unknown.
    pub vertex: Option<Box<str>>,
}

/// All families, and the caller's aliases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTable {
    /// Families. If an id matches several patterns, the first family counts.
    pub families: Vec<ModelFamily>,
    /// The caller's aliases, in lower case, each with an id, another alias or a tier.
    pub aliases: BTreeMap<Box<str>, Box<str>>,
}

/// Provider that serves a model, as its id shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider<'a> {
    /// The vendor.
    Vendor,
    /// Amazon Bedrock, with the region of the inference profile.
    Bedrock(Option<&'a str>),
    /// Google Vertex AI.
    Vertex,
    /// A gateway whose ids begin with this prefix, such as `anthropic/`.
    Gateway(&'a str),
}

/// Id that a name means, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedModel {
    /// Id to send to the provider.
    pub id: Box<str>,
    /// Reason why the name means this id.
    pub why: NameReason,
}

/// Reason why a name means an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameReason {
    /// The name is `inherit`.
    Inherited,
    /// The alias is that of the parent's family, so the parent's id is used.
    SameFamily,
    /// The alias or tier means the newest version of the family that the parent's provider is known to have.
    Newest,
    /// The name is an id, and is used as it is.
    Explicit,
    /// The name is an id without a region, which was carried over from the parent.
    RegionCarried,
}

impl NameReason {
    /// Returns the reason in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Inherited => "the parent's",
            Self::SameFamily => "the parent's family: its exact id",
            Self::Newest => "newest known at its provider",
            Self::Explicit => "an id, unchanged",
            Self::RegionCarried => "an id, in the parent's region",
        }
    }
}

impl ModelTable {
    /// Returns the family of an id at any provider.
    #[must_use]
    pub fn family_of(&self, id: &str) -> Option<&ModelFamily> {
        let id = id.to_lowercase();
        self.families.iter().find(|family| matches_wildcards(&family.pattern, &id))
    }

    /// Returns the id that a name means in a delegate of a parent with the model `parent`; `None` if the name is an
    /// alias or a tier for which no id at the parent's provider is known.
    #[must_use]
    pub fn named(&self, name: &str, parent: &str) -> Option<NamedModel> {
        let name = self.aliases.get(&*name.to_lowercase()).map_or(name, |target| target).trim();
        let lower = name.to_lowercase();
        let of = |id: String, why| Some(NamedModel { id: id.into(), why });
        if lower == INHERIT {
            return of(parent.to_owned(), NameReason::Inherited);
        }
        // A suffix such as `[1m]` asks for a window, and belongs to the request rather than to the name.
        let (base, suffix) = lower.find('[').map_or((&*lower, ""), |at| lower.split_at(at));
        let own = self.family_of(parent);
        let by_name = |family: &&ModelFamily| &*family.name == base;
        let by_tier = |family: &&ModelFamily| {
            own.is_some_and(|own| own.vendor == family.vendor) && &*family.tier == base
        };
        let is_tier = self.families.iter().any(|family| &*family.tier == base);
        let families = || self.families.iter();
        let Some(family) = families().find(by_name).or_else(|| families().find(by_tier)) else {
            return if is_tier { None } else { of_id(name, parent) };
        };
        if suffix.is_empty() && own.is_some_and(|own| own.name == family.name) {
            return of(parent.to_owned(), NameReason::SameFamily);
        }
        let id = family.versions.iter().find_map(|version| at_parents(version, family, parent, own))?;
        of(format!("{id}{suffix}"), NameReason::Newest)
    }

    /// Returns the newest version of an id's family that `permits` accepts, in the form of the parent's provider.
    pub(super) fn permitted(&self, id: &str, parent: &str, permits: impl Fn(&str) -> bool) -> Option<String> {
        let family = self.family_of(id)?;
        let own = self.family_of(parent);
        let at = |version| at_parents(version, family, parent, own);
        family.versions.iter().filter_map(at).find(|id| permits(id))
    }
}

fn of_id(name: &str, parent: &str) -> Option<NamedModel> {
    match (provider(name), provider(parent)) {
        (Provider::Bedrock(None), Provider::Bedrock(Some(region))) if !name.starts_with("arn:") => {
            Some(NamedModel { id: format!("{region}.{name}").into(), why: NameReason::RegionCarried })
        }
        _ => Some(NamedModel { id: name.into(), why: NameReason::Explicit }),
    }
}

/// Returns the id of a version at the provider of the parent, or `None` if that provider is not known to have it.
fn at_parents(
    version: &ModelVersion,
    family: &ModelFamily,
    parent: &str,
    own: Option<&ModelFamily>,
) -> Option<String> {
    let same_vendor = own.is_none_or(|own| own.vendor == family.vendor);
    match provider(parent) {
        Provider::Vendor => same_vendor.then(|| version.id.to_string()),
        Provider::Gateway(prefix) if same_vendor => Some(format!("{prefix}{}", version.id)),
        Provider::Gateway(prefix) => {
            let vendor = format!("{}/", own?.vendor);
            let before = prefix.strip_suffix(&vendor)?;
            Some(format!("{before}{}/{}", family.vendor, version.id))
        }
        Provider::Vertex => version.vertex.as_deref().map(ToOwned::to_owned),
        Provider::Bedrock(region) => {
            let id = version.bedrock.as_deref()?;
            Some(region.map_or_else(|| id.to_owned(), |region| format!("{region}.{id}")))
        }
    }
}

fn provider(id: &str) -> Provider<'_> {
    let arn = id.starts_with("arn:");
    if !arn && let Some((before, _)) = id.rsplit_once('/') {
        return Provider::Gateway(id.get(..=before.len()).unwrap_or_default());
    }
    // The id of a profile ends its ARN: `arn:aws:bedrock:REGION:ACCOUNT:inference-profile/us.anthropic.claude-…`.
    let profile = id.rsplit('/').next().unwrap_or(id);
    let region = REGIONS.into_iter().find_map(|region| {
        profile
            .strip_prefix(region)
            .is_some_and(|rest| rest.starts_with('.'))
            .then(|| profile.get(..region.len()))
    });
    let bare = region.flatten().and_then(|region| profile.get(region.len() + 1..)).unwrap_or(profile);
    let vendor = bare.split_once('.').map(|(vendor, _)| vendor);
    let is_vendor = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    if arn || vendor.is_some_and(is_vendor) {
        return Provider::Bedrock(region.flatten());
    }
    if id.contains('@') { Provider::Vertex } else { Provider::Vendor }
}
