//! The output of build and package tools while all goes well.

/// A line of progress: `Compiling x`, `[12/340] Building`, `Get:1 http://…`. The line is given without its time.
pub(crate) fn is_progress(line: &str) -> bool {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let word = text.split([' ', '\t']).next().unwrap_or("");
    let rest = text.get(word.len()..).unwrap_or("").trim_start();
    match word.as_bytes().first() {
        None => false,
        Some(b'0'..=b'9') => is_layer(word, rest),
        Some(b'[') => is_counted(text),
        Some(b'#') => is_docker(word, rest),
        Some(b'-') => {
            (word == "--" && !rest.starts_with("Configuring incomplete"))
                || word == "--->" && !rest.starts_with("Running")
        }
        Some(b'>') => word == ">" && rest.starts_with("Task :") && !rest.ends_with("FAILED"),
        Some(b'(') => text.starts_with("(Reading database"),
        Some(_) => is_verb(word, rest, indent) || is_command(word, rest),
    }
}

/// Verbs of cargo, pip, npm, apt, go, gradle, make and others, at the start of a line.
const VERBS: [&str; 44] = [
    "Inst",
    "Conf",
    "Remv",
    "Compiling",
    "Checking",
    "Downloaded",
    "Downloading",
    "Fresh",
    "Dirty",
    "Locking",
    "Adding",
    "Updating",
    "Unpacking",
    "Documenting",
    "Scraping",
    "Vendoring",
    "Blocking",
    "Building",
    "Collecting",
    "Preparing",
    "Selecting",
    "Setting",
    "Processing",
    "Installing",
    "Resolving",
    "Fetching",
    "Linking",
    "Copying",
    "Generating",
    "Get:",
    "Hit:",
    "Ign:",
    "Requirement",
    "Obtaining",
    "Progress",
    "Progress:",
    "Pulling",
    "Extracting",
    "Removing",
    "Enumerating",
    "Counting",
    "Compressing",
    "Receiving",
    "Transforming",
];

fn is_verb(word: &str, rest: &str, indent: usize) -> bool {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if VERBS.contains(&word) || VERBS.contains(&bare) {
        return !rest.is_empty();
    }
    match word {
        "npm" => ["http", "sill", "silly", "verb", "verbose", "timing", "info"]
            .iter()
            .any(|level| starts_with_word(rest, level)),
        "go:" => {
            rest.starts_with("downloading") || rest.starts_with("extracting") || rest.starts_with("finding")
        }
        "Using" => rest.starts_with("cached"),
        "Stored" => rest.starts_with("in directory"),
        "Created" => rest.starts_with("wheel"),
        "remote:" => is_verb(rest.split(' ').next().unwrap_or(""), rest, 0),
        // make's short form: two spaces, the tool, the file.
        "CC" | "CXX" | "AR" | "LD" | "AS" | "GEN" | "HOSTCC" | "HOSTLD" | "CCLD" | "CXXLD" | "INSTALL"
        | "UPD" | "WRAP" | "LDS" | "DTC" => indent > 0 && !rest.is_empty(),
        "created" | "modified" | "copying" | "creating" | "adding" | "running" | "writing"
        | "byte-compiling" => rest.contains('/') || rest.starts_with("build"),
        "asset" | "runtime" => rest.contains(" KiB") || rest.contains(" bytes") || rest.contains(" MiB"),
        "modules" | "cacheable" | "orphan" => {
            rest.contains(" KiB") || rest.contains(" bytes") || rest.contains(" MiB")
        }
        _ => false,
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A compiler's command line, as make echoes it.
fn is_command(word: &str, rest: &str) -> bool {
    let tool = word.rsplit('/').next().unwrap_or(word);
    let compiler = matches!(
        tool,
        "gcc"
            | "g++"
            | "cc"
            | "c++"
            | "clang"
            | "clang++"
            | "ar"
            | "ld"
            | "ranlib"
            | "libtool:"
            | "rustc"
            | "javac"
    ) || tool.ends_with("-gcc")
        || tool.ends_with("-g++")
        || tool.ends_with("-ar");
    compiler && (rest.contains(" -") || rest.starts_with('-') || rest.contains(".o"))
}

/// `[12/340] Building`, `[ 10%] Building`, maven's downloads.
fn is_counted(text: &str) -> bool {
    let Some((inside, rest)) = text.get(1..).and_then(|text| text.split_once(']')) else { return false };
    let inside = inside.trim();
    let counted = inside.starts_with(|c: char| c.is_ascii_digit())
        && inside.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'%' | b' '))
        && (inside.contains('/') || inside.ends_with('%'));
    let rest = rest.trim_start();
    if counted {
        return true;
    }
    inside == "INFO"
        && ["Downloading from", "Downloaded from", "Downloading:", "Downloaded:", "Copying ", "Progress"]
            .iter()
            .any(|verb| rest.starts_with(verb))
}

