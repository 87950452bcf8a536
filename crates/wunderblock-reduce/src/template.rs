//! Lines that say the same thing about different values.
