//! Standing rules of the user in a request: quotes from turns that are not shown, in one message before the
//! summaries.

use crate::lane::view::View;
use crate::planning::cost;
use crate::ports::{Bodies, CostModel};
use crate::record::decision::{Quote, Trim};
use crate::record::message::{Message, Part, Role};
use crate::units::Cost;

/// Returns the words of a quote; `None` if the entry is erased or hidden, or its text is not available.
#[must_use]
pub fn words<'a>(quote: &Quote, view: &'a View, bodies: &'a dyn Bodies) -> Option<&'a str> {
    if view.hidden().contains(&quote.at.0) {
        return None;
    }
    let Part::Text { text, .. } = view.part(quote.at)? else { return None };
    let range = usize::try_from(quote.from.0).ok()?..usize::try_from(quote.to.0).ok()?;
    bodies.of(text)?.get(range)
}

/// Returns the maximum cost of a rule.
#[must_use]
pub fn cost(words: &str, costs: &dyn CostModel) -> Cost {
    costs.text(&format!("\n{words}"))
}

/// Returns the message that shows the rules of a trim, one per line, in the order in which they were said; `None` if
/// no rule can be shown. The message has no positions, because they are in the trim and would take a fifth of the
/// room.
#[must_use]
pub fn message(trim: &Trim, view: &View, bodies: &dyn Bodies) -> Option<Message> {
    let quotes = trim.rules.quotes.iter().filter_map(|quote| words(quote, view, bodies));
    let text = quotes.fold(HEADING.to_owned(), |text, words| text + "\n" + words);
    (text.len() > HEADING.len()).then(|| Message::text(Role::User, text))
}

/// Returns the cost of the message with a trim's rules.
#[must_use]
pub fn total(trim: &Trim, view: &View, bodies: &dyn Bodies, costs: &dyn CostModel) -> Cost {
    message(trim, view, bodies).map_or(Cost::ZERO, |message| cost::message(&message, costs))
}

/// Heading before the quotes. The quotes have the user's authority, like the turns that they quote.
pub const HEADING: &str = "⟨What the user said that may hold for all that comes, word for word. Of two that contradict each other the later holds.⟩";
