pub const VERSION: u32 = 3;
