//! Running other programs.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};

use crate::{output, processor_time, workspace};

/// How many lines of a log are shown when the program that wrote it failed.
const LOG_TAIL: usize = 25;

/// A command that runs in the repository's root.
///
/// npm puts `node_modules/.bin` first on `PATH`, and the packages of the latest Node.js have an executable there.
/// Without that folder, `node` is the user's own.
pub(crate) fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(workspace::root()).env("PATH", path_without_npm());
    command
}

/// Returns the path of this program. The first call finds it, and later ones return the same: when a new build has
/// replaced the program, Linux names the removed file instead, which cannot be started. So `main` calls this at once.
pub(crate) fn itself() -> Result<&'static Path> {
    static ITSELF: OnceLock<io::Result<PathBuf>> = OnceLock::new();
    let path = ITSELF.get_or_init(env::current_exe).as_deref();
    path.map_err(|error| anyhow!("this program's path is not known: {error}"))
}

/// The full path of a program on `PATH`, if it exists.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    which::which_in(program, Some(path_without_npm()), workspace::root()).ok()
}

/// Returns the value of `PATH` without npm's folders: the folders `first`, then the user's, then the folders `last`.
pub(crate) fn path_with(first: &[PathBuf], last: &[PathBuf]) -> Result<OsString> {
    let rest = path_without_npm();
    let all = first.iter().cloned().chain(env::split_paths(&rest)).chain(last.iter().cloned());
    env::join_paths(all).context("a folder's name cannot be in PATH")
}

/// How far below the main thread's priority that of another thread is. The numbers are differences of Unix's nice values.
#[derive(Clone, Copy)]
pub(crate) enum Yields {
    /// To the series that lasts longest.
    Somewhat = 5,
    /// To all work that must be done before the run ends.
    Mostly = 10,
    /// To everything: the work lasts for a given time, however much of it gets done.
    Fully = 15,
}

/// Lowers the priority of this thread and of everything that it starts from now on.
#[cfg(target_os = "linux")]
pub(crate) fn lower_priority(yields: Yields) {
    use rustix::process::{getpid, getpriority_process, setpriority_process};

    // The process's id is that of its main thread, and none is that of this thread. Without the lower priority, other
    // work takes longer.
    let usual = getpriority_process(Some(getpid())).unwrap_or(0);
    let _ = setpriority_process(None, usual + yields as i32);
}

/// Only Linux has priorities for single threads.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_priority(_: Yields) {}

/// Runs a command and shows its output to the user.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let (stdout, stderr) = output::stdio();
    finish(command, stdout, stderr)
}

/// Runs a command whose standard output goes to a file. Its errors are shown to the user.
pub(crate) fn run_into(command: &mut Command, file: File) -> Result<()> {
    let (_, stderr) = output::stdio();
    finish(command, file.into(), stderr)
}

fn finish(command: &mut Command, stdout: Stdio, stderr: Stdio) -> Result<()> {
    let shown = show(command);
    let status = status(command.stdout(stdout).stderr(stderr))
        .with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown} failed ({status})");
    }
    Ok(())
}

/// Runs a command, counts its processor time, and returns its status.
fn status(command: &mut Command) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    processor_time::count(&child);
    child.wait()
}

/// Runs a command and returns its standard output. Its errors are shown to the user.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let (_, stderr) = output::stdio();
    let output =
        command.stderr(stderr).output().with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown} failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{shown} did not print UTF-8"))
}

/// Runs a long command whose output goes to `log`. If it fails, the end of the log is shown.
pub(crate) fn run_logged(command: &mut Command, log: &Path) -> Result<()> {
    run_logged_from(Stdio::null(), command, log)
}

/// Like [`run_logged`], with a standard input.
pub(crate) fn run_logged_from(stdin: Stdio, command: &mut Command, log: &Path) -> Result<()> {
    let shown = show(command);
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let status = status(command.stdin(stdin).stdout(file.try_clone()?).stderr(file))
        .with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        let text = String::from_utf8_lossy(&fs::read(log)?).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines[lines.len().saturating_sub(LOG_TAIL)..] {
            output::line(format_args!("    {line}"));
        }
        if let Some(full) = log.parent().filter(|folder| is_full(folder)) {
            bail!("{shown} failed ({status}): the disk of {} is full", full.display());
        }
        bail!("{shown} failed ({status}); its whole output is in {}", log.display());
    }
    Ok(())
}

