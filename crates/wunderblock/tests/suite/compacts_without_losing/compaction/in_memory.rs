//! A lane in memory is compacted as the ledger's lane is, by every policy, and with its hooks.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::in_memory::MemoryLane;
use wunderblock::{Built, CompactionResult, Compactor, ContextOptions, Hook};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Millis;

fn copy(scene: &Scene) -> MemoryLane {
    block_on(scene.session.lane(LaneId::main()).in_memory()).unwrap()
}

/// What was done for a request.
fn done(built: &Built) -> Option<(CompactionResult, Vec<String>)> {
    let compacted = built.compacted.as_ref()?;
    let texts = compacted.nodes.iter().map(|node| format!("{}-{}: {}", node.from, node.to, node.text));
    Some((compacted.outcome.clone(), texts.collect()))
}

#[test]
fn every_policy_compacts_a_lane_in_memory_as_in_the_ledger() {
    for policy in active() {
        let options = under(&policy, 12_000);
        let (scene, mut compactions) = (Scene::of(10), 0);
        for at in 0..2 {
            scene.turns(10 + 20 * at..30 + 20 * at);
            let mut memory = copy(&scene);
            let (ledger, built) = (scene.build(&options), memory.context(&options).unwrap());
            assert_eq!(done(&built), done(&ledger), "{}, request {at}", policy.name);
            assert!(built.draft.body == ledger.draft.body, "{}, request {at}", policy.name);
            assert_eq!(built.recorded, ledger.recorded, "{}, request {at}", policy.name);
            compactions += u64::from(built.compacted.is_some());
        }
        assert!(compactions > 0, "{}", policy.name);
    }
}

/// The ledger reads a long session only as far back as a window reaches, and sweeps what precedes that. A lane in memory
/// sees all of it at once.
#[test]
fn a_cold_session_is_covered_in_memory_as_in_the_ledger() {
    let (policy, scene) = (preset("balanced"), Scene::of(160));
    let options = under(&policy, 12_000);
    let mut memory = copy(&scene);
    for built in [scene.build(&options), memory.context(&options).unwrap()] {
        assert_eq!(built.draft.report.uncovered(), [], "{:?}", done(&built));
        let nodes = built.compacted.unwrap().nodes;
        assert!(nodes.iter().any(|node| node.from.0 == 2), "{nodes:?}");
    }
}

#[test]
fn a_hook_can_say_no_in_memory_too() {
    let scene = Scene::of(40);
    let mut memory = copy(&scene);
    let argv = ["sh", "-c", "echo 'not now' >&2; exit 2"].map(ToOwned::to_owned).to_vec();
    let hook = Hook { argv, before: true, time: Millis(20_000) };
    let policy = preset("balanced");
    let compactor = Compactor { hooks: vec![hook], ..Compactor::new(Arc::clone(&policy)) };
    let options = ContextOptions { compactor: Some(compactor), ..window(12_000) };
    let built = memory.context(&options).unwrap();
    let vetoed = CompactionResult::Vetoed("`sh` said no: not now".to_owned());
    assert_eq!(built.compacted.unwrap().outcome, vetoed);
    let explained = copy(&scene).explain(&options).unwrap();
    assert_eq!(explained.compacted.unwrap().outcome, CompactionResult::WouldCompact, "no hook runs");
}
