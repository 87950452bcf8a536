//! SWE-agent logs, in which the environment's output and a demonstration both have the user's role.

use crate::transcript::parsing::object::Object;
use wunderblock_core::message::{Message, MessageOrigin, Role};

/// Prompt of the shell. Output of the environment ends with this prompt.
const PROMPT: &str = "bash-$";

/// Marks a message as injected if it has the user's role but did not come from the user. `replied` is whether the
/// model has spoken in this conversation. Before the model has spoken, a message that ends with the prompt is the
/// task.
pub(super) fn mark(message: &mut Message, object: &Object<'_>, replied: &mut bool) {
    let shows = || object.text("content").is_some_and(|text| text.trim_end().ends_with(PROMPT));
    let what = match message.role {
        Role::User if object.flag("is_demo") => Some("demonstration"),
        Role::User if *replied && shows() => Some("environment"),
        _ => None,
    };
    if let Some(what) = what {
        message.standing = MessageOrigin::Injected(what.into());
    }
    *replied |= message.role == Role::Assistant;
}
