//! Large tool output enters requests in a shorter form, which is made once, stays the same permanently, and always
//! offers a way back.
//!
//! Separate tests cover the reducers. These tests only require that the outputs below become shorter.

mod alone;
mod crowd;
mod scene;
mod story;
mod told;
