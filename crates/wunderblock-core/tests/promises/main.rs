//! What core promises, held against random histories and against cases one can read.

mod cases;
mod fit;
mod history;
mod lane;
mod prefix;
mod resume;
mod wellformed;
