//! The code of most instructions, assembled in advance.
//!
//! A compiler that branches on the kind of an instruction makes a jump that no processor predicts, since programs are
//! random. Here the code of an instruction is a template from a table, in which a register, a constant, the scale of a
//! sum and the mask of an address are filled in. The same operations do that for every kind. A template always encodes
//! a constant of 32 bits in four bytes; [`emit_one_by_one`] uses one byte where that is enough.
//!
//! [`emit_one_by_one`] assembles the templates. When the table is made, each template is compared with its code for
//! every scale, every mask and two complementary constants. A pair of registers uses a template only if all of these
//! are equal, so this module knows no encodings.
//!
//! Instructions without a template are decoded: their code is longer than 24 bytes, needs a reciprocal or a negated
//! count, depends on other instructions or on the version, or modifies two registers.

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use super::Features;
use super::body::{Body, LONGEST, emit_one_by_one};
use super::modes::Modes;
use crate::jit::JitError;
use crate::jit::x86_64::assembler::Assembler;
use crate::once::once;
use crate::params::Version;
use crate::program::{Instruction, NO_REGISTER, Opcode, Program, decode_some};
use crate::scratchpad::{L1_MASK, L2_MASK, L3_MASK};

/// The code of an instruction, in words of 8 bytes.
type Words = [u64; 3];

/// The templates of a kind of operation: two for each register.
const PER_KIND: usize = 16;

/// The kinds of operations, and the templates for a processor.
pub(super) struct Templates {
    /// By opcode byte.
    kinds: [Kind; 256],
    all: Vec<Template>,
}

/// A kind of operation, which selects one of its templates by its operands.
#[derive(Clone, Copy)]
struct Kind {
    /// The pairs of `dst` and `src` that have the second template of their register, a bit for each.
    second: u64,
    /// The pairs that have a template at all.
    served: u64,
    /// The place of the first of the kind's [`PER_KIND`] templates in [`Templates::all`].
    first: u16,
    /// 7 if `dst` selects the template and `src` is filled in, 0 if it is the other way round.
    swapped: u8,
    /// 0 if the operation modifies the integer register `dst`, or else [`NO_REGISTER`].
    modifies: u8,
}

/// Code with fields.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Template {
    words: Words,
    /// A factor for each word. Its product with the register's number has that number wherever the word encodes it.
    register: Words,
    /// The bits of the constant that the code uses.
    constant: u32,
    /// The first bit of the constant in the first word.
    constant_at: u8,
    /// The bits of the scale that the code uses.
    scale: u8,
    /// The first bit of the scale in the first word.
    scale_at: u8,
    /// The bits of the register's number that the code uses.
    register_bits: u8,
    /// All bits, if the code masks an address, or none.
    mask: u32,
    /// The first bit of the mask in the second word.
    mask_at: u8,
    /// The length of the code in bytes.
    length: u8,
}

