//! Definitions of delegates: 1,000 of them in 50 plugins, read and resolved by a new process, and again in the same one.

use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, note};
use crate::program::{ChoreResult, Sandbox};
use serde_json::{Map, Value, json};
use std::fs::{create_dir_all, write};
use std::path::Path;
use wunderblock::catalog::Catalog;
use wunderblock::definitions::{DefinitionCache, DefinitionQuery, DelegateRules, definitions};
use wunderblock::machine::Places;
use wunderblock::{DelegateCall, core::delegate::registry::Found};

/// Number of plugins, and of definitions in each.
const PLUGINS: usize = 50;
const EACH: usize = 20;
const ROUNDS: usize = 30;
/// Type that is resolved, and its parent's model.
const TYPE: &str = "plugin7:team:agent5";
const PARENT: &str = "claude-opus-5-5";

pub(in crate::bench) fn run(program: &Path, folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  delegates");
    let sandbox = Sandbox::new(program, folder)?;
    prepare(&sandbox)?;
    let (home, all) = (sandbox.path("."), PLUGINS * EACH);
    let args = ["agents", "resolve", "--type", TYPE, "--parent-model", PARENT];
    let fresh = Durations::of(ROUNDS, || sandbox.bytes(&args))?;
    let places = Places { home: home.clone(), ..Places::default() };
    let query = DefinitionQuery { places, folder: home, ..DefinitionQuery::default() };
    let (cache, rules, catalog) = (DefinitionCache::default(), DelegateRules::default(), Catalog::embedded());
    let resolve = || -> ChoreResult<Box<str>> {
        let found = definitions(&query, &cache);
        let registry = found.products.get("claude-code").ok_or("no definitions were read")?;
        let Found::One(definition) = registry.find(TYPE) else {
            return Err("the type is not defined".into());
        };
        let call = DelegateCall { parent: PARENT, ..DelegateCall::default() };
        Ok(call.route(Some(definition), &rules, &catalog).model)
    };
    // What has just been written is read again, in case it changes within the same tick of the clock.
    std::thread::sleep(std::time::Duration::from_millis(200));
    resolve()?;
    let warm = Durations::of(ROUNDS, resolve)?;
    Ok(vec![
        Figure::millis(all, "delegates: read and resolved in a new process, p50", fresh.percentile(50))
            .at_most(80.0),
        Figure::millis(all, "delegates: read and resolved again, p50", warm.percentile(50)).at_most(5.0),
    ])
}

fn prepare(sandbox: &Sandbox) -> ChoreResult<()> {
    let (mut installed, mut enabled) = (Map::new(), Map::new());
    for plugin in 0..PLUGINS {
        let folder = sandbox.path(&format!(".claude/plugins/cache/m/plugin{plugin}/1"));
        create_dir_all(folder.join("agents/team"))?;
        create_dir_all(folder.join(".claude-plugin"))?;
        let manifest = json!({ "name": format!("plugin{plugin}"), "version": "1.0.0" });
        write(folder.join(".claude-plugin/plugin.json"), manifest.to_string())?;
        for agent in 0..EACH {
            let inner = if agent % 2 == 0 { "agents" } else { "agents/team" };
            let model = if agent % 3 == 0 { "inherit" } else { "sonnet" };
            let text = format!(
                "---\nname: agent{agent}\ndescription: Reviews changes of kind {agent} in area {plugin} and reports each finding with its place.\n\
                 tools: Glob, Grep, Read, TodoWrite, Bash(git diff:*)\nmodel: {model}\ncolor: red\n---\n{}",
                "Read the whole file first, then its callers, and name what you could not check.\n"
                    .repeat(40)
            );
            write(folder.join(inner).join(format!("agent{agent}.md")), text)?;
        }
        let id = format!("plugin{plugin}@m");
        installed.insert(id.clone(), json!([{ "scope": "user", "installPath": folder }]));
        enabled.insert(id, Value::Bool(true));
    }
    let list = json!({ "version": 2, "plugins": installed });
    write(sandbox.path(".claude/plugins/installed_plugins.json"), list.to_string())?;
    Ok(write(sandbox.path(".claude/settings.json"), json!({ "enabledPlugins": enabled }).to_string())?)
}
