//! Projects: the repository that a folder belongs to.
//!
//! An agent works in a subfolder or in a worktree of a repository, and its sessions belong to the same project.

use crate::{Workspace, pointer};
use std::path::{Path, PathBuf};

/// Name of the folder or file that marks the root of a repository.
const REPOSITORY: &str = ".git";

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
}
