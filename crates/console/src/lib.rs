//! Code that the command-line programs share: results on stdout, messages on stderr, and a description
//! of the machine.

pub mod machine;
mod message;
mod results;
mod terminal;

pub use machine::Machine;
pub use message::{print_message, printable};
pub use results::{write_results, write_while_read};
pub use terminal::draws_bars;
