//! The list of tools is small, complete and stable, in every version of the protocol.

use crate::scene::Home;
use serde_json::{Value, json};
use wunderblock_tokens::Vocabulary;

/// Maximum size of the list as a model receives it.
const TOKENS: u32 = 1_200;

fn tools() -> Vec<Value> {
    serde_json::from_str(wunderblock_mcp::tool_list()).unwrap()
}

#[test]
fn the_list_costs_a_model_little() {
    let shown: Vec<Value> = tools()
        .iter()
        .map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]})
        })
        .collect();
    let tokens = Vocabulary::O200k.count(&serde_json::to_string(&shown).unwrap());
    assert!(tokens <= TOKENS, "the list of tools has {tokens} tokens; the maximum is {TOKENS}");
}

#[test]
fn every_tool_has_all_annotations_and_closed_schemas() {
    let tools = tools();
    assert!(tools.len() <= 8);
    for tool in &tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{}: {hint}", tool["name"]);
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{}", tool["name"]);
        let required = tool["outputSchema"]["required"].as_array().unwrap();
        assert!(required.contains(&json!("text")), "{}", tool["name"]);
        assert!(tool["description"].as_str().unwrap().len() <= 200, "{}", tool["name"]);
    }
}

#[test]
fn the_list_is_sent_as_it_is_written() {
    let mut client = Home::empty().client();
    let first = client.ask("tools/list", json!({}));
    assert_eq!(first["result"]["tools"], Value::Array(tools()));
    assert_eq!(client.ask("tools/list", json!({}))["result"], first["result"]);
    let listed = serde_json::to_string_pretty(&first["result"]["tools"]).unwrap();
    insta::assert_snapshot!("schemas", listed);
}

#[test]
fn older_and_newer_clients_are_served() {
    let home = Home::with_sessions();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = home.silent_client();
        assert_eq!(client.initialize(version)["protocolVersion"], version);
        let read = client.call("read", json!({"address": "new-session"}));
        let links = read["content"].as_array().unwrap().len() - 1;
        assert_eq!(links, usize::from(version >= "2025-06-18"), "links are known since 2025-06-18");
        assert!(read["resultType"].is_null());
    }
    let mut unknown = home.silent_client();
    assert_eq!(unknown.initialize("2099-01-01")["protocolVersion"], "2025-11-25");

    let mut client = home.silent_client();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "newer", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask("server/discover", json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{found}");
    let listed = client.ask("tools/list", json!({"_meta": meta}));
    assert_eq!(listed["result"]["tools"], Value::Array(tools()));
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_number() && listed["result"]["cacheScope"].is_string(), "{listed}");
    let params = json!({"_meta": meta, "name": "note", "arguments": {"text": "from a newer client"}});
    assert_eq!(client.ask("tools/call", params)["result"]["isError"], false);
    let lines = client.ask(
        "tools/call",
        json!({"_meta": meta, "name": "search", "arguments": {"query": "note by newer", "exact": "text"}}),
    );
    assert_eq!(lines["result"]["structuredContent"]["hits"].as_array().unwrap().len(), 1);
}