impl Templates {
    /// Returns the templates for a processor.
    pub(super) fn of(features: Features) -> &'static Templates {
        static ALL: [OnceLock<Templates>; 4] = [const { OnceLock::new() }; 4];
        let Features { avx512, bmi2, aes: _, loads: _ } = features;
        let cell = &ALL[usize::from(avx512) << 1 | usize::from(bmi2)];
        once(cell, || Templates::new(features))
    }

    /// Emits all operations of a program, in order.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more instructions than in any version.
    pub(super) fn emit(
        &self,
        assembler: &mut Assembler,
        program: &Program,
        features: Features,
        modes: Modes,
    ) -> Result<(), JitError> {
        let mut body = Body::new(assembler, &program.instructions, features, modes)?;
        decode_some(&program.instructions, program.version, &mut body, |body, instruction| {
            let (words, length, modified) = self.fill(instruction)?;
            body.begin_operation();
            body.assembler.assembled(words, length);
            Some(modified)
        });
        Ok(())
    }

    /// Returns the code of an instruction, its length, and the integer register that the instruction modifies:
    /// [`NO_REGISTER`] or more if none. Returns `None` if the instruction has no template.
    #[inline(always)]
    fn fill(&self, instruction: &Instruction) -> Option<(Words, u8, u8)> {
        let Instruction { opcode, dst, src, .. } = *instruction;
        let kind = &self.kinds[usize::from(opcode)];
        let pair = pair(dst, src);
        if kind.served >> pair & 1 == 0 {
            return None;
        }
        let other = (dst ^ src) & kind.swapped;
        let (selecting, filled) = (src ^ other, dst ^ other);
        let second = (kind.second >> pair & 1) as usize;
        let place = usize::from(kind.first) + usize::from(selecting & 7) * 2 + second;
        let template = self.all.get(place)?;
        Some((
            template.fill(filled, instruction, kind.swapped != 0),
            template.length,
            dst & 7 | kind.modifies,
        ))
    }

    fn new(features: Features) -> Templates {
        let none = Kind { second: 0, served: 0, first: 0, swapped: 0, modifies: 0 };
        let mut templates = Templates { kinds: [none; 256], all: Vec::new() };
        let mut first_byte = 0;
        for &(opcode, count) in Opcode::FREQUENCIES {
            if let Some(kind) = templates.kind(opcode, first_byte as u8, features) {
                templates.kinds[first_byte..first_byte + count].fill(kind);
            }
            first_byte += count;
        }
        templates
    }

    /// Makes the templates of a kind of operation.
    fn kind(&mut self, opcode: Opcode, byte: u8, features: Features) -> Option<Kind> {
        use Opcode::*;
        let modifies = match opcode {
            // The code depends on a reciprocal, on other instructions, or on the version; or two registers change.
            ImulRcp | Cbranch | Cfround | IswapR => return None,
            FswapR | FaddR | FaddM | FsubR | FsubM | FscalR | FmulR | FdivM | FsqrtR | Istore => {
                NO_REGISTER
            }
            IaddRs | IaddM | IsubR | IsubM | ImulR | ImulM | ImulhR | ImulhM | IsmulhR
            | IsmulhM | InegR | IxorR | IxorM | IrorR | IrolR => 0,
        };
        let swapped = if opcode == Istore { 7 } else { 0 };
        let first = u16::try_from(self.all.len()).ok()?;
        let mut kind = Kind { second: 0, served: 0, first, swapped, modifies };
        self.all.resize(self.all.len() + PER_KIND, Template::default());
        for selecting in 0..8 {
            let codes = Codes::assemble(byte, selecting, swapped != 0, features).ok()?;
            let templates = &mut self.all[usize::from(first) + usize::from(selecting) * 2..];
            for (second, template) in templates.iter_mut().take(2).enumerate() {
                // The one that serves most of the pairs that are left.
                let left = (0..8).filter(|&filled| kind.served >> codes.pair(filled) & 1 == 0);
                let candidates = left.flat_map(|filled| codes.templates(filled));
                let candidates =
                    candidates.map(|(template, served)| (template, served & !kind.served));
                let best = candidates.max_by_key(|(_, served)| served.count_ones());
                let Some((best, served)) = best else { break };
                *template = best;
                kind.served |= served;
                kind.second |= if second == 1 { served } else { 0 };
            }
        }
        Some(kind)
    }
}

/// Returns the bit of a pair of registers.
#[inline(always)]
fn pair(dst: u8, src: u8) -> u32 {
    u32::from((dst & 7) << 3 | src & 7)
}

impl Template {
    /// Returns the template's code for an instruction. `register` is the register that is filled in.
    #[inline(always)]
    fn fill(&self, register: u8, instruction: &Instruction, stores: bool) -> Words {
        let register = u64::from(register & self.register_bits);
        let [mut first, mut second, third] = self.words;
        first |= u64::from(instruction.imm32 & self.constant) << (self.constant_at & 63);
        first |= u64::from(instruction.mod_shift() & self.scale) << (self.scale_at & 63);
        let level = if instruction.mod_mem() == 0 { L2_MASK } else { L1_MASK };
        let level = if stores && instruction.mod_cond() >= 14 { L3_MASK } else { level };
        second |= u64::from(level & self.mask) << (self.mask_at & 63);
        [
            first | register.wrapping_mul(self.register[0]),
            second | register.wrapping_mul(self.register[1]),
            third | register.wrapping_mul(self.register[2]),
        ]
    }
}

/// The code of one opcode with one of its registers, for each other register and each case.
struct Codes {
    /// The cases of the first other register, then those of the second, and so on.
    instructions: Vec<Instruction>,
    /// The code of each instruction and its length, or `None` if it is too long for a template.
    codes: Vec<Option<(Words, u8)>>,
    stores: bool,
}

impl Codes {
    /// The constants of the cases: each bit is once set and once clear, and none fits into a byte.
    const CONSTANTS: [u32; 2] = [0x9a5c_3e71, !0x9a5c_3e71];

