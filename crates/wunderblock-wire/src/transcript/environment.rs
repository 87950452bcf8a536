//! What SWE-agent logs in the role of the user, and nobody said: what its environment shows, and a demonstration.

use super::object::Object;
use wunderblock_core::message::{Message, MessageOrigin, Role};

/// The prompt of a shell, with which what the environment shows ends.
const PROMPT: &str = "bash-$";

/// Marks a message in the user's role that nobody said. `replied`: the model has spoken in this conversation, so the task stands
/// before; it ends with the prompt, too.
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
