//! Metadata of dependencies that a build has written, for lints.
//!
//! Before Cargo lints the workspace, it compiles the metadata of each dependency. A build with the same options has
//! written the same metadata beside each library, for the crates that were compiled next. Cargo gives the two files
//! different names, so it never uses the one for the other. After the compiler has built a library, the wrapper notes
//! the options, and the length and time of each file. In a lint it copies the files if all of these are as noted.
//! Links would not do: Cargo sets the times of a lint's files, and would then build again what uses the library.
//!
//! Cargo may build a library again under the same name: with other options or dependencies, or after its build script
//! wrote other files. It may do so without this wrapper, and may stop halfway. So the notes also have the lengths and
//! times of the dependencies and of the build script's output: each compilation and each run of a build script writes
//! its files again. Cargo relies on times too.
//!
//! A build of a library replaces its note. The notes of libraries that are no longer built stay as long as the
//! libraries: until `cargo clean`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The beginnings of options whose values differ between a build and a lint, and name nothing but the files.
const NAMES: [&str; 2] = ["metadata=", SUFFIX];
const SUFFIX: &str = "extra-filename=";

/// What Cargo asks the compiler for in a build, and in a check or lint.
const BUILD: &str = "--emit=dep-info,metadata,link";
const CHECK: &str = "--emit=dep-info,metadata";

/// The library of another author in the compiler's arguments.
#[derive(Debug)]
pub(super) struct Library {
    is_built: bool,
    /// The folder of the compiler's output.
    folder: PathBuf,
    crate_name: String,
    /// The name of its files, without `lib` and their ending.
    name: String,
    /// All other options, a line each, with the states of the files that they name.
    options: String,
}

impl Library {
    /// Returns the library; `None` if the arguments compile something else. `script_folder` is the folder of the files
    /// that its build script writes.
    pub(super) fn new(
        arguments: &[OsString],
        version: &OsStr,
        script_folder: Option<&OsStr>,
    ) -> Option<Library> {
        let is_given = |option: &str| arguments.iter().any(|argument| argument == option);
        let is_built = is_given(BUILD);
        // Cargo hides the warnings of other authors' crates, and of no others.
        let is_other = super::value(arguments, "--cap-lints")? == "allow";
        let is_library = super::value(arguments, "--crate-type")? == "lib";
        let is_of_registry = arguments.iter().any(|argument| is_in_registry(Path::new(argument)));
        if !is_other || !is_library || !is_of_registry || !(is_built || is_given(CHECK)) {
            return None;
        }
        let crate_name = super::value(arguments, "--crate-name")?.to_str()?.to_owned();
        let folder = PathBuf::from(super::value(arguments, "--out-dir")?);
        let mut options = version.to_str()?.to_owned();
        if let Some(script_folder) = script_folder {
            // Each run of the script writes this file. Its other files and the variables may differ then.
            let output = Path::new(script_folder).with_file_name("output");
            options += &format!("\n{} {}", output.display(), state(&output).ok()?);
        }
        let mut suffix = "";
        let mut is_dependency = false;
        for argument in arguments {
            let argument = argument.to_str()?;
            if let Some(name) = argument.strip_prefix(SUFFIX) {
                suffix = name;
            }
            let differs = NAMES.iter().any(|name| argument.starts_with(name));
            if is_dependency {
                options += &format!("\n{}", as_built(argument, &folder)?);
            } else if argument != BUILD && argument != CHECK && !differs {
                options += &format!("\n{argument}");
            }
            is_dependency = argument == "--extern";
        }
        let name = format!("{crate_name}{suffix}");
        Some(Library { is_built, folder, crate_name, name, options })
    }

    /// Takes the metadata that a build has written, if these arguments ask for metadata only. Returns false if the
    /// compiler must run.
    pub(super) fn take(&self) -> bool {
        !self.is_built && self.copy().is_ok_and(|is_copied| is_copied)
    }

    /// Notes that the compiler has built the library, if these arguments build it.
    pub(super) fn note(&self) {
        if self.is_built {
            // Without the note, the lint compiles the metadata again.
            let _ = self.write_note();
        }
    }

    fn write_note(&self) -> io::Result<()> {
        fs::create_dir_all(self.notes())?;
        fs::write(self.notes().join(&self.name), self.described(&self.name)?)
    }

    /// Copies what a build wrote. Returns false if there is nothing.
    fn copy(&self) -> io::Result<bool> {
        let built = fs::read_dir(self.notes())?
            .filter_map(|note| note.ok()?.file_name().into_string().ok())
            .find(|built| self.is_noted(built).is_ok_and(|is_noted| is_noted));
        let Some(built) = built else { return Ok(false) };
        fs::write(notes(&self.folder).join(&self.name), &built)?;
        // Without the list, Cargo would check the library again.
        fs::copy(list(&self.folder, &built), list(&self.folder, &self.name))?;
        fs::copy(metadata(&self.folder, &built), metadata(&self.folder, &self.name))?;
        Ok(true)
    }

