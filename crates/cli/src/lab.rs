//! `randomx lab`: the experiments of the laboratory.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use randomx::cpu::Cpu;
use randomx_lab::{Report, find};

use crate::{args::LabArgs, error::Error, host::Host, output, progress::StageBar};

/// Lists, streams, or runs an experiment, prints it and writes it down.
pub(crate) fn run(args: &LabArgs) -> Result<ExitCode, Error> {
    let Some(name) = &args.experiment else {
        output::write(|out| out.write_all(randomx_lab::list().as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let experiment = find(name)?;
    if let Some(name) = &args.raw {
        let stream = randomx_lab::stream(experiment, name, args.seed)?;
        let mut stream = stream.take(args.bytes.unwrap_or(u64::MAX));
        output::write(|out| io::copy(&mut stream, out).map(|_| ()))?;
        return Ok(ExitCode::SUCCESS);
    }
    // What can be wrong is found before the minutes of work, not after.
    let files = [&args.json, &args.csv, &args.markdown];
    files.into_iter().flatten().try_for_each(|file| can_be_written(file))?;
    args.svg.as_deref().map(make_folder).transpose()?;

    let mut bar = StageBar::on_terminal();
    let mut report = randomx_lab::run(experiment, &args.settings(), &mut bar)?;
    drop(bar);
    report.machine = Host::new(Cpu::detect()).fields();
    write(&report, args)?;
    Ok(ExitCode::SUCCESS)
}

fn write(report: &Report, args: &LabArgs) -> Result<(), Error> {
    let mut printed = false;
    let mut put = |file: &Option<PathBuf>, text: &dyn Fn() -> Result<String, Error>| match file {
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
    if !printed {
        output::write(|out| out.write_all(report.to_text().as_bytes()))?;
    }
    Ok(())
}

fn put(file: &Path, text: &str) -> Result<(), Error> {
    if is_stdout(file) {
        return output::write(|out| out.write_all(text.as_bytes()));
    }
    fs::write(file, text).map_err(|problem| unwritable(file, problem))
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Finds out whether a file can be written; one that was not there is then empty.
fn can_be_written(file: &Path) -> Result<(), Error> {
    if is_stdout(file) {
        return Ok(());
    }
    let opened = fs::File::options().append(true).create(true).open(file);
    opened.map(|_| ()).map_err(|problem| unwritable(file, problem))
}

fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|problem| unwritable(folder, problem))
}

fn unwritable(file: &Path, problem: io::Error) -> Error {
    Error::WriteRecord { file: file.to_owned(), problem }
}