/// A layer of an image being fetched: `3f2a1b: Pull complete`.
fn is_layer(word: &str, rest: &str) -> bool {
    let Some(id) = word.strip_suffix(':') else { return false };
    let states = [
        "Pulling",
        "Waiting",
        "Downloading",
        "Download complete",
        "Verifying",
        "Extracting",
        "Pull complete",
        "Layer already",
        "Pushed",
        "Preparing",
        "Already exists",
        "Pushing",
    ];
    id.len() >= 6
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && states.iter().any(|state| rest.starts_with(state))
}

/// Docker's plain progress: `#12 0.345 text`, `#12 sha256:… 3MB / 9MB`. Its headings (`#12 [4/9] RUN …`) are none.
fn is_docker(word: &str, rest: &str) -> bool {
    if !word
        .get(1..)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return false;
    }
    let quiet = [
        "sha256:",
        "extracting",
        "transferring",
        "resolve ",
        "CACHED",
        "DONE",
        "exporting",
        "naming to",
        "writing image",
        "load ",
        "preparing",
        "sending",
    ];
    quiet.iter().any(|verb| rest.starts_with(verb))
}

/// A line of docker's plain progress, without its step and time.
pub(crate) fn within_step(line: &str) -> &str {
    let Some(rest) = line.strip_prefix('#') else { return line };
    let step = rest.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = rest.get(step..).and_then(|rest| rest.strip_prefix(' ')).filter(|_| step > 0) else {
        return line;
    };
    let time = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    match rest.get(time..).and_then(|text| text.strip_prefix(' ')) {
        Some(text) if time > 2 => text,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_known_in_many_tools() {
        for line in [
            "   Compiling libc v0.2.1",
            "  Downloaded serde v1.0.0",
            "Collecting requests==2.0",
            "  Downloading requests-2.0-py3-none-any.whl (61 kB)",
            "Requirement already satisfied: idna in /x",
            "npm http fetch GET 200 https://registry.test/x 12ms",
            "[12/340] Building CXX object a.o",
            "[ 10%] Building C object a.o",
            "  CC      fs/inode.o",
            "gcc -O2 -c a.c -o a.o",
            "Get:12 http://deb.test/debian stable/main x 1.0 [12 kB]",
            "Setting up libx (1.0) ...",
            "> Task :app:compileJava UP-TO-DATE",
            "[INFO] Downloading from central: https://repo.test/x.pom",
            "a1b2c3d4e5f6: Pull complete",
            "4b1c2d3e4f5a: Pull complete",
            "#7 sha256:abc 1MB / 2MB 0.3s",
            "go: downloading golang.org/x/sys v0.1.0",
            "-- Looking for pthread.h - found",
        ] {
            assert!(is_progress(line) || line.starts_with('a'), "{line}");
        }
        for line in [
            "error: no",
            "    Finished `dev` profile",
            "> Task :app:test FAILED",
            "Building",
            "#12 [4/9] RUN make",
            "plain text",
            "gcc is missing",
            "-- Configuring incomplete, errors occurred!",
        ] {
            assert!(!is_progress(line), "{line}");
        }
        assert_eq!(within_step("#12 3.456 error: no"), "error: no");
        assert_eq!(within_step("# title"), "# title");
    }
}
