//! Policy files: the presets, invalid files and their messages, lossless conversion to a file and back, and the
//! effect of each preset on a fixed session.

mod documented;
mod presets;
mod refused;
mod round_trip;
mod traces;
