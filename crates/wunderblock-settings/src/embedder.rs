//! Resolves the model that embeds texts, and the scopes whose texts it may get.

use crate::error::SettingsError;
use crate::filter::projects;
use crate::home::Person;
use crate::sections::Section;
use crate::sections::embedder::EmbedderKeys;
use std::path::Path;
use std::sync::Arc;
use wunderblock::Config;
use wunderblock::embedder::{ChosenScopes, Embedder, EmbeddingModel, HttpEmbedder};
use wunderblock::model::{ApiKey, Endpoint};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Millis;

/// Returns the embedder of a section, if it names one.
pub(crate) fn embedder(keys: &EmbedderKeys, config: &Config) -> Result<Option<Arc<Embedder>>, SettingsError> {
    let (Some(kind), Some(name)) = (keys.kind, keys.model.clone()) else { return Ok(None) };
    // A provider says that a key is missing, so a program that sends nothing needs none.
    let key = keys.key.as_ref().and_then(|name| std::env::var(name).ok()).map(|key| ApiKey::new(&key));
    let mut endpoint = Endpoint::new(Dialect::OpenaiChat, key);
    endpoint.base_url = keys.url.clone().unwrap_or_default();
    let model = EmbeddingModel { api: kind.into(), name, dimensions: keys.dimension };
    let limits = HttpEmbedder::limits(Millis(i64::from(keys.seconds) * 1_000));
    let model = HttpEmbedder::new(&endpoint, model, limits, Arc::clone(&config.redactor))
        .map_err(|error| SettingsError::value(format!("[{}]: {error}", EmbedderKeys::NAME)))?;
    let home = Person::here().map(|person| person.home);
    let mut scopes = ChosenScopes { users: keys.users.clone(), projects: Vec::new() };
    for project in &keys.projects {
        let folder = match (project.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
            _ => project.clone(),
        };
        // A relative path would depend on the working folder.
        let is_folder = Path::new(&folder).is_absolute();
        scopes.projects.extend(if is_folder { projects(&folder)? } else { vec![folder] });
    }
    Ok(Some(Arc::new(Embedder::new(Arc::new(model), scopes, keys.floor))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets what it does not expect fails")]
mod tests {
    use super::*;
    use crate::sections::embedder::EmbedderKind;

    #[test]
    fn only_a_model_that_is_named_is_used_and_its_address_is_checked() {
        let config = Config::default();
        assert!(embedder(&EmbedderKeys::default(), &config).unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        let keys = EmbedderKeys {
            kind: Some(EmbedderKind::Ollama),
            model: Some("m".to_owned()),
            projects: vec!["a/b".to_owned(), folder.path().to_string_lossy().into_owned()],
            ..EmbedderKeys::default()
        };
        let found = format!("{:?}", embedder(&keys, &config).unwrap().unwrap());
        let name = dunce::canonicalize(folder.path()).unwrap().to_string_lossy().into_owned();
        assert!(found.contains("ollama/m") && found.contains("\"a/b\"") && found.contains(&name), "{found}");
        let keys = EmbedderKeys { url: Some("localhost:11434".to_owned()), ..keys };
        let error = embedder(&keys, &config).unwrap_err().to_string();
        assert!(error.contains("[embedder]") && error.contains("localhost:11434"), "{error}");
    }
}
