//! Shell commands of agents through `run`: the hook replaces a command before the agent runs it.

use crate::commands::looking::sessions::quoted;
use serde_json::Value;
use wunderblock_wire::hook::UsedTool;

/// Names of the agents' tools that run shell commands.
const TOOLS: [&str; 3] = ["Bash", "bash", "run_shell_command"];
/// Commands whose effect on the agent's own shell would be lost.
const FOLDERS: [&str; 3] = ["cd", "pushd", "popd"];

/// Returns the input of a tool with its command run through this program, as JSON. `None` if the command runs as it is:
/// the tool has none, it changes the folder of the agent's shell, it runs in the background, or it names this program.
pub(in crate::commands) fn through_run(tool: &UsedTool<'_>, program: &str) -> Option<String> {
    if !TOOLS.contains(&tool.name.as_str()) {
        return None;
    }
    let mut input: Value = serde_json::from_str(tool.input?).ok()?;
    let command = input.get("command")?.as_str()?;
    let mut words = command.split(|c: char| !c.is_alphanumeric() && !"_-./".contains(c));
    let is_background =
        ["run_in_background", "is_background"].iter().any(|field| input.get(field) == Some(&true.into()))
            || command.trim_end().ends_with('&');
    if is_background || command.contains("wunderblock") || words.any(|word| FOLDERS.contains(&word)) {
        return None;
    }
    // Models write commands for bash.
    let shell = if is_on_path("bash") { "bash" } else { "sh" };
    let through = format!("{} run -- {shell} -c {}", quoted(program), quoted(command));
    *input.get_mut("command")? = through.into();
    Some(input.to_string())
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, input: &Value) -> Option<Value> {
        let input = input.to_string();
        let tool = UsedTool { id: None, name: name.to_owned(), input: Some(&input) };
        through_run(&tool, "/opt/it's here/wunderblock").map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn a_command_is_one_word_of_the_new_one() {
        let input =
            serde_json::json!({ "command": "grep -n 'a b' x | sort\n", "description": "d", "timeout": 9 });
        let new = told("Bash", &input).unwrap();
        let through = new["command"].as_str().unwrap();
        let (program, command) = through.split_once(" run -- bash -c ").unwrap();
        assert_eq!(program, r"'/opt/it'\''s here/wunderblock'");
        assert_eq!(command, "'grep -n '\\''a b'\\'' x | sort\n'");
        assert_eq!((&new["description"], &new["timeout"]), (&"d".into(), &9.into()));
    }

    #[test]
    fn commands_that_need_the_agents_shell_run_as_they_are() {
        for command in ["cd src && make", "(pushd x)", "make\ncd ..", "sleep 9 &", "wunderblock search x"] {
            assert_eq!(told("Bash", &serde_json::json!({ "command": command })), None, "{command}");
        }
        let background = serde_json::json!({ "command": "make", "run_in_background": true });
        assert_eq!(told("Bash", &background), None);
        for input in [serde_json::json!({}), serde_json::json!({ "command": ["ls"] }), serde_json::json!(7)] {
            assert_eq!(told("Bash", &input), None);
        }
        assert_eq!(told("Read", &serde_json::json!({ "command": "ls" })), None);
        assert!(told("run_shell_command", &serde_json::json!({ "command": "ls abcd" })).is_some());
    }
}
