//! Builds the wheel, installs it in a fresh virtual environment, and runs the tests in Python there. Checks the types,
//! lints and format of the code in Python.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use randomx_testing::{is_full, say};

/// The packages that the tests need, in tested versions.
const PACKAGES: [&str; 10] = [
    "maturin==1.16.0",
    "ray==2.60.0",
    "moto[server]==5.2.5",
    "pyarrow==26.0.1",
    "polars==2.1.0",
    "duckdb==2.0.0",
    "pandas==3.1.1",
    "pytest==9.2.0",
    "mypy==2.4.1",
    "ruff==0.17.6",
];

fn run(command: &mut Command) {
    let status = command.status().expect("the command starts");
    assert!(status.success(), "{command:?}: {status}");
}

/// The program whose results those on a cluster must equal. Cargo builds it with the workspace's tests.
fn randomx_audit() -> PathBuf {
    let test = env::current_exe().expect("the path of this program");
    let folder = test.ancestors().nth(2).expect("a build folder");
    let program = folder.join(format!("randomx-audit{}", env::consts::EXE_SUFFIX));
    let build = "cargo build --profile checked -p randomx-audit";
    assert!(program.is_file(), "{} is missing; {build} makes it", program.display());
    program
}

/// Whether `python3` can create virtual environments. Debian has `ensurepip` in a package of its own.
fn has_python() -> bool {
    let output = Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// How to get it.
const HINT: &str = "`cargo xtask setup` installs it on Debian, from python3 and python3-venv";

#[test]
#[ignore = "full tests: builds the wheel, and installs packages from PyPI"]
fn the_wheel_works_in_a_fresh_environment() {
    if !has_python() {
        assert!(!is_full(), "the wheel needs python3 with venv and ensurepip; {HINT}");
        say("skipped: no python3 with venv and ensurepip");
        return;
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let new = |name: &str| -> PathBuf {
        let path = folder.path().join(name);
        run(Command::new("python3").args(["-m", "venv"]).arg(&path));
        path.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
    };
    let [tools, fresh] = ["tools", "fresh"].map(new);
    let pip = |python: &Path| {
        let mut pip = Command::new(python);
        // Most modules of these packages are never imported.
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
        ]);
        pip
    };
    let wheels = folder.path().join("wheels");
    run(pip(&tools).args(&PACKAGES[..1]));
    let mut maturin = Command::new(&tools);
    maturin.args(["-m", "maturin", "build", "--locked", "--profile", "checked", "--out"]);
    run(maturin.arg(&wheels).arg("--interpreter").arg(&tools).current_dir(crate_folder));
    let wheel = wheels.read_dir().expect("a folder").next().expect("a wheel").expect("a file");
    let name = wheel.file_name().into_string().expect("a name");
    let expected = concat!("randomx_web-", env!("CARGO_PKG_VERSION"), "-cp310-abi3-");
    assert!(name.starts_with(expected), "{name}");
    // Without other packages.
    run(pip(&fresh).args(["--no-index", "--no-deps"]).arg(wheel.path()));
    run(Command::new(&fresh).args(["-c", "import randomx_web; randomx_web.seed_height(1)"]));
    let wheel = wheel.path().into_os_string().into_string().expect("a path in UTF-8");
    run(pip(&fresh).arg(format!("{wheel}[ray]")).args(&PACKAGES[1..]));
    let tests = crate_folder.join("tests/python");
    let vectors = crate_folder.join("../../tests/vectors");
    let python = |arguments: &[&str]| {
        let mut python = Command::new(&fresh);
        python.args(arguments).arg(&tests).current_dir(folder.path());
        // Nothing is written beside the sources.
        python.env("RANDOMX_VECTORS", &vectors).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("RANDOMX_AUDIT", randomx_audit());
        run(&mut python);
    };
    python(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    let null = if cfg!(windows) { "nul" } else { "/dev/null" };
    let mypy = ["-m", "mypy", "--strict", "--cache-dir", null];
    python(&[&mypy[..], &["--disable-error-code", "import-untyped"]].concat());
    for check in [&["check"][..], &["format", "--check"]] {
        let mut ruff = Command::new(&fresh);
        ruff.args(["-m", "ruff"]).args(check).args(["--no-cache", "python", "tests"]);
        run(ruff.current_dir(crate_folder));
    }
}
