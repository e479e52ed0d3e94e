//! The assembler's output, read back by a disassembler.

mod control;
mod integers;
mod vectors;

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

use super::Assembler;

/// Assembles and disassembles. Returns one line per instruction.
pub(crate) fn listing(assemble: impl FnOnce(&mut Assembler)) -> Vec<String> {
    let mut assembler = Assembler::new(1 << 12);
    assemble(&mut assembler);
    disassemble(assembler.finish().expect("short code with all labels bound"))
}

/// Disassembles `code` as if it were at address 0.
pub(crate) fn disassemble(code: &[u8]) -> Vec<String> {
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_rip_relative_addresses(true);
    Decoder::new(64, code, DecoderOptions::NONE)
        .iter()
        .map(|instruction| {
            let mut text = String::new();
            formatter.format(&instruction, &mut text);
            text
        })
        .collect()
}

/// Compares with a listing, ignoring space at the start of its lines.
fn assert_listing(assemble: impl FnOnce(&mut Assembler), expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(listing(assemble), expected);
}
