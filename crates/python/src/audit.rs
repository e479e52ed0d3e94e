//! Audits that several processes share: one plans and sums up, all work on epochs.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use randomx::{CacheError, PoolError, VmError};
use randomx_arrow::KernelError;
use randomx_epochs::{Error, Folder, Format, Input, Manifest, RULES, Rows, Take, Task};
use randomx_monero::Network;
use serde::{Deserialize, Serialize};

use crate::argument;
use crate::checkpoint;
use crate::hashing::thread_count;
use crate::storage::{self, Storages};

/// The most memory that the rows of an epoch may take. A task declares it.
const MOST_ROWS: usize = 256 << 20;

/// An audit of an input into a folder, planned by this process.
#[pyclass(frozen, module = "randomx_web._native")]
pub(crate) struct Audit {
    folder: Folder,
    output: PathBuf,
    manifest: Manifest,
    network: Network,
    jobs: Vec<(Task, Rows)>,
    memory: usize,
    left_out: u64,
}

/// All that a process needs to audit an epoch, besides the storages.
#[derive(Serialize, Deserialize)]
struct Job {
    /// The number of the rules by which the process that plans judges rows.
    rules: u32,
    output: PathBuf,
    manifest: Manifest,
    network: String,
    task: Task,
    rows: Rows,
}

#[pymethods]
impl Audit {
    #[new]
    #[pyo3(signature = (
        input, output, *, lines = false, first = None, last = None, network = "mainnet", reads = None, writes = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python has keywords")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = argument::input)] input: PathBuf,
        #[pyo3(from_py_with = argument::output)] output: PathBuf,
        #[pyo3(from_py_with = argument::lines)] lines: bool,
        #[pyo3(from_py_with = argument::first)] first: Option<u64>,
        #[pyo3(from_py_with = argument::last)] last: Option<u64>,
        #[pyo3(from_py_with = argument::network)] network: &str,
        reads: Option<Py<PyAny>>,
        writes: Option<Py<PyAny>>,
    ) -> PyResult<Audit> {
        let network = checkpoint::network(network)?;
        let storages = Storages::new(reads, writes);
        let reads = storages.reads.as_ref();
        let format = if lines { Format::Lines } else { Format::Parquet };
        let open = || {
            let mut input = Input::open(reads, &input, format, MOST_ROWS)?;
            input.check_output(reads, storages.writes.as_ref(), &output)?;
            let jobs = input.plan(reads, first, last)?;
            // The folder of an audit by the program `randomx-audit` is the same.
            let manifest = Manifest { command: "audit".to_owned(), input: input.name(network) };
            let folder = Folder::open(Arc::clone(&storages.writes), &output, &manifest)?;
            Ok((folder, manifest, jobs, input))
        };
        let (folder, manifest, jobs, input) = storage::detach(py, open)?.map_err(error)?;
        let (memory, left_out) = (input.memory(), input.left_out());
        Ok(Audit { folder, output, manifest, network, jobs, memory, left_out })
    }

    /// The number of epochs.
    #[getter]
    fn epochs(&self) -> usize {
        self.jobs.len()
    }

    /// The bytes of memory that the rows of an epoch take.
    #[getter]
    fn memory(&self) -> usize {
        self.memory
    }

    /// The number of rows that a range leaves out because they have no height.
    #[getter]
    fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the epochs that are not done: their names, and jobs for `audit_epoch`.
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let find = || randomx_epochs::left(&self.folder, &self.jobs, |(task, _)| task);
        let left = storage::detach(py, find)?.map_err(error)?;
        let job = |(task, rows): &(Task, Rows)| {
            let job = Job {
                rules: RULES,
                output: self.output.clone(),
                manifest: self.manifest.clone(),
                network: self.network.to_string(),
                task: task.clone(),
                rows: rows.clone(),
            };
            let json = serde_json::to_vec(&job);
            let json = json.map_err(|problem| PyValueError::new_err(problem.to_string()))?;
            Ok((task.epoch.to_string(), PyBytes::new(py, &json)))
        };
        left.into_iter().map(job).collect()
    }

    /// Writes the summary of all epochs. Returns the number of invalid rows, the summary as text, and why some rows have
    /// no verdict.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, String, Option<String>)> {
        let summarize = || {
            self.folder.remove_unfinished();
            let tasks = self.jobs.iter().map(|(task, _)| task);
            randomx_epochs::summarize(&self.folder, tasks)
        };
        let summary = storage::detach(py, summarize)?.map_err(error)?;
        let mut text = Vec::new();
        summary.print(&mut text)?;
        Ok((summary.counts.invalid, String::from_utf8(text)?, summary.unjudged()))
    }
}

/// Audits an epoch, and writes its file. Returns whether that was left to do.
#[pyfunction]
#[pyo3(signature = (job, *, threads = 1, reads = None, writes = None))]
pub(crate) fn audit_epoch(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::job)] job: PyBackedBytes,
    #[pyo3(from_py_with = argument::threads)] threads: Option<u64>,
    reads: Option<Py<PyAny>>,
    writes: Option<Py<PyAny>>,
) -> PyResult<bool> {
    let threads = thread_count(threads)?;
    let Job { rules, output, manifest, network, task, rows } = serde_json::from_slice(&job)
        .map_err(|problem| PyValueError::new_err(format!("job: {problem}")))?;
    if rules != RULES {
        let advice = "install the same release of randomx-web on every machine";
        let problem =
            format!("job: expected a job of rules {RULES}, got one of rules {rules}; {advice}");
        return Err(PyValueError::new_err(problem));
    }
    let network = checkpoint::network(&network)?;
    let storages = Storages::new(reads, writes);
    let work = || {
        let folder = Folder::join(Arc::clone(&storages.writes), &output, &manifest)?;
        // An attempt before this one may have been lost after the file was written.
        if randomx_epochs::done(&folder, &task)?.is_some() {
            return Ok(false);
        }
        let mut kernel = randomx_epochs::kernel(threads, network, false);
        let read = |take: Take<'_>| rows.read(storages.reads.as_ref(), take);
        let goes_on = |_| storage::handle_signals();
        randomx_epochs::audit(&folder, &mut kernel, &task, false, read, goes_on)?;
        Ok(true)
    };
    storage::detach(py, work)?.map_err(error)
}

/// Escapes characters with which text of an input or of a storage could control a terminal.
#[pyfunction]
pub(crate) fn printable(text: &str) -> String {
    randomx_console::printable(text)
}

/// Converts an error. Callers repeat an audit that lacked memory or whose storage failed.
fn error(problem: Error) -> PyErr {
    let text = problem.to_string();
    match problem {
        Error::Kernel { problem, .. } if is_out_of_memory(&problem) => PyMemoryError::new_err(text),
        Error::Read { .. } | Error::Write { .. } | Error::Gone { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn is_out_of_memory(problem: &KernelError) -> bool {
    match problem {
        KernelError::Cache(problem) => matches!(problem, CacheError::OutOfMemory { .. }),
        KernelError::Pool(problem) => matches!(
            problem,
            PoolError::OutOfMemory { .. } | PoolError::Vm(VmError::OutOfMemory { .. })
        ),
        _ => false,
    }
}