    /// Whether the files with a name are those of a build of this library with these options.
    fn is_noted(&self, built: &str) -> io::Result<bool> {
        Ok(fs::read_to_string(self.notes().join(built))? == self.described(built)?)
    }

    /// The note about a build of this library with these options that wrote the files with a name.
    fn described(&self, built: &str) -> io::Result<String> {
        let (list, metadata) = (list(&self.folder, built), metadata(&self.folder, built));
        Ok(format!("{}\n{}\n{}", state(&list)?, state(&metadata)?, self.options))
    }

    /// The folder of the notes about builds of this library. Each has the name of the files.
    fn notes(&self) -> PathBuf {
        notes(&self.folder).join(&self.crate_name)
    }
}

/// Whether a file is the source of a crate from a registry. Cargo names the crate's folder after the version. A folder
/// that the user fills may have the next version under the same name.
fn is_in_registry(file: &Path) -> bool {
    let folders: Vec<&OsStr> = file.components().map(Component::as_os_str).collect();
    folders.windows(2).any(|two| *two == ["registry", "src"])
        && file.extension().is_some_and(|ending| ending == "rs")
}

/// The folder of all notes about a folder of libraries. It has the notes about copies too.
fn notes(folder: &Path) -> PathBuf {
    folder.join("../built")
}

/// The list of a library's source files.
fn list(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.d"))
}

/// The file with a library's metadata.
fn metadata(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("lib{name}.rmeta"))
}

/// Returns the length and the time of a file.
fn state(file: &Path) -> io::Result<String> {
    let file = file.metadata()?;
    Ok(format!("{} {:?}", file.len(), file.modified()?))
}

/// Returns a dependency in the arguments as a build has it, with the file's state: a copy's path gives way to that of
/// the file that was copied.
fn as_built(dependency: &str, folder: &Path) -> Option<String> {
    let (name, path) = dependency.split_once('=')?;
    let path = Path::new(path);
    let path = copied(path, folder).unwrap_or_else(|| path.to_owned());
    Some(format!("{name}={} {}", path.display(), state(&path).ok()?))
}

