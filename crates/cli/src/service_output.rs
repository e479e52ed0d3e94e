//! The output of commands that run until they are ended. Clients need their answers also if nobody reads the output, so
//! no thread that follows a chain or answers clients waits for a reader.

mod lines;

use std::{io, mem, process::ExitCode};

use crate::{
    error::{self, Error},
    output,
};
use lines::Lines;

/// The lines of such a command.
pub(crate) struct ServiceOutput {
    /// The lines on stdout.
    results: Lines,
    /// The lines on stderr.
    messages: Lines,
}

impl ServiceOutput {
    /// Starts the threads that write the lines.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread.
    pub(crate) fn start() -> Result<ServiceOutput, Error> {
        ServiceOutput::try_start().map_err(Error::Printers)
    }

    fn try_start() -> io::Result<ServiceOutput> {
        let messages = Lines::start(randomx_console::print_message)?;
        let note = noter(&messages);
        // One message about stdout is enough.
        let mut is_noted = false;
        let write = move |line: &str| {
            if let Err(problem) = output::write(|out| writeln!(out, "{line}"))
                && !mem::replace(&mut is_noted, true)
            {
                note(&problem);
            }
        };
        Ok(ServiceOutput { results: Lines::start(write)?, messages })
    }

    /// Prints a line on stdout.
    pub(crate) fn print(&self, line: String) {
        self.results.push(line);
    }

    /// Returns a function that prints problems which do not end the run.
    pub(crate) fn noter(&self) -> impl Fn(&Error) + Send + 'static {
        noter(&self.messages)
    }

    /// Returns a function that prints lines for people on stderr.
    pub(crate) fn log(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let messages = self.messages.clone();
        move |line| messages.push(line.to_owned())
    }

    /// Prints the error that ends the run, and returns its exit code.
    pub(crate) fn end(self, problem: &Error) -> ExitCode {
        self.results.finish();
        self.messages.push(error::error_line(problem));
        self.messages.finish();
        ExitCode::from(error::UNUSABLE)
    }
}

fn noter(messages: &Lines) -> impl Fn(&Error) + Send + 'static {
    let messages = messages.clone();
    move |problem| messages.push(error::note_line(problem))
}
