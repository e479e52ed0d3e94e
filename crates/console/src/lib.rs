//! Code that the command-line programs share: results on stdout, messages on stderr, a description of the machine, and
//! arguments with a login.

mod login;
pub mod machine;
mod message;
mod results;
mod terminal;

pub use login::parse_arguments;
pub use machine::Machine;
pub use message::{print_message, printable};
pub use results::{write_results, write_while_read};
pub use terminal::draws_bars;
