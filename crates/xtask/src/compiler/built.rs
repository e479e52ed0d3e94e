//! Metadata of dependencies that a build has written, for lints.
//!
//! Before Cargo lints the workspace, it compiles the metadata of each dependency. A build with the same options has
//! written the same metadata beside each library, for the crates that were compiled next. Cargo gives the two files
//! different names, so it never uses the one for the other. While it builds, the wrapper notes each library's options
//! and the name of its file. While it lints, the wrapper links to the file if all options are the same.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The beginnings of options whose values differ between a build and a lint, and name nothing but the files.
const NAMES: [&str; 2] = ["metadata=", SUFFIX];
const SUFFIX: &str = "extra-filename=";

/// What Cargo asks the compiler for in a build, and in a check or lint.
const BUILD: &str = "--emit=dep-info,metadata,link";
const CHECK: &str = "--emit=dep-info,metadata";

/// Takes the metadata that a build has written, if these arguments ask for the metadata of a dependency. Returns false
/// if the compiler must run. Notes the library if the arguments build one.
pub(super) fn take_or_note(arguments: &[OsString], version: &OsStr) -> bool {
    let Some(library) = Library::new(arguments, version) else { return false };
    if library.is_built {
        // Without the note, the lint compiles the metadata again.
        let _ = library.note();
        return false;
    }
    library.take().is_ok_and(|taken| taken)
}

/// The library of another author in the compiler's arguments.
#[derive(Debug)]
struct Library {
    is_built: bool,
    /// The folder of the compiler's output.
    folder: PathBuf,
    /// The name of the metadata's file.
    file: String,
    /// All other options, a line each.
    options: String,
}

impl Library {
    /// Returns the library; `None` if the arguments compile something else.
    fn new(arguments: &[OsString], version: &OsStr) -> Option<Library> {
        let is_given = |option: &str| arguments.iter().any(|argument| argument == option);
        let is_built = is_given(BUILD);
        // Cargo hides the warnings of other authors' crates, and of no others.
        let is_other = super::value(arguments, "--cap-lints")? == "allow";
        let is_library = super::value(arguments, "--crate-type")? == "lib";
        if !is_other || !is_library || !(is_built || is_given(CHECK)) {
            return None;
        }
        let crate_name = super::value(arguments, "--crate-name")?.to_str()?;
        let mut suffix = "";
        let mut options = format!("{}\n{:?}\n", version.to_str()?, env::var_os("OUT_DIR"));
        for argument in arguments {
            let argument = argument.to_str()?;
            if let Some(name) = argument.strip_prefix(SUFFIX) {
                suffix = name;
            }
            if argument != BUILD
                && argument != CHECK
                && !NAMES.iter().any(|name| argument.starts_with(name))
            {
                options.push_str(&without_links(argument));
                options.push('\n');
            }
        }
        let folder = PathBuf::from(super::value(arguments, "--out-dir")?);
        Some(Library { is_built, folder, file: format!("lib{crate_name}{suffix}.rmeta"), options })
    }

    /// The file with the note about all libraries with these options.
    fn noted(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.options.hash(&mut hasher);
        self.folder.join("../built").join(format!("{:016x}", hasher.finish()))
    }

    fn note(&self) -> io::Result<()> {
        let note = self.noted();
        fs::create_dir_all(note.parent().unwrap_or(Path::new("")))?;
        fs::write(note, format!("{}\n{}", self.file, self.options))
    }

    /// Links to the metadata that a build wrote. Returns false if there is none.
    fn take(&self) -> io::Result<bool> {
        let note = fs::read_to_string(self.noted())?;
        let Some((file, options)) = note.split_once('\n') else { return Ok(false) };
        let built = self.folder.join(file);
        if options != self.options || !built.is_file() {
            return Ok(false);
        }
        let link = self.folder.join(&self.file);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link)?;
        }
        link_to(file, &link)?;
        Ok(true)
    }
}

/// Returns an option in which the path of a linked file is that of the file itself.
fn without_links(option: &str) -> String {
    match option.split_once('=') {
        Some((name, path)) if path.ends_with(".rmeta") => match fs::canonicalize(path) {
            Ok(path) => format!("{name}={}", path.display()),
            Err(_) => option.to_owned(),
        },
        _ => option.to_owned(),
    }
}

