//! What most programs need: `use wunderblock::prelude::*;`.

pub use crate::{
    Built, Config, ContextOptions, Draft, Engine, Error, ErrorKind, Hint, IntoEvents, Model, Session,
};
pub use wunderblock_core::event::{Event, Fact, NewEvent};
pub use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
pub use wunderblock_core::message::{Dialect, Message, Part, Role};
pub use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
