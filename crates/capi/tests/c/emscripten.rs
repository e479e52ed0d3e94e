//! The same programs, compiled by Emscripten, in Node.js. Their expected output is stored for the tests
//! in browsers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installed;
use crate::program::{Library, Program, printed, printed_with};
use crate::vectors;

/// Compiles a C program with Emscripten and returns the script that starts it.
fn compile(path: &str) -> PathBuf {
    let file = installed::source(path);
    let name = file.file_stem().expect("a file's name");
    let folder = installed::folder("web");
    // The folder may be inside a package of ES modules, but Emscripten's scripts are CommonJS.
    fs::write(folder.join("package.json"), r#"{"type":"commonjs"}"#).expect("a file");
    let script = folder.join(name).with_extension("js");
    let prefix = installed::emscripten();
    let mut emcc = Command::new("emcc");
    emcc.args(["-O1", "-msimd128", "-sALLOW_MEMORY_GROWTH=1", "-sINITIAL_MEMORY=64MB"]);
    emcc.args(["-sMAXIMUM_MEMORY=1GB", "-sEXIT_RUNTIME=1"]);
    emcc.arg("-I").arg(prefix.join("include")).arg(&file);
    emcc.arg(prefix.join("lib/librandomx.a")).arg("-o").arg(&script);
    let status = emcc.status().expect("Emscripten");
    assert!(status.success(), "{emcc:?}: {status}");
    script
}

/// Returns Node.js for a script of Emscripten. Old versions of Emscripten mistake Node.js for a browser
/// if it has `fetch`.
fn node(script: &Path) -> Command {
    let mut node = Command::new("node");
    node.arg("--no-experimental-fetch").arg(script);
    node
}

/// Stores the expected output of a program for the tests in browsers.
fn store(script: &Path, expected: &str) {
    fs::write(script.with_extension("txt"), expected).expect("a file");
}

#[test]
#[ignore = "full tests: needs Emscripten"]
fn examples_print_the_same() {
    for example in ["examples/one_hash.c", "examples/commitment.c"] {
        let expected = Program::compile(example, Library::Static).run(&[]);
        let script = compile(example);
        assert_eq!(printed(&mut node(&script)), expected, "{example}");
        store(&script, &expected);
    }
}

#[test]
#[ignore = "full tests: needs Emscripten"]
fn random_inputs_have_the_same_hashes() {
    let program = "tests/programs/series.c";
    let native = Program::compile(program, Library::Static);
    let script = compile(program);
    for (count, version) in [("100", "1"), ("100", "2")] {
        let expected = native.run(&[count, version]);
        assert_eq!(printed(node(&script).args([count, version])), expected, "v{version}");
    }
    // Few, since the test in browsers has a time limit.
    store(&script, &native.run(&["20", "2"]));
}

#[test]
#[ignore = "full tests: needs Emscripten"]
fn vectors_have_the_same_hashes() {
    let (input, expected) = vectors::lines(&vectors::read("specification-hashes.json"));
    let script = compile("tests/programs/hashes.c");
    assert_eq!(printed_with(&mut node(&script), &input), expected);
}
