//! What a lane could show: its view, folded from events, the exchanges of the view, and the consequences of a trim.

pub mod arrangement;
pub mod pair;
pub mod restate;
pub mod thinking;
pub mod trim;
pub mod view;
