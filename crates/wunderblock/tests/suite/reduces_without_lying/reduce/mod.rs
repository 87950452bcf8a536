//! Large tool output that enters requests in a shorter form: reduced once, permanently the same, and always with a
//! way back.
//!
//! Separate tests cover the reducers. These tests only require that the outputs below become shorter.

mod alone;
mod crowd;
mod scene;
mod story;
mod told;
