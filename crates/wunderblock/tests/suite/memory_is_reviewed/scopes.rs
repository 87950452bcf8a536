//! Whose memories a scope reads. Each refusal has a positive control.

use super::*;

#[test]
fn a_scope_reads_wider_ones_and_none_of_others() {
    let (_home, engine) = home();
    let everybody = engine.memory(Scope::default());
    let ada_everywhere = engine.memory(scope(Some("ada"), None));
    let shop = engine.memory(scope(None, Some("shop")));
    let ada_in_shop = engine.memory(scope(Some("ada"), Some("shop")));
    let bob_in_shop = engine.memory(scope(Some("bob"), Some("shop")));
    let ada_in_forge = engine.memory(scope(Some("ada"), Some("forge")));
    let adam = engine.memory(scope(Some("adam"), Some("shop")));
    for (memories, text) in [
        (&everybody, "1 everybody"),
        (&ada_everywhere, "2 ada"),
        (&shop, "3 shop"),
        (&ada_in_shop, "4 ada in shop"),
        (&bob_in_shop, "5 bob in shop"),
        (&ada_in_forge, "6 ada in forge"),
    ] {
        told(memories, text);
    }
    assert_eq!(texts(&ada_in_shop), ["1 everybody", "2 ada", "3 shop", "4 ada in shop"]);
    assert_eq!(texts(&bob_in_shop), ["1 everybody", "3 shop", "5 bob in shop"]);
    assert_eq!(texts(&ada_in_forge), ["1 everybody", "2 ada", "6 ada in forge"]);
    assert_eq!(texts(&adam), ["1 everybody", "3 shop"]);
    assert_eq!(texts(&everybody), ["1 everybody"]);
    // Names resolve in scope only.
    let bobs = shown(&bob_in_shop).into_iter().find(|memory| memory.scope.user.is_some()).unwrap().memory;
    assert!(block_on(bob_in_shop.show(bobs.clone())).is_ok());
    for others in [&ada_in_shop, &adam, &everybody] {
        assert!(block_on(others.show(bobs.clone())).is_err());
        assert!(block_on(others.history(bobs.clone())).is_err());
        let reason = wunderblock_core::memory::ForgetReason::Asked;
        assert!(block_on(others.forget(vec![bobs.clone()], reason, ada(), false)).is_err());
    }
    assert_eq!(texts(&bob_in_shop).len(), 3);
}

#[test]
fn a_memory_log_is_not_a_session() {
    let (_home, engine) = home();
    told(&memories(&engine), "The port is 8080");
    let listed = block_on(engine.streams("", 9)).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(block_on(engine.find_session("memory")).is_err());
}