/// Returns the file of a build that a lint's file is a copy of.
fn copied(copy: &Path, folder: &Path) -> Option<PathBuf> {
    let name = copy.file_name()?.to_str()?.strip_prefix("lib")?.strip_suffix(".rmeta")?;
    let built = metadata(folder, &fs::read_to_string(notes(folder).join(name)).ok()?);
    // The compiler may have replaced either file since.
    (fs::read(copy).ok()? == fs::read(&built).ok()?).then_some(built)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::time::SystemTime;

    use tempfile::TempDir;

    use super::{BUILD, CHECK, Library};
    use crate::compiler::arguments;

    const SOURCE: &str = "cargo/registry/src/index/one-1.0.0/src/lib.rs";

    /// A build folder.
    struct Folder(TempDir);

    impl Folder {
        fn new() -> Folder {
            let folder = tempfile::tempdir().expect("a folder");
            for name in ["deps", "script/out"] {
                fs::create_dir_all(folder.path().join(name)).expect("a folder");
            }
            Folder(folder)
        }

        fn path(&self, file: &str) -> String {
            self.0.path().join("deps").join(file).display().to_string()
        }

        /// The library in a command of Cargo.
        fn library(&self, rustc: &str, kind: &str, name: &str, other: &str) -> Option<Library> {
            let (crate_name, suffix) = name.split_once('-').expect("a suffix");
            let line = format!(
                "--crate-name {crate_name} {SOURCE} --crate-type lib {kind} -C metadata=1{suffix} \
                 -C extra-filename=-{suffix} --out-dir {} {other} --cap-lints allow",
                self.path("")
            );
            let script = self.0.path().join("script");
            let out = script.join("output").exists().then(|| script.join("out"));
            Library::new(&arguments(&line), OsStr::new(rustc), out.as_deref().map(OsStr::new))
        }

        /// Lets a build write a library's metadata.
        fn build(&self, name: &str, other: &str) {
            let library = self.library("rustc 1", BUILD, name, other).expect("a library");
            assert!(!library.take(), "the compiler must run");
            self.compile(name, other);
            library.note();
        }

        /// Writes what the compiler writes.
        fn compile(&self, name: &str, metadata: &str) {
            for file in [format!("lib{name}.rmeta"), format!("{name}.d")] {
                fs::write(self.path(&file), format!("{name} {metadata}")).expect("a file");
            }
        }

        /// Runs a lint. Returns whether the compiler need not run.
        fn lint(&self, name: &str, other: &str) -> bool {
            self.library("rustc 1", CHECK, name, other).is_some_and(|library| library.take())
        }

        fn read(&self, file: &str) -> String {
            fs::read_to_string(self.path(file)).expect("a file")
        }

        /// The argument for a dependency on a file.
        fn on(&self, name: &str) -> String {
            format!("--extern one={}", self.path(&format!("lib{name}.rmeta")))
        }

        /// Runs the library's build script.
        fn run_script(&self, output: &str) {
            fs::write(self.0.path().join("script/output"), output).expect("a file");
        }
    }

    #[test]
    fn a_lint_takes_what_a_build_with_the_same_options_wrote() {
        let folder = Folder::new();
        folder.build("one-a", "--cfg x");
        assert!(folder.lint("one-b", "--cfg x"));
        assert_eq!(folder.read("libone-b.rmeta"), "one-a --cfg x");
        assert_eq!(folder.read("one-b.d"), "one-a --cfg x");
        // Another run of the same lint.
        assert!(folder.lint("one-b", "--cfg x"));
        assert!(!folder.lint("one-b", "--cfg y"));
        assert!(!folder.lint("other-b", "--cfg x"));
        let of_another = folder.library("rustc 2", CHECK, "one-b", "--cfg x").expect("a library");
        assert!(!of_another.take());
    }

    #[test]
    fn a_library_that_was_built_again_is_not_the_earlier_one() {
        let folder = Folder::new();
        folder.build("one-a", "--cfg x");
        folder.build("one-a", "--cfg other");
        assert!(!folder.lint("one-b", "--cfg x"));
        assert!(folder.lint("one-b", "--cfg other"));
        assert_eq!(folder.read("libone-b.rmeta"), "one-a --cfg other");
        // Without the wrapper, or by a compiler that was stopped before its end.
        folder.compile("one-a", "with anything");
        assert!(!folder.lint("one-b", "--cfg other"));
    }

    #[test]
    fn the_time_of_a_file_counts() {
        let folder = Folder::new();
        folder.build("one-a", "");
        let file = File::options().write(true).open(folder.path("libone-a.rmeta"));
        file.expect("a file").set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        assert!(!folder.lint("one-b", ""));
    }

    #[test]
    fn a_copy_of_a_dependency_is_the_dependency() {
        let folder = Folder::new();
        folder.build("one-a", "");
        folder.build("two-a", &folder.on("one-a"));
        assert!(!folder.lint("two-b", &folder.on("one-b")), "no copy yet");
        assert!(folder.lint("one-b", ""));
        assert!(folder.lint("two-b", &folder.on("one-b")));
        // The compiler checked this one itself.
        fs::write(folder.path("libone-b.rmeta"), "").expect("a file");
        assert!(!folder.lint("two-b", &folder.on("one-b")));
    }

    #[test]
    fn a_dependency_that_was_built_again_alone_is_another() {
        let folder = Folder::new();
        folder.build("one-a", "");
        folder.build("two-a", &folder.on("one-a"));
        // The build stopped before the next library.
        folder.compile("one-a", "of another build");
        folder.library("rustc 1", BUILD, "one-a", "").expect("a library").note();
        assert!(folder.lint("one-b", ""));
        assert!(!folder.lint("two-b", &folder.on("one-b")));
    }

    #[test]
    fn a_build_script_that_ran_again_counts() {
        let folder = Folder::new();
        folder.run_script("cargo::rustc-env=X=1");
        folder.build("one-a", "");
        assert!(folder.lint("one-b", ""));
        folder.run_script("cargo::rustc-env=X=other");
        assert!(!folder.lint("one-b", ""));
    }

    #[test]
    fn a_failed_build_leaves_nothing_to_take() {
        let folder = Folder::new();
        folder.library("rustc 1", BUILD, "one-a", "").expect("a library").note();
        assert!(!folder.lint("one-b", ""));
    }

    #[test]
    fn only_libraries_of_other_authors_count() {
        let is = |line: &str| Library::new(&arguments(line), OsStr::new(""), None).is_some();
        let line = format!("--crate-name a {SOURCE} --crate-type lib {CHECK} --out-dir deps");
        assert!(is(&format!("{line} --cap-lints allow")));
        assert!(!is(&line));
        assert!(!is(&format!("{line} --cap-lints warn")));
        assert!(!is(&format!("{} --cap-lints allow", line.replace("-type lib", "-type bin"))));
        assert!(!is(&format!("{} --cap-lints allow", line.replace(CHECK, "--emit=link"))));
    }

    /// `cargo vendor` fills the same folder with each version.
    #[test]
    fn a_source_outside_a_registry_may_be_of_another_version() {
        let is = |source: &str| {
            let line = format!("--crate-name a {source} --crate-type lib {BUILD}");
            let line = format!("{line} --out-dir deps --cap-lints allow");
            Library::new(&arguments(&line), OsStr::new(""), None).is_some()
        };
        assert!(is(SOURCE));
        assert!(!is("vendor/one/src/lib.rs"));
        assert!(!is("registry/vendor/src/lib.rs"));
    }
}
