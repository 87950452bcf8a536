//! Projects: the repository that a folder belongs to.
//!
//! An agent works in a subfolder or in a worktree of a repository, and its sessions belong to the same project.

use std::path::{Path, PathBuf};

/// Returns the root of the repository that contains `folder`: of a worktree, the root of its main repository. Returns
/// `None` if the folder does not exist or is in no repository.
///
/// Layout of repositories: the pages `gitrepository-layout` and `git-worktree` of git's documentation.
#[must_use]
pub fn repository_of(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    Some(main_repository(root).unwrap_or_else(|| root.to_owned()))
}

/// Returns the main repository of a worktree, whose `.git` is a file that names `…/.git/worktrees/NAME`. The `.git` file
/// of a submodule names another folder: a submodule is a repository of its own.
fn main_repository(worktree: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(worktree.join(".git")).ok()?;
    let named = worktree.join(text.strip_prefix("gitdir:")?.trim());
    let worktrees = named.parent().filter(|folder| folder.ends_with("worktrees"))?;
    let main = worktrees.parent()?.canonicalize().ok()?;
    // The folder of a bare repository is the repository itself.
    Some(if main.ends_with(".git") { main.parent()?.to_owned() } else { main })
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
        let text = std::fs::read_to_string(entry.ok()?.path().join("gitdir")).ok()?;
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
        create_dir_all(home.join("garden/.git/worktrees/hedge")).unwrap();
        create_dir_all(home.join("garden/src/deep")).unwrap();
        create_dir_all(home.join("hedge/src")).unwrap();
        create_dir_all(home.join("garden/.git/modules/pond")).unwrap();
        create_dir_all(home.join("garden/pond")).unwrap();
        write(home.join("hedge/.git"), format!("gitdir: {}/garden/.git/worktrees/hedge\n", home.display()))
            .unwrap();
        write(home.join("garden/pond/.git"), "gitdir: ../.git/modules/pond\n").unwrap();
        let of = |folder: &str| repository_of(&home.join(folder));
        for folder in ["garden", "garden/src/deep", "hedge", "hedge/src"] {
            assert_eq!(of(folder), Some(home.join("garden")), "{folder}");
        }
        assert_eq!(of("garden/pond"), Some(home.join("garden/pond")), "a submodule is a project of its own");
        write(home.join("garden/.git/worktrees/hedge/gitdir"), format!("{}/hedge/.git\n", home.display()))
            .unwrap();
        let both = vec![home.join("garden"), home.join("hedge")];
        assert_eq!(project_folders(&home.join("hedge/src")), both);
        assert_eq!(project_folders(&home.join("garden/src")), both);
        assert_eq!(project_folders(Path::new("/nowhere")), vec![PathBuf::from("/nowhere")]);
        assert_eq!(of("nowhere"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_git_file_that_names_nothing_leaves_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for text in ["", "gitdir:", "gitdir: /nowhere/.git/worktrees/x", "\u{0}\u{1}"] {
            write(home.join(".git"), text).unwrap();
            assert_eq!(repository_of(&home), Some(home.clone()), "{text:?}");
        }
    }
}
