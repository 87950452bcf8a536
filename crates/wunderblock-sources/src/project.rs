//! Projects: the repository that a folder belongs to.
//!
//! An agent works in a subfolder, in a worktree or in a clone of a repository, and its sessions belong to the same
//! project. Git's own files are read, and git is never run.

use crate::limits::{MAX_GIT_SETTINGS, MAX_REMOTES};
use crate::remote::{GitSettings, Remote};
use crate::{Workspace, pointer};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Name of the folder or file that marks the root of a repository.
const REPOSITORY: &str = ".git";

/// The project of a folder, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPlace {
    /// The folder itself, without links in its path.
    pub cwd: PathBuf,
    /// Root of the repository that the folder's worktree belongs to, or the folder itself.
    pub folder: PathBuf,
    /// Name of the project: `host/path` of the repository's remote, or else the path of the repository, or else the
    /// folder. Clones of one remote have one name.
    pub project: String,
}

/// Returns the project of a folder. `None` if it cannot be known: the folder does not exist, or the files that decide
/// cannot be read.
///
/// A remote that is a folder on this machine leads to the project of that folder. A `.git` file leads to a repository
/// only if the repository lists the worktree, or states it as its own, as that of a submodule does.
#[must_use]
pub fn place_of(folder: &Path) -> Option<ProjectPlace> {
    place(folder, MAX_REMOTES)
}

fn place(folder: &Path, left: usize) -> Option<ProjectPlace> {
    let Workspace { cwd, root, project } = Workspace::find(folder, &[REPOSITORY.to_owned()]).ok()?;
    let remote = remote_of(&root, &project)?;
    let folder = project.parent().filter(|_| project.ends_with(REPOSITORY)).unwrap_or(&project).to_owned();
    let own = || folder.to_string_lossy().into_owned();
    let project = match remote.as_deref().and_then(Remote::of) {
        Some(Remote::Named(name)) => name,
        Some(Remote::Folder(path)) => {
            let path = root.join(path);
            let inner = path.is_dir() && left > 0;
            inner.then(|| place(&path, left - 1)).flatten().map_or_else(own, |place| place.project)
        }
        None => own(),
    };
    Some(ProjectPlace { cwd, folder, project })
}

/// Returns the remote of a repository, if it has one. `None` if a file that may name it cannot be read.
fn remote_of(root: &Path, project: &Path) -> Option<Option<String>> {
    if project == root {
        return Some(None);
    }
    if project.is_dir() {
        return Some(settings_of(project)?.remote);
    }
    // A `.git` file that belongs to no worktree of the repository to which it leads.
    let text = match pointer(project) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
        Err(_) => return Some(None),
    };
    let Some(git) = text.strip_prefix("gitdir:").map(|path| root.join(path.trim())) else {
        return Some(None);
    };
    let settings = settings_of(&git)?;
    let stated = settings.worktree.and_then(|path| dunce::canonicalize(git.join(path)).ok());
    Some(settings.remote.filter(|_| stated.as_deref() == Some(root)))
}

/// Reads the settings of a repository. Without a file, they are empty. `None` if the file cannot be read.
fn settings_of(git: &Path) -> Option<GitSettings> {
    let path = git.join("config");
    let meta = match path.metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
        Err(_) => return Some(GitSettings::default()),
    };
    // A pipe is not opened, because that may block.
    if !meta.is_file() || meta.len() > MAX_GIT_SETTINGS {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(&path).ok()?.take(MAX_GIT_SETTINGS).read_to_end(&mut bytes).ok()?;
    Some(GitSettings::parse(&String::from_utf8_lossy(&bytes)))
}

/// Returns the root of the repository that contains `folder`: of a worktree that its repository lists, the root of that
/// repository. A submodule is a repository of its own. Returns `None` if the folder does not exist or is in no
/// repository.
#[must_use]
pub fn repository_of(folder: &Path) -> Option<PathBuf> {
    let Workspace { root, project, .. } = Workspace::find(folder, &[REPOSITORY.to_owned()]).ok()?;
    // Without a repository, the project is the root itself. A bare repository is its own folder.
    let repository = Some(project).filter(|project| *project != root)?;
    Some(if repository.ends_with(REPOSITORY) { repository.parent()?.to_owned() } else { repository })
}

