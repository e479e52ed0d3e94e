//! The command line: lists experiments, writes streams, runs an experiment and writes its report.

mod arguments;
mod failure;
mod progress;

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use randomx::cpu::Cpu;
use randomx_console::{Machine, write_results};
use randomx_lab::{Report, find};

pub(crate) use arguments::Arguments;
pub(crate) use failure::Failure;
use progress::StageBar;

const PROGRAM: &str = concat!("randomx-lab ", env!("CARGO_PKG_VERSION"));

/// Does what the arguments ask for.
pub(crate) fn run(args: &Arguments) -> Result<(), Failure> {
    let Some(name) = &args.experiment else {
        return print(&randomx_lab::list());
    };
    let experiment = find(name)?;
    if let Some(name) = &args.raw {
        let stream = randomx_lab::stream(experiment, name, args.seed)?;
        let mut stream = stream.take(args.bytes.unwrap_or(u64::MAX));
        let written = write_results(|out| io::copy(&mut stream, out).map(|_| ()));
        return written.map_err(Failure::Print);
    }
    // Checked first: an experiment may take minutes.
    let files = [&args.json, &args.csv, &args.markdown];
    files.into_iter().flatten().try_for_each(|file| check_writable(file))?;
    args.svg.as_deref().map(make_folder).transpose()?;

    let mut bar = StageBar::on_terminal();
    let mut report = randomx_lab::run(experiment, &args.settings(), &mut bar)?;
    drop(bar);
    let machine = Machine::new(PROGRAM, Cpu::detect().to_string()).lines();
    report.machine = machine.into_iter().map(|(label, value)| (label.to_owned(), value)).collect();
    write(&report, args)
}

/// Writes the files that were asked for, and prints the tables unless one of those files is stdout.
fn write(report: &Report, args: &Arguments) -> Result<(), Failure> {
    let mut printed = false;
    let mut put = |file: &Option<PathBuf>, text: &dyn Fn() -> Result<String, Failure>| match file {
        Some(file) => {
            printed |= is_stdout(file);
            put(file, &text()?)
        }
        None => Ok(()),
    };
    put(&args.json, &|| Ok(report.to_json()? + "\n"))?;
    put(&args.csv, &|| Ok(report.to_csv()?))?;
    put(&args.markdown, &|| Ok(report.to_markdown()))?;
    if let Some(folder) = &args.svg {
        for (name, text) in report.to_svg()? {
            self::put(&folder.join(name), &text)?;
        }
    }
    if printed { Ok(()) } else { print(&report.to_text()) }
}

fn put(file: &Path, text: &str) -> Result<(), Failure> {
    if is_stdout(file) {
        return print(text);
    }
    fs::write(file, text).map_err(|problem| unwritable(file, problem))
}

fn print(text: &str) -> Result<(), Failure> {
    write_results(|out| out.write_all(text.as_bytes())).map_err(Failure::Print)
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Opens a file for writing, which creates it if it is missing.
fn check_writable(file: &Path) -> Result<(), Failure> {
    if is_stdout(file) {
        return Ok(());
    }
    let opened = fs::File::options().append(true).create(true).open(file);
    opened.map(|_| ()).map_err(|problem| unwritable(file, problem))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|problem| unwritable(folder, problem))
}

fn unwritable(file: &Path, problem: io::Error) -> Failure {
    Failure::Write { file: file.to_owned(), problem }
}
