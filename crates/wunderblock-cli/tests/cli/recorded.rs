//! A ledger of the first format, upgraded by a program that is killed meanwhile.
//!
//! `WUNDERBLOCK_TEST_UPGRADES` says how many copies are upgraded (default 4), each by a program that is killed ten times;
//! `WUNDERBLOCK_TEST_SEED` from which numbers the moments are drawn.

use crate::crash::{Draw, setting};
use crate::desk::Desk;
use std::time::Duration;
use wunderblock::store::sqlite::Access;
use wunderblock_testkit::recorded::{compare, manifest, unpack};

#[test]
fn an_upgrade_that_is_killed_loses_nothing() {
    let copies = setting("WUNDERBLOCK_TEST_UPGRADES", 4);
    let seed = setting("WUNDERBLOCK_TEST_SEED", 1);
    let mut draw = Draw(seed ^ 0x0f02);
    let manifest = manifest().unwrap();
    for copy in 0..copies {
        let desk = Desk::bare();
        let path = unpack(desk.folder()).unwrap();
        for _ in 0..10 {
            // Opens the ledger for writing, and has nothing else to do.
            let mut child = desk.start(&["append", "nothing"]);
            drop(child.stdin.take());
            std::thread::sleep(Duration::from_micros(draw.below(40_000)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let access = if copy % 2 == 0 { Access::Write } else { Access::Read };
        if access == Access::Read {
            desk.run(&["append", "nothing"]).exits(0);
        }
        let differences = compare(&path, access, &manifest).unwrap();
        assert!(differences.is_empty(), "copy {copy} of seed {seed}: {differences:#?}");
        desk.run(&["sessions"]).exits(0);
    }
}
