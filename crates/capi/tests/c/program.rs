//! Compiles and runs programs in C and C++.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::installed;

/// The library that a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// This one, static, without any other library.
    Static,
    /// This one, static, in a program with the address and undefined behaviour sanitizers.
    Sanitized,
    /// This one, shared.
    Shared,
    /// Debian's build of the reference implementation.
    Debian,
}

/// A compiled program.
pub(crate) struct Program(PathBuf);

impl Program {
    /// Compiles a file of this crate, with warnings as errors. Each call of a process writes a file of its
    /// own: its tests run at the same time, and compile the same program.
    pub(crate) fn compile(path: &str, library: Library) -> Program {
        let file = installed::source(path);
        let name = file.file_stem().and_then(OsStr::to_str).expect("a file's name");
        let cpp = file.extension().is_some_and(|extension| extension == "cpp");
        static COMPILED: AtomicUsize = AtomicUsize::new(0);
        let number = COMPILED.fetch_add(1, Ordering::Relaxed);
        let output = installed::folder("programs").join(format!("{name}-{library:?}-{number}"));

        let mut compiler = Command::new(if cpp { "c++" } else { "cc" });
        compiler.arg(if cpp { "-std=c++17" } else { "-std=c11" });
        compiler.args(["-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]);
        if library == Library::Sanitized {
            compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        }
        let lib = installed::native().join("lib");
        if library != Library::Debian {
            compiler.arg("-I").arg(installed::native().join("include"));
        }
        compiler.arg(&file).arg("-o").arg(&output);
        match library {
            Library::Debian => compiler.arg("-lrandomx"),
            Library::Static | Library::Sanitized => compiler.arg(lib.join("librandomx.a")),
            Library::Shared => compiler
                .arg("-L")
                .arg(&lib)
                .arg("-lrandomx")
                .arg(format!("-Wl,-rpath,{}", lib.display())),
        };
        // For the functions of <fenv.h>.
        compiler.arg("-lm");
        let status = compiler.status().expect("a C and C++ compiler");
        assert!(status.success(), "{compiler:?}: {status}");
        let program = Program(output);
        program.assert_loads(library);
        program
    }

    /// Asserts which `librandomx.so.0` the dynamic linker finds: where Debian's is installed, a program
    /// could get that one instead.
    fn assert_loads(&self, library: Library) {
        // The dynamic linker prints the libraries and does not start the program.
        let list = printed(Command::new(&self.0).env("LD_TRACE_LOADED_OBJECTS", "1"));
        let lines = list.lines().filter_map(|line| line.trim().strip_prefix("librandomx.so"));
        let found = lines.filter_map(|line| line.split(" => ").nth(1)?.split(" (").next());
        let found: Vec<PathBuf> =
            found.map(|path| fs::canonicalize(path).expect("a library")).collect();
        let ours = installed::native().join("lib/librandomx.so.0");
        let ours = ours.canonicalize().expect("the installed library");
        match library {
            Library::Static | Library::Sanitized => assert!(found.is_empty(), "{list}"),
            Library::Shared => assert_eq!(found, [ours], "{list}"),
            Library::Debian => assert!(found.len() == 1 && found[0] != ours, "{list}"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the program and returns its output. It must succeed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        printed(Command::new(&self.0).args(arguments))
    }

    /// Runs the program with `input` and returns its output.
    pub(crate) fn run_with(&self, input: &str) -> String {
        printed_with(&mut Command::new(&self.0), input)
    }
}

/// Runs a command and returns its output. It must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.stderr(Stdio::inherit()).output().expect("a program that starts");
    text(command, output)
}

/// Runs a command with `input` and returns its output.
pub(crate) fn printed_with(command: &mut Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a program that starts");
    let mut stdin = child.stdin.take().expect("its standard input");
    // In another thread, since the program may print before it has read everything.
    let output = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()));
        child.wait_with_output().expect("its output")
    });
    text(command, output)
}

fn text(command: &Command, output: Output) -> String {
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_program_is_compiled_by_several_threads_at_once() {
    let compile = || Program::compile("examples/commitment.c", Library::Static);
    let programs = thread::scope(|scope| {
        [(); 4].map(|()| scope.spawn(compile)).map(|thread| thread.join().expect("a program"))
    });
    let files: HashSet<&Path> = programs.iter().map(Program::path).collect();
    assert_eq!(files.len(), programs.len());
}
