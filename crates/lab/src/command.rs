//! The command line: lists experiments, writes streams, runs an experiment and writes its report.

mod arguments;
mod failure;
mod files;
mod progress;

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use randomx::cpu::Cpu;
use randomx_console::{Machine, write_results};
use randomx_lab::{LabError, Report, find};

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
        return write_stream(&mut stream.take(args.bytes.unwrap_or(u64::MAX)));
    }
    // Checked first: an experiment may take minutes.
    files::check_different(&args.reports())?;
    args.reports().into_iter().try_for_each(|(_, file)| check_writable(file))?;
    args.svg.as_deref().map(make_folder).transpose()?;

    let mut bar = StageBar::on_terminal();
    let mut report = randomx_lab::run(experiment, &args.settings(), &mut bar)?;
    drop(bar);
    let machine = Machine::new(PROGRAM, Cpu::detect().to_string()).lines();
    report.machine = machine.into_iter().map(|(label, value)| (label.to_owned(), value)).collect();
    write(&report, args)
}

/// Writes a random stream to stdout.
fn write_stream(stream: &mut dyn Read) -> Result<(), Failure> {
    let mut buffer = vec![0; 1 << 16];
    let mut read = Ok(());
    let written = write_results(|out| {
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => out.write_all(&buffer[..count])?,
                Err(problem) => {
                    read = Err(LabError::Io { what: "a random stream", problem });
                    return Ok(());
                }
            }
        }
    });
    written.map_err(Failure::Print)?;
    read.map_err(Failure::Experiment)
}

/// Writes the files that were asked for, and prints the tables unless one of those files is stdout.
/// After a failure it goes on with the others, because the experiment may have taken minutes.
fn write(report: &Report, args: &Arguments) -> Result<(), Failure> {
    let is_printed = args.reports().into_iter().any(|(_, file)| is_stdout(file));
    let put = |file: &Option<PathBuf>, text: &dyn Fn() -> Result<String, Failure>| match file {
        Some(file) => put(file, &text()?),
        None => Ok(()),
    };
    let written = [
        if is_printed { Ok(()) } else { print(&report.to_text()) },
        put(&args.json, &|| Ok(report.to_json()? + "\n")),
        put(&args.csv, &|| Ok(report.to_csv()?)),
        put(&args.markdown, &|| Ok(report.to_markdown())),
        args.svg.as_deref().map_or(Ok(()), |folder| write_pictures(report, folder)),
    ];
    written.into_iter().collect()
}

fn write_pictures(report: &Report, folder: &Path) -> Result<(), Failure> {
    let put = |(name, text): (String, String)| put(&folder.join(name), &text);
    let written: Vec<_> = report.to_svg()?.into_iter().map(put).collect();
    written.into_iter().collect()
}

fn put(file: &Path, text: &str) -> Result<(), Failure> {
    if is_stdout(file) {
        return print(text);
    }
    files::write(file, text).map_err(|problem| unwritable(file, problem))
}

fn print(text: &str) -> Result<(), Failure> {
    write_results(|out| out.write_all(text.as_bytes())).map_err(Failure::Print)
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn check_writable(file: &Path) -> Result<(), Failure> {
    if is_stdout(file) {
        return Ok(());
    }
    files::check_writable(file).map_err(|problem| unwritable(file, problem))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    let made = fs::create_dir_all(folder);
    // A folder that exists may not allow new files.
    let made = made.and_then(|()| files::check_folder(folder));
    made.map_err(|problem| unwritable(folder, problem))
}

fn unwritable(file: &Path, problem: io::Error) -> Failure {
    Failure::Write { file: file.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_generator_is_none_of_stdout() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no number"))
            }
        }
        let failure = write_stream(&mut Broken).expect_err("a failure");
        assert_eq!(failure.to_string(), "a random stream: no number");
    }
}
