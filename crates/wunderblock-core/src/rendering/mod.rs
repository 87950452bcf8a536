//! From a plan to a request: its texts in order, the line about each of them, and the report.

pub mod describe;
pub mod line;
pub mod preamble_text;
pub mod render;
pub mod report;
