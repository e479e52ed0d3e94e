//! The packages for crates.io, built and used from outside the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata")
}

/// The packages that are published.
const PUBLISHED: [&str; 8] = [
    "randomx-core",
    "randomx-monero",
    "randomx-http",
    "randomx-files",
    "randomx-client",
    "randomx-guard",
    "randomx-console",
    "randomx-cli",
];

fn published(metadata: &Metadata) -> Vec<&Package> {
    let members = metadata.workspace_packages();
    let packages: Vec<&Package> =
        members.into_iter().filter(|package| PUBLISHED.contains(&package.name.as_str())).collect();
    assert_eq!(packages.len(), PUBLISHED.len());
    packages
}

#[test]
fn published_packages_are_described_and_licensed() {
    let metadata = metadata();
    let packages = published(&metadata);
    let licence = fs::read_to_string(root().join("LICENSE")).expect("LICENSE");
    let manifest = fs::read_to_string(root().join("wasm/package.json")).expect("wasm/package.json");
    for package in packages {
        let folder = package.manifest_path.parent().expect("a folder");
        let file = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(file("LICENSE"), licence, "{}: LICENSE", package.name);
        assert!(
            file("README.md").starts_with(&format!("# {}\n", package.name)),
            "{}: README.md",
            package.name
        );
        let repository = package.repository.as_deref().expect("a repository");
        assert!(
            manifest.contains(&format!("\"{repository}\"")),
            "wasm/package.json names {repository}"
        );
    }
}

/// `randomx serve` has a copy, because a package contains only files of its own folder.
#[test]
fn the_servers_headers_are_those_of_the_page() {
    let read = |path| fs::read_to_string(root().join(path)).expect("a file");
    assert_eq!(read("crates/cli/headers.json"), read("web/headers.json"));
}

/// A project of a user: the README of `randomx-core`, with an assertion instead of output.
const PROGRAM: &str = r#"
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache = Arc::new(randomx::Cache::new(b"test key 000")?);
    let mut vm = randomx::Vm::new(cache, randomx::Version::V1)?;
    let hash: [u8; 32] = vm.hash(b"This is a test");
    assert!(hash.starts_with(&[0x63, 0x91, 0x83, 0xaa, 0xe1, 0xbf, 0x4c, 0x9a]));
    assert_eq!(randomx_monero::seed_height(3_727_300), 3_725_312);
    Ok(())
}
"#;

#[test]
#[ignore = "full tests: builds every published crate again"]
fn packages_work_outside_the_workspace() {
    let metadata = metadata();
    let packages = published(&metadata);
    let target = metadata.target_directory.join("packages");
    let outside = tempfile::tempdir().expect("a folder");

    let mut package = cargo(&root(), target.as_std_path());
    // The tests may run before the last commit.
    package.args(["package", "--locked", "--offline", "--no-verify", "--allow-dirty"]);
    package.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    run(&mut package);

    let mut patches = String::from("[patch.crates-io]\n");
    for package in &packages {
        let name = format!("{}-{}", package.name, package.version);
        let archive = target.join("package").join(format!("{name}.crate"));
        run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(outside.path()));
        patches +=
            &format!("{} = {{ path = '{}' }}\n", package.name, outside.path().join(name).display());
    }

    let user = outside.path().join("user");
    fs::create_dir_all(user.join("src")).expect("a folder");
    fs::write(user.join("src/main.rs"), PROGRAM).expect("a program");
    let profile = "[profile.dev.package.randomx-core]\nopt-level = 3\n";
    let readme = fs::read_to_string(root().join("crates/randomx/README.md")).expect("a README");
    assert!(readme.contains(profile), "the README contains this profile");
    let dependencies = "[dependencies]\nrandomx-core = '0.1'\nrandomx-monero = '0.1'\n";
    let manifest = format!(
        "[package]\nname = 'user'\nedition = '2024'\n\n[workspace]\n\n{dependencies}\n{profile}\n{patches}"
    );
    fs::write(user.join("Cargo.toml"), manifest).expect("a manifest");
    run(cargo(&user, target.as_std_path()).args(["run", "--offline", "--quiet"]));

    let cli = packages.iter().find(|package| package.name.as_str() == "randomx-cli");
    let cli = outside.path().join(format!("randomx-cli-{}", cli.expect("a program").version));
    let patch_file = outside.path().join("patches.toml");
    fs::write(&patch_file, patches).expect("a configuration");
    let mut randomx = cargo(&cli, target.as_std_path());
    randomx.args(["run", "--offline", "--quiet", "--config"]).arg(patch_file);
    randomx.args(["--config", "profile.dev.package.randomx-core.opt-level=3"]);
    randomx.args(["--", "hash", "--key-text", "test key 000", "--input-text", "This is a test"]);
    let hash = run(&mut randomx);
    assert!(hash.starts_with("639183aae1bf4c9a"), "{hash}");
}

/// Returns a command that runs cargo in a folder.
fn cargo(folder: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", target);
    // Nobody debugs these programs or builds them again. Without support for either, builds take half of the time.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_PROFILE_DEV_CODEGEN_UNITS", "1");
    // The package that contains this test is not the one to build.
    cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
    cargo
}

/// Runs a command that must succeed, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("a program");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