/// Returns the folders whose sessions belong to the same project as `folder`: its repository and the repository's present
/// worktrees, or only the folder itself.
#[must_use]
pub fn project_folders(folder: &Path) -> Vec<PathBuf> {
    let Some(repository) = repository_of(folder) else { return vec![folder.to_owned()] };
    let entries = std::fs::read_dir(repository.join(".git/worktrees"));
    let entries = entries.or_else(|_| std::fs::read_dir(repository.join("worktrees")));
    // The file `gitdir` of a worktree holds the path of its `.git` file.
    let worktree = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = pointer(&entry.ok()?.path().join("gitdir")).ok()?;
        Some(Path::new(text.trim()).parent()?.to_owned())
    };
    let worktrees = entries.into_iter().flatten().filter_map(worktree);
    std::iter::once(repository.clone()).chain(worktrees).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn subfolders_and_worktrees_belong_to_their_repository() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for folder in
            ["garden/.git/worktrees/hedge", "garden/src/deep", "hedge/src", "garden/.git/modules/pond"]
        {
            create_dir_all(home.join(folder)).unwrap();
        }
        create_dir_all(home.join("garden/pond")).unwrap();
        create_dir_all(home.join("foreign")).unwrap();
        create_dir_all(home.join("plain")).unwrap();
        let worktree = home.join("garden/.git/worktrees/hedge");
        let pointer = format!("gitdir: {}\n", worktree.display());
        write(home.join("hedge/.git"), &pointer).unwrap();
        write(home.join("foreign/.git"), &pointer).unwrap();
        write(worktree.join("commondir"), "../..\n").unwrap();
        write(worktree.join("gitdir"), format!("{}/hedge/.git\n", home.display())).unwrap();
        write(home.join("garden/pond/.git"), "gitdir: ../.git/modules/pond\n").unwrap();
        let of = |folder: &str| repository_of(&home.join(folder));
        for folder in ["garden", "garden/src/deep", "hedge", "hedge/src"] {
            assert_eq!(of(folder), Some(home.join("garden")), "{folder}");
        }
        assert_eq!(of("garden/pond"), Some(home.join("garden/pond")), "a submodule is a project of its own");
        assert_eq!(of("foreign"), Some(home.join("foreign")), "no folder declares itself a worktree");
        assert_eq!((of("plain"), of("nowhere")), (None, None));
        let both = vec![home.join("garden"), home.join("hedge")];
        assert_eq!(project_folders(&home.join("hedge/src")), both);
        assert_eq!(project_folders(&home.join("garden/src")), both);
        assert_eq!(project_folders(Path::new("/nowhere")), vec![PathBuf::from("/nowhere")]);
    }

    /// Writes files below a folder, whose `{home}` becomes that folder.
    fn lay_out(home: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = home.join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text.replace("{home}", &home.to_string_lossy())).unwrap();
        }
    }

    #[test]
    fn clones_worktrees_and_folders_of_a_repository_are_one_project() {
        let place = tempfile::tempdir().unwrap();
        let home = dunce::canonicalize(place.path()).unwrap();
        let remote = |location: &str| format!("[remote \"origin\"]\n\turl = {location}\n");
        lay_out(
            &home,
            &[
                ("one/.git/config", &remote("git@host.example:ann/garden.git")),
                ("one/src/deep/x", ""),
                ("two/.git/config", &remote("https://ann:key@host.example/ann/garden")),
                ("one/.git/worktrees/tree/gitdir", "{home}/tree/.git\n"),
                ("one/.git/worktrees/tree/commondir", "../..\n"),
                ("tree/.git", "gitdir: {home}/one/.git/worktrees/tree\n"),
                ("copy/.git/config", &remote("{home}/one")),
                ("copied/.git/config", &remote("../copy/.git")),
                ("alone/.git/HEAD", ""),
                ("alone/inner/.git/config", "[core]\n\tbare = false\n"),
                ("clone/.git/config", &remote("../alone/")),
                ("one/pond/.git", "gitdir: ../.git/modules/pond\n"),
                (
                    "one/.git/modules/pond/config",
                    "[core]\n\tworktree = ../../../pond\n[remote \"origin\"]\n\turl = host.example:pond\n",
                ),
                ("thief/.git", "gitdir: {home}/one/.git/modules/pond\n"),
                ("false/.git", "gitdir: {home}/one/.git/worktrees/tree\n"),
                ("broken/.git", "gitdir: {home}/nowhere\n"),
                ("odd/.git", "\0\u{1}"),
                ("loop/.git/config", &remote("../loop")),
                ("plain/x", ""),
            ],
        );
        let found = |folder: &str| {
            let place = place_of(&home.join(folder)).unwrap();
            let short = |text: &str| text.strip_prefix(&*home.to_string_lossy()).unwrap_or(text).to_owned();
            (short(&place.folder.to_string_lossy()), short(&place.project))
        };
        let pair = |folder: &str, project: &str| (folder.to_owned(), project.to_owned());
        for (folder, root) in [
            ("one", "/one"),
            ("one/src/deep", "/one"),
            ("two", "/two"),
            ("tree", "/one"),
            ("copied", "/copied"),
        ] {
            assert_eq!(found(folder), pair(root, "host.example/ann/garden"), "{folder}");
        }
        assert_eq!(found("one/pond"), pair("/one/pond", "host.example/pond"), "a submodule");
        for own in ["alone", "alone/inner", "thief", "false", "broken", "odd", "loop", "plain"] {
            assert_eq!(found(own), pair(&format!("/{own}"), &format!("/{own}")), "{own}");
        }
        assert_eq!(found("clone"), pair("/clone", "/alone"));
        assert_eq!(place_of(&home.join("gone")), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_read_is_not_known() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let home = dunce::canonicalize(place.path()).unwrap();
        let long = "# ".repeat(usize::try_from(MAX_GIT_SETTINGS).unwrap());
        lay_out(&home, &[("shut/.git/config", ""), ("long/.git/config", &long), ("pipe/.git/config/x", "")]);
        let config = home.join("shut/.git/config");
        let mode = |mode| std::fs::set_permissions(&config, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o000);
        // The superuser reads it in any case.
        let is_shut = File::open(&config).is_err();
        assert_eq!(place_of(&home.join("shut")).is_none(), is_shut);
        mode(0o600);
        assert!(place_of(&home.join("shut")).is_some());
        assert_eq!(place_of(&home.join("long")), None, "too long to be git's");
        assert_eq!(place_of(&home.join("pipe")), None, "no file");
    }
}