/// Whether the disk of a folder has less than 4 MiB left. A log on it may lack the cause of a failure.
#[cfg(target_os = "linux")]
fn is_full(folder: &Path) -> bool {
    const LITTLE: u64 = 4 << 20;
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LITTLE)
}

/// Other systems assemble no tools, which fill a disk.
#[cfg(not(target_os = "linux"))]
fn is_full(_: &Path) -> bool {
    false
}

/// Calls `work` with an empty folder, and removes the folder also if `work` fails. Otherwise a failure on a full disk
/// would leave the disk full.
pub(crate) fn with_work_folder<T>(
    folder: &Path,
    work: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    remove_dir(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let done = work(folder);
    let removed = remove_dir(folder);
    let done = done?;
    removed?;
    Ok(done)
}

/// Removes a file if it exists.
pub(crate) fn remove_file(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

/// Removes a folder and its content. The folder may be absent.
pub(crate) fn remove_dir(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn path_without_npm() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let kept = env::split_paths(&path).filter(|folder| !folder.ends_with("node_modules/.bin"));
    env::join_paths(kept).unwrap_or(path)
}

/// The command as the user would type it: the program's name and its arguments.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut shown = String::from("`");
    shown += &program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    for argument in command.get_args() {
        shown.push(' ');
        shown += &argument.to_string_lossy();
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs::{self, File};

    use anyhow::bail;

    use super::{command, run_into, with_work_folder};

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_was_replaced_keeps_its_path() {
        /// Set where the test runs again in a program that removes its own file.
        const IS_REMOVED: &str = "RANDOMX_XTASK_TEST_IS_REMOVED";

        if env::var_os(IS_REMOVED).is_some() {
            let path = super::itself().expect("a path");
            fs::remove_file(path).expect("removed");
            assert_eq!(super::itself().expect("a path"), path);
            return;
        }
        // A link: while a file is written, other tests can keep it from being started.
        let program = env::current_exe().expect("this program");
        let folder = tempfile::tempdir_in(program.parent().expect("a folder")).expect("a folder");
        let link = folder.path().join("link");
        fs::hard_link(program, &link).expect("a link");
        let mut test = command(&link);
        test.args(["--exact", "process::tests::a_program_that_was_replaced_keeps_its_path"]);
        let output = test.env(IS_REMOVED, "1").output().expect("the test");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed"), "{text}");
        assert!(!link.exists());
    }

    #[test]
    fn a_work_folder_is_empty_at_first_and_removed_after_a_failure() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("unfinished");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("of an earlier run"), "").expect("a file");
        let failed = with_work_folder(&folder, |work| -> anyhow::Result<()> {
            assert_eq!(fs::read_dir(work).expect("files").count(), 0);
            fs::write(work.join("file"), "")?;
            bail!("no luck");
        });
        assert_eq!(failed.expect_err("it failed").to_string(), "no luck");
        assert!(!folder.exists());
    }

    /// A thread may yield to more and more.
    #[cfg(target_os = "linux")]
    #[test]
    fn priorities_do_not_add_up() {
        use rustix::process::{getpid, getpriority_process};

        use super::{Yields, lower_priority};

        let usual = getpriority_process(Some(getpid())).expect("a priority");
        let thread = std::thread::spawn(|| {
            [Yields::Somewhat, Yields::Mostly, Yields::Fully].map(|yields| {
                lower_priority(yields);
                getpriority_process(None).expect("a priority")
            })
        });
        let found = thread.join().expect("no panic");
        assert_eq!(found, [5, 10, 15].map(|below| (usual + below).min(19)));
    }

    #[test]
    fn output_goes_to_the_file() {
        let path = env::temp_dir().join(format!("randomx-xtask-{}", std::process::id()));
        let file = File::create(&path).expect("a file");
        run_into(command("cargo").arg("--version"), file).expect("cargo");
        let text = fs::read_to_string(&path).expect("text");
        fs::remove_file(&path).expect("removed");
        assert!(text.starts_with("cargo "), "{text}");
    }
}
