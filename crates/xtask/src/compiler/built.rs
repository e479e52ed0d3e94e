//! Metadata of dependencies that a build has written, for lints.
//!
//! Before Cargo lints the workspace, it compiles the metadata of each dependency. A build with the same options has
//! written the same metadata beside each library, for the crates that were compiled next. Cargo gives the two files
//! different names, so it never uses the one for the other. While it builds, the wrapper notes each library's options
//! and the names of its files. While it lints, the wrapper copies the files if all options are the same. Links would
//! not do: Cargo sets the times of a lint's files, and would then build again what uses the library.

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
    /// The name of its files, without `lib` and their ending.
    name: String,
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
        let folder = PathBuf::from(super::value(arguments, "--out-dir")?);
        let mut suffix = "";
        let mut options = format!("{}\n{:?}\n", version.to_str()?, env::var_os("OUT_DIR"));
        for argument in arguments {
            let argument = argument.to_str()?;
            if let Some(name) = argument.strip_prefix(SUFFIX) {
                suffix = name;
            }
            let differs = NAMES.iter().any(|name| argument.starts_with(name));
            if argument != BUILD && argument != CHECK && !differs {
                options.push_str(&as_built(argument, &folder));
                options.push('\n');
            }
        }
        Some(Library { is_built, folder, name: format!("{crate_name}{suffix}"), options })
    }

    /// The file with the note about the build of a library with these options.
    fn noted(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.options.hash(&mut hasher);
        notes(&self.folder).join(format!("{:016x}", hasher.finish()))
    }

    fn note(&self) -> io::Result<()> {
        fs::create_dir_all(notes(&self.folder))?;
        fs::write(self.noted(), format!("{}\n{}", self.name, self.options))
    }

    /// Copies what a build wrote. Returns false if there is nothing.
    fn take(&self) -> io::Result<bool> {
        let note = fs::read_to_string(self.noted())?;
        let Some((built, options)) = note.split_once('\n') else { return Ok(false) };
        if options != self.options {
            return Ok(false);
        }
        fs::write(notes(&self.folder).join(&self.name), built)?;
        // The list of the library's source files. Without it, Cargo would check the library again.
        let list = |name: &str| self.folder.join(format!("{name}.d"));
        fs::copy(list(built), list(&self.name))?;
        fs::copy(metadata(&self.folder, built), metadata(&self.folder, &self.name))?;
        Ok(true)
    }
}

/// The folder of all notes about a folder of libraries.
fn notes(folder: &Path) -> PathBuf {
    folder.join("../built")
}

/// The file with a library's metadata.
fn metadata(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("lib{name}.rmeta"))
}

/// Returns an option as a build has it: a copy's path gives way to that of the file.
fn as_built(option: &str, folder: &Path) -> String {
    let is_equal = |copy: &Path, built: &Path| Some(fs::read(copy).ok()? == fs::read(built).ok()?);
    let built = || {
        let (name, path) = option.split_once('=')?;
        let path = Path::new(path);
        let copy = path.file_name()?.to_str()?.strip_prefix("lib")?.strip_suffix(".rmeta")?;
        let built = fs::read_to_string(notes(folder).join(copy)).ok()?;
        let built = metadata(folder, &built);
        // The compiler may have replaced either file since.
        is_equal(path, &built)?.then(|| format!("{name}={}", built.display()))
    };
    built().unwrap_or_else(|| option.to_owned())
}

#[cfg(test)]
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
            for file in [format!("lib{name}{suffix}.rmeta"), format!("{name}{suffix}.d")] {
                fs::write(self.path(&file), format!("{name}{suffix}")).expect("a file");
            }
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
        assert_eq!(folder.read("one-b.d"), "one-a");
        // Another run of the same lint.
        assert!(folder.run(CHECK, "one", "-b", "--cfg x"));
        assert!(!folder.run(CHECK, "one", "-b", "--cfg y"));
        assert!(!folder.run(CHECK, "other", "-b", "--cfg x"));
        assert!(!folder.run_with("rustc 2", CHECK, "one", "-b", "--cfg x"));
    }

    #[test]
    fn a_copy_of_a_dependency_is_the_dependency() {
        let folder = Folder::new();
        folder.build("one", "-a", "");
        let on = |suffix| format!("--extern one={}", folder.path(&format!("libone{suffix}.rmeta")));
        folder.build("two", "-a", &on("-a"));
        assert!(!folder.run(CHECK, "two", "-b", &on("-b")), "no copy yet");
        assert!(folder.run(CHECK, "one", "-b", ""));
        assert!(folder.run(CHECK, "two", "-b", &on("-b")));
        // The compiler checked this one itself.
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
