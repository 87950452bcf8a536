//! Items that most programs need: `use wunderblock::prelude::*;`.

pub use crate::{
    Address, Built, Config, ContextOptions, Draft, Engine, Error, ErrorKind, Hint, IntoEvents, Model,
    SearchOptions, Session, Slice,
};
pub use wunderblock_core::event::{Event, Fact, NewEvent};
pub use wunderblock_core::id::{EventId, Handle, HandlePrefix, LaneId, StreamId};
pub use wunderblock_core::message::{Dialect, Message, Part, Role};
pub use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