    /// The modifiers of the cases: each scale, each level of the scratchpad, loads and stores.
    const MODIFIERS: [u8; 8] = [0x00, 0x01, 0x0c, 0x07, 0xd8, 0xd2, 0xe0, 0xf3];

    /// The cases of each register.
    const CASES: usize = Self::CONSTANTS.len() * Self::MODIFIERS.len();

    fn assemble(
        opcode: u8,
        selecting: u8,
        stores: bool,
        features: Features,
    ) -> Result<Codes, JitError> {
        let mut instructions = Vec::new();
        for filled in 0..8 {
            let (dst, src) = if stores { (selecting, filled) } else { (filled, selecting) };
            for imm32 in Self::CONSTANTS {
                let of = |modifier| Instruction { opcode, dst, src, modifier, imm32 };
                instructions.extend(Self::MODIFIERS.map(of));
            }
        }
        const { assert!(8 * Self::CASES <= LONGEST) };
        let mut assembler = Assembler::new(8 * Self::CASES * super::LONGEST_OPERATION);
        let starts =
            emit_one_by_one(&mut assembler, &instructions, Version::V1, features, Modes::One)?;
        let code = assembler.finish()?;
        let starts = starts.iter().take(instructions.len()).map(|start| start.offset());
        let ends = starts.clone().skip(1).chain([code.len()]);
        let codes = starts.zip(ends).map(|(start, end)| Self::padded(&code[start..end])).collect();
        Ok(Codes { instructions, codes, stores })
    }

    fn padded(code: &[u8]) -> Option<(Words, u8)> {
        let mut bytes = [0; 24];
        bytes.get_mut(..code.len())?.copy_from_slice(code);
        let words = bytes.as_chunks().0;
        Some((std::array::from_fn(|i| u64::from_le_bytes(words[i])), code.len() as u8))
    }

    fn pair(&self, filled: u8) -> u32 {
        let Instruction { dst, src, .. } = self.instructions[usize::from(filled) * Self::CASES];
        pair(dst, src)
    }

    /// Returns templates made of the code for the register `filled`, each with the pairs that it serves. They fill in
    /// all bits of the register's number, two of them, or none.
    fn templates(&self, filled: u8) -> impl Iterator<Item = (Template, u64)> {
        let partners = [(filled ^ 1, 7), (filled ^ 1, 3), (filled, 0)];
        partners.into_iter().filter_map(move |(partner, register_bits)| {
            let template = self.template(filled, partner, register_bits)?;
            let served = (0..8).filter(|&filled| self.serves(&template, filled));
            Some((template, served.fold(0, |all, filled| all | 1 << self.pair(filled))))
        })
    }

    /// Returns the code for the register `filled` with its fields cleared. A field is the bits that differ between the
    /// codes of two instructions with one different operand.
    fn template(&self, filled: u8, partner: u8, register_bits: u8) -> Option<Template> {
        let code = |register: u8, case| self.codes[usize::from(register) * Self::CASES + case];
        let (mut words, length) = code(filled, 0)?;
        let differs = |case, word: usize| Some(code(filled, case)?.0[word] ^ words[word]);
        let constant = differs(Self::MODIFIERS.len(), 0)?;
        let constant_at = constant.trailing_zeros() & 56;
        let scale = differs(2, 0)?;
        let scale_at = scale.trailing_zeros() & 63;
        let levels = differs(1, 1)?;
        let mask = if levels == 0 { 0 } else { u32::MAX };
        let mask_at =
            levels.trailing_zeros().saturating_sub((L1_MASK ^ L2_MASK).trailing_zeros()) & 63;
        let (other, _) = code(partner, 0)?;
        let register = [0, 1, 2].map(|word| words[word] ^ other[word]);
        words[0] &= !(constant | scale);
        words[1] &= !(u64::from(mask) << mask_at);
        for (word, field) in words.iter_mut().zip(register) {
            *word &= !field.wrapping_mul(register_bits.into());
        }
        Some(Template {
            words,
            register,
            constant: (constant >> constant_at) as u32,
            constant_at: constant_at as u8,
            scale: (scale >> scale_at) as u8,
            scale_at: scale_at as u8,
            register_bits,
            mask,
            mask_at: mask_at as u8,
            length,
        })
    }

    fn serves(&self, template: &Template, filled: u8) -> bool {
        let first = usize::from(filled) * Self::CASES;
        let cases = first..first + Self::CASES;
        self.instructions[cases.clone()].iter().zip(&self.codes[cases]).all(|(case, code)| {
            *code == Some((template.fill(filled, case, self.stores), template.length))
        })
    }
}
