//! The machine that RandomX runs on, and how it runs there.

use std::io::{self, Write};

use randomx::{Version, cpu::Cpu};
use randomx_console::Machine;
use serde::{Deserialize, Serialize};

use crate::mode::Mode;

/// A machine, and what RandomX uses of it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Host {
    #[serde(flatten)]
    pub(crate) machine: Machine,
    /// The implementations of RandomX's primitives, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) implementations: Option<String>,
    /// The SHA-256 hash of the program's file, if it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    /// The engine that executes programs, if one was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<String>,
    /// The lanes of VMs by mode, version and threads, if some were created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lanes: Option<String>,
    /// The pages of caches and of datasets, if any were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cache: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// The reference implementation, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
}

/// The lanes of VMs that hash at the same time.
pub(crate) struct VmLanes {
    pub(crate) mode: Mode,
    pub(crate) version: Version,
    pub(crate) threads: usize,
    /// `None` if the first hashes will decide.
    pub(crate) lanes: Option<usize>,
    /// Whether the lanes prefetch dataset items in pairs.
    pub(crate) pairs: bool,
}

impl Host {
    /// Sets the description of the lanes.
    pub(crate) fn set_lanes(&mut self, lanes: &[VmLanes]) {
        let text = |&VmLanes { mode, version, threads, lanes, pairs }: &VmLanes| {
            let lanes = lanes.map(|lanes| lanes.to_string());
            let lanes = lanes.as_deref().unwrap_or("measured with the first hashes");
            let pairs = if pairs { " with prefetches in pairs" } else { "" };
            match threads {
                1 => format!("{mode} {version} {lanes}{pairs}"),
                _ => format!("{mode} {version} {lanes}{pairs} on {threads} threads"),
            }
        };
        let texts: Vec<String> = lanes.iter().map(text).collect();
        self.lanes = (!texts.is_empty()).then(|| texts.join(", "));
    }

    /// Describes this machine today, with the extensions in `cpu`.
    pub(crate) fn new(cpu: Cpu) -> Host {
        let program = concat!("randomx ", env!("CARGO_PKG_VERSION"));
        Host { machine: Machine::new(program, cpu.to_string()), ..Host::default() }
    }

    /// Writes one line for each field.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let used = [
            ("primitives", &self.implementations),
            ("sha256", &self.sha256),
            ("engine", &self.engine),
            ("lanes", &self.lanes),
            ("cache", &self.cache),
            ("dataset", &self.dataset),
            ("reference", &self.reference),
        ];
        let used = used.into_iter().filter_map(|(label, text)| Some((label, text.clone()?)));
        let mut lines = self.machine.lines().into_iter().chain(used);
        lines.try_for_each(|(label, text)| writeln!(out, "{label:<10} {text}"))
    }
}
