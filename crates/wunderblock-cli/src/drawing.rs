//! Drawing on a terminal: its width and colours, columns, and charts; and the page for a browser.

pub(crate) mod chart;
pub(crate) mod columns;
pub(crate) mod page;

pub(crate) mod paint;
pub(crate) mod terminal;
