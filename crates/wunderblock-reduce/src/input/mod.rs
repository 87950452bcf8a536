//! A text before its kind is known: the controls of a terminal, and what agents and runners of CI put around it.

pub(super) mod ci_log;
pub(super) mod frame;
pub(super) mod source;
pub(super) mod terminal;
