//! The compiler of what is published for a target, and what runs it here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::setup::{Foreign, ForeignTools, Node, foreign_tools};
use crate::{build, process, workspace};

/// The variable that holds a commit's time: <https://reproducible-builds.org/docs/source-date-epoch>.
pub(crate) const TIME: &str = "SOURCE_DATE_EPOCH";

/// The compiler for a target, and what runs its programs here.
pub(crate) struct Builder {
    target: String,
    /// The tools for another system, or `None` for this one.
    foreign: Option<ForeignTools>,
}

impl Builder {
    /// Builds for this system.
    pub(crate) fn native() -> Result<Self> {
        Ok(Builder { target: build::host()?, foreign: None })
    }

    /// Builds for another system, after installing what that needs.
    pub(crate) fn foreign(foreign: &'static Foreign) -> Result<Self> {
        let target = foreign.target.to_owned();
        let tools = foreign_tools(foreign)?;
        // It is installed if it is missing.
        tools.node()?;
        Ok(Builder { target, foreign: Some(tools) })
    }

    /// The target, such as `x86_64-unknown-linux-gnu`.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns a command of Cargo that builds what is published. `commit` is the time of the last commit, in seconds
    /// since 1970, if archives are made from it.
    pub(crate) fn cargo(&self, commit: Option<&str>) -> Result<Command> {
        let mut cargo = match &self.foreign {
            Some(tools) => tools.published()?,
            None => {
                let mut cargo = process::command("cargo");
                cargo.args(["build", "--locked", "--release"]);
                build::published(&mut cargo)?;
                cargo
            }
        };
        // MinGW's linker writes this time into programs and libraries, and without it the current one.
        cargo.envs(commit.map(|commit| (TIME, commit)));
        Ok(cargo)
    }

    /// Returns the compiler's version and date, as in `1.95.0 (59807616e 2026-04-14)`.
    pub(crate) fn compiler(&self) -> Result<String> {
        let mut rustc = match &self.foreign {
            Some(tools) => tools.rustc()?,
            None => process::command("rustc"),
        };
        let version = process::read(rustc.arg("--version"))?;
        let version = version.trim().strip_prefix("rustc ").context("rustc prints no version")?;
        Ok(version.to_owned())
    }

    /// Returns a command that compiles and links programs in C.
    pub(crate) fn c_compiler(&self) -> Command {
        match &self.foreign {
            Some(tools) => tools.c_compiler(),
            None => process::command("gcc"),
        }
    }

    /// Returns the folder of what is built.
    pub(crate) fn folder(&self) -> PathBuf {
        match &self.foreign {
            Some(tools) => tools.built("release"),
            None => workspace::target_dir().join("release"),
        }
    }

    /// Returns a command that runs a built program here.
    pub(crate) fn run(&self, program: &Path) -> Command {
        match &self.foreign {
            Some(tools) => tools.emulate(program),
            None => process::command(program),
        }
    }

    /// Returns a command that runs scripts in a Node.js for the target.
    pub(crate) fn node(&self) -> Result<Command> {
        match &self.foreign {
            Some(tools) => tools.node(),
            None => Node::Installed.command(),
        }
    }
}
