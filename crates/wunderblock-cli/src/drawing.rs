//! Drawing on a terminal: its width and colours, columns, and charts.

pub(crate) mod chart;
pub(crate) mod columns;
pub(crate) mod paint;
pub(crate) mod terminal;
