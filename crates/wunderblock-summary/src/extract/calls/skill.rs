//! Finds skills that an agent invokes, either through a dedicated tool or by reading the file that describes the
//! skill.

use super::act::{Deed, argument};
use crate::extract::language::plain::{Escaping, head, line};
use serde::Deserialize;
use std::sync::LazyLock;
use wunderblock_core::units::Seq;
use wunderblock_core::work::InvokedSkill;

/// Words by which invocations are recognised; `skill.toml` explains each field.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillWords {
    tools: Vec<String>,
    names: Vec<String>,
    file: String,
    begins: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<SkillWords> =
    LazyLock::new(|| toml::from_str(include_str!("skill.toml")).unwrap_or_default());

/// Maximum number of bytes kept of a skill's text.
const TEXT: usize = 600;
/// Minimum number of bytes in a skill's text; a shorter result only confirms that the skill exists.
const TEXT_MIN: usize = 200;

/// Returns the skill that a call invokes.
pub(in crate::extract) fn called(name: &str, input: &str, files: &[(Deed, String)]) -> Option<InvokedSkill> {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let called = WORDS.tools.contains(&plain).then(|| argument(input, &WORDS.names)).flatten();
    let read = || {
        let file = files.iter().find(|(deed, _)| *deed == Deed::Read)?;
        let folder = file.1.strip_suffix(WORDS.file.as_str())?.trim_end_matches('/');
        folder.rsplit('/').next().map(str::to_owned)
    };
    let name = called.or_else(read).filter(|name| !name.trim().is_empty())?;
    Some(InvokedSkill { name: head(name.trim(), 80).into(), ..InvokedSkill::default() })
}

/// Records the text of a skill, unless the text only confirms that the skill exists.
pub(in crate::extract) fn read(skill: &mut InvokedSkill, at: Seq, text: &str) {
    let begins = WORDS.begins.iter().any(|begin| text.trim_start().starts_with(begin.as_str()));
    if skill.text.is_empty() && (text.len() >= TEXT_MIN || begins) {
        skill.text = head(&line(head(text, 4 * TEXT).as_ref(), Escaping::Speakers), TEXT).into();
        skill.at = at;
    }
}