#[cfg(unix)]
fn link_to(file: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, link)
}

/// On Windows, links need a right that few users have.
#[cfg(not(unix))]
fn link_to(_: &str, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::fs;

    use tempfile::TempDir;

    use super::{BUILD, CHECK, Library, take_or_note};
    use crate::compiler::arguments;

    /// A build folder.
    struct Folder(TempDir);

    impl Folder {
        fn new() -> Folder {
            let folder = tempfile::tempdir().expect("a folder");
            fs::create_dir(folder.path().join("deps")).expect("a folder");
            Folder(folder)
        }

        fn path(&self, file: &str) -> String {
            self.0.path().join("deps").join(file).display().to_string()
        }

        /// Runs the wrapper for a command of Cargo. Returns whether the compiler need not run.
        fn run(&self, kind: &str, name: &str, suffix: &str, other: &str) -> bool {
            self.run_with("rustc 1", kind, name, suffix, other)
        }

        fn run_with(&self, rustc: &str, kind: &str, name: &str, suffix: &str, other: &str) -> bool {
            let line = format!(
                "--crate-name {name} src/lib.rs --crate-type lib {kind} -C metadata=1{suffix} \
                 -C extra-filename={suffix} --out-dir {} {other} --cap-lints allow",
                self.path("")
            );
            take_or_note(&arguments(&line), OsStr::new(rustc))
        }

        /// Lets a build write a library's metadata.
        fn build(&self, name: &str, suffix: &str, other: &str) {
            assert!(!self.run(BUILD, name, suffix, other), "the compiler must run");
            let file = self.path(&format!("lib{name}{suffix}.rmeta"));
            fs::write(file, format!("{name}{suffix}")).expect("a file");
        }

        fn read(&self, file: &str) -> String {
            fs::read_to_string(self.path(file)).expect("a file")
        }
    }

    #[test]
    fn a_lint_takes_what_a_build_with_the_same_options_wrote() {
        let folder = Folder::new();
        folder.build("one", "-a", "--cfg x");
        assert!(folder.run(CHECK, "one", "-b", "--cfg x"));
        assert_eq!(folder.read("libone-b.rmeta"), "one-a");
        // Another run of the same lint.
        assert!(folder.run(CHECK, "one", "-b", "--cfg x"));
        assert!(!folder.run(CHECK, "one", "-b", "--cfg y"));
        assert!(!folder.run(CHECK, "other", "-b", "--cfg x"));
        assert!(!folder.run_with("rustc 2", CHECK, "one", "-b", "--cfg x"));
    }

    #[test]
    fn dependencies_are_the_same_behind_links() {
        let folder = Folder::new();
        folder.build("one", "-a", "");
        let on = |suffix| format!("--extern one={}", folder.path(&format!("libone{suffix}.rmeta")));
        folder.build("two", "-a", &on("-a"));
        assert!(!folder.run(CHECK, "two", "-b", &on("-b")), "no link yet");
        assert!(folder.run(CHECK, "one", "-b", ""));
        assert!(folder.run(CHECK, "two", "-b", &on("-b")));
        // The compiler checked this one itself.
        fs::remove_file(folder.path("libone-b.rmeta")).expect("the link");
        fs::write(folder.path("libone-b.rmeta"), "").expect("a file");
        assert!(!folder.run(CHECK, "two", "-b", &on("-b")));
    }

    #[test]
    fn a_failed_build_leaves_nothing_to_take() {
        let folder = Folder::new();
        assert!(!folder.run(BUILD, "one", "-a", ""));
        assert!(!folder.run(CHECK, "one", "-b", ""));
    }

    #[test]
    fn only_libraries_of_other_authors_count() {
        let is = |line: &str| Library::new(&arguments(line), OsStr::new("")).is_some();
        let line = format!("--crate-name a --crate-type lib {CHECK} --out-dir deps");
        assert!(is(&format!("{line} --cap-lints allow")));
        assert!(!is(&line));
        assert!(!is(&format!("{line} --cap-lints warn")));
        assert!(!is(&format!("{} --cap-lints allow", line.replace("lib", "proc-macro"))));
        assert!(!is(&format!("{} --cap-lints allow", line.replace(CHECK, "--emit=link"))));
    }
}
