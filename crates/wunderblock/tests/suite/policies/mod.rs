//! Policy files: the presets, what is refused and in which words, that nothing is lost on the way through a file, and what
//! each preset must do with a fixed session.

// A test that cannot go on stops.
mod documented;
mod presets;
mod refused;
mod round_trip;
mod traces;
