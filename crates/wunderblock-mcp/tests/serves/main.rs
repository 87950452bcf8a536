//! Drives the server over a pair of pipes, line by line, as a client does.

mod bad_input;
mod resources;
mod scene;
mod tool_list;
mod tools;
