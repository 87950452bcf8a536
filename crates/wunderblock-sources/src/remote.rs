//! Remotes of a repository, as git's settings file names them, and the names of the repositories that they are.

/// Settings of a repository that decide to which project it belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// Location of the remote `origin`, or else of the first remote.
    pub(crate) remote: Option<String>,
    /// Folder of the files, if the settings state it, as those of a submodule do.
    pub(crate) worktree: Option<String>,
}

/// What the location of a remote names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remote {
    /// A repository on another machine, as `host/path`.
    Named(String),
    /// A folder on this machine.
    Folder(String),
}

impl GitSettings {
    /// Parses git's settings file. Files that it includes, and settings of the user, are not read.
    pub(crate) fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        let (mut section, mut first) = (String::new(), None);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let mut line = line.trim();
            if let Some((header, rest)) = line.strip_prefix('[').and_then(split_header) {
                (section, line) = (header, rest);
            }
            let Some((key, text)) = line.split_once('=') else { continue };
            let key = key.trim().to_ascii_lowercase();
            match (section.strip_prefix("remote "), key.as_str()) {
                (Some("origin"), "url") => settings.remote = settings.remote.or_else(|| Some(value(text))),
                (Some(_), "url") => first = first.or_else(|| Some(value(text))),
                (None, "worktree") if section == "core" => settings.worktree = Some(value(text)),
                _ => {}
            }
        }
        settings.remote = settings.remote.or(first);
        settings
    }
}

/// Splits a section's header, after its bracket, from the rest of the line. Returns the section's name in lower case, and
/// the name of its part as it is: `remote origin`.
fn split_header(line: &str) -> Option<(String, &str)> {
    let Some((name, part)) = line.split_once('"').filter(|(name, _)| !name.contains(']')) else {
        let (name, rest) = line.split_once(']')?;
        return Some((name.trim().to_ascii_lowercase(), rest.trim()));
    };
    let (part, rest) = part.rsplit_once("\"]")?;
    let part = part.replace("\\\"", "\"").replace("\\\\", "\\");
    Some((format!("{} {part}", name.trim().to_ascii_lowercase()), rest.trim()))
}

/// Returns a value without its quotes, its escapes and the comment behind it.
fn value(text: &str) -> String {
    let (mut out, mut is_quoted) = (String::new(), false);
    let mut chars = text.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => out.extend(chars.next()),
            '#' | ';' if !is_quoted => break,
            c => out.push(c),
        }
    }
    out.trim().to_owned()
}

impl Remote {
    /// Returns what a location names: `git@host:a/b.git`, `ssh://git@host/a/b` and `https://user:key@HOST/a/b/` are
    /// the repository `host/a/b`. Only the case of the host is changed, because paths that differ in case may be two
    /// repositories. `None` for other protocols.
    pub(crate) fn of(location: &str) -> Option<Self> {
        if location.is_empty() || location.chars().any(char::is_control) {
            return None;
        }
        if let Some((scheme, rest)) = location.split_once("://") {
            let port = match scheme.to_ascii_lowercase().as_str() {
                "file" => {
                    return rest
                        .find('/')
                        .and_then(|at| rest.get(at..))
                        .map(|path| Self::Folder(path.into()));
                }
                "https" => ":443",
                "http" => ":80",
                "ssh" | "git+ssh" | "ssh+git" => ":22",
                "git" => ":9418",
                _ => return None,
            };
            let (host, path) = rest.split_once('/')?;
            return Self::named(host.strip_suffix(port).unwrap_or(host), path);
        }
        match location.split_once(':') {
            // A single letter is a drive.
            Some((host, path)) if host.len() > 1 && !host.contains(['/', '\\']) => {
                if path.starts_with(':') {
                    None
                } else {
                    Self::named(host, path)
                }
            }
            _ => Some(Self::Folder(location.to_owned())),
        }
    }

    fn named(host: &str, path: &str) -> Option<Self> {
        let host = host.rsplit('@').next().unwrap_or(host).to_lowercase();
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        (!host.is_empty() && !path.is_empty()).then(|| Self::Named(format!("{host}/{path}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_name() {
        let same = [
            "git@host.example:a/b.git",
            "git@HOST.example:/a/b",
            "host.example:a/b/",
            "https://host.example/a/b",
            "https://user:key@Host.Example:443/a/b.git/",
            "http://host.example/a/b.git",
            "ssh://git@host.example:22/a/b",
            "SSH://git@host.example/a/b.git",
            "git://host.example/a/b",
        ];
        for location in same {
            assert_eq!(Remote::of(location), Some(Remote::Named("host.example/a/b".into())), "{location}");
        }
        let others = [
            ("git@host.example:A/b", "host.example/A/b"),
            ("ssh://git@host.example:2222/a/b", "host.example:2222/a/b"),
            ("https://host.example/a/b.git.git", "host.example/a/b.git"),
            ("host.example:~ann/b", "host.example/~ann/b"),
            ("https://host.example/group/part/b", "host.example/group/part/b"),
        ];
        for (location, name) in others {
            assert_eq!(Remote::of(location), Some(Remote::Named(name.into())), "{location}");
        }
        for folder in ["/srv/b.git", "../b", "b", "C:/b", "C:\\b", "./a:b"] {
            assert_eq!(Remote::of(folder), Some(Remote::Folder(folder.into())), "{folder}");
        }
        assert_eq!(Remote::of("file:///srv/b.git"), Some(Remote::Folder("/srv/b.git".into())));
        for none in [
            "",
            "ext::sh -c x",
            "https://",
            "https://host.example",
            "https:///a/b",
            "host.example:",
            "a\u{7}:b",
        ] {
            assert_eq!(Remote::of(none), None, "{none}");
        }
    }

    #[test]
    fn the_origin_is_preferred_and_the_first_remote_follows() {
        let parse = |text: &str| GitSettings::parse(text).remote;
        let both = "[core]\n\tbare = false\n[remote \"up\"]\n\turl = u\n[Remote \"origin\"]\n\tfetch = +x\n\tURL = o\n\turl = p\n";
        assert_eq!(parse(both).as_deref(), Some("o"));
        assert_eq!(parse("[remote \"b\"] url = b\n[remote \"a\"]\nurl=a").as_deref(), Some("b"));
        assert_eq!(parse("[remote \"origin\"]\nurl = \"a #b\" ; c\n").as_deref(), Some("a #b"));
        assert_eq!(parse("[remote \"Origin\"]\nurl = a\n[remote \"origin\"]\nurl = b").as_deref(), Some("b"));
        for none in [
            "",
            "url = a",
            "[branch \"origin\"]\nurl = a",
            "[remote]\nurl = a",
            "[remote \"origin\"\nurl = a",
            "\0\u{1}[",
        ] {
            assert_eq!(parse(none), None, "{none:?}");
        }
        let inner = "[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../pond\n[remote \"origin\"]\n\turl = x\n";
        assert_eq!(GitSettings::parse(inner).worktree.as_deref(), Some("../../../pond"));
    }
}
