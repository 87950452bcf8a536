//! Functions of a text alone: the literals in it, whether another text contains them, and the word that somebody
//! probably meant.

pub mod grounding;
pub mod literal;
pub mod nearest;
