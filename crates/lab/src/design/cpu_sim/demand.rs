//! The resources that an instruction needs.

use randomx::program::{Address, Operation, Program, Sink, ZERO_REGISTER, decode};

/// The resources that an instruction needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Whether it accesses the scratchpad.
    pub(super) memory: bool,
    /// The integer register of its address, which is read one stage early.
    pub(super) address: Option<u8>,
    /// The register that it only reads.
    pub(super) source: Option<Register>,
    /// The register that it reads and writes.
    pub(super) destination: Option<Register>,
    /// Whether it writes its source too.
    pub(super) swaps: bool,
    /// Whether its result depends on the rounding mode.
    pub(super) rounds: bool,
    /// Whether it sets the rounding mode.
    pub(super) sets_rounding: bool,
    /// Whether it is a branch.
    pub(super) branches: bool,
}

/// A register number: 0 to 7 are integer registers, 8 to 11 group F, 12 to 15 group E.
pub(super) type Register = u8;

/// The number of registers.
pub(super) const REGISTERS: usize = 16;

impl Demand {
    /// Returns the demands of a program's instructions, in order.
    pub(super) fn of_program(program: &Program) -> Vec<Demand> {
        let mut demands = Demands(Vec::with_capacity(program.instructions.len()));
        decode(&program.instructions, program.version, &mut demands);
        demands.0
    }

    /// Whether it needs an execution unit; stores and no-ops do not.
    pub(super) fn executes(&self) -> bool {
        self.destination.is_some() || self.sets_rounding
    }

    fn of(operation: Operation) -> Demand {
        use Operation::*;
        match operation {
            Nop => Demand::default(),
            IaddRs { dst, src, .. }
            | IsubR { dst, src }
            | ImulR { dst, src }
            | ImulhR { dst, src }
            | IsmulhR { dst, src }
            | IxorR { dst, src }
            | IrorR { dst, src }
            | IrolR { dst, src } => integer(dst).from(src),
            IswapR { dst, src } => Demand { swaps: true, ..integer(dst).from(src) },
            IsubC { dst, .. }
            | ImulC { dst, .. }
            | IxorC { dst, .. }
            | IrorC { dst, .. }
            | InegR { dst } => integer(dst),
            IaddM { dst, address }
            | IsubM { dst, address }
            | ImulM { dst, address }
            | ImulhM { dst, address }
            | IsmulhM { dst, address }
            | IxorM { dst, address } => integer(dst).at(address),
            FswapF { dst } => float(dst),
            FswapE { dst } => float(dst + 4),
            FscalR { dst } => float(dst),
            FaddR { dst, .. } | FsubR { dst, .. } => float(dst).rounded(),
            FaddM { dst, address } | FsubM { dst, address } => float(dst).at(address).rounded(),
            FmulR { dst, .. } | FsqrtR { dst } => float(dst + 4).rounded(),
            FdivM { dst, address } => float(dst + 4).at(address).rounded(),
            Cbranch { dst, .. } => Demand { branches: true, ..integer(dst) },
            Cfround { src, .. } => {
                Demand { source: Some(src), sets_rounding: true, ..Demand::default() }
            }
            Istore { src, address } => Demand::default().from(src).at(address),
        }
    }

    fn from(self, source: Register) -> Demand {
        Demand { source: Some(source), ..self }
    }

    fn at(self, address: Address) -> Demand {
        let register = (address.register != ZERO_REGISTER).then_some(address.register);
        Demand { memory: true, address: register, ..self }
    }

    fn rounded(self) -> Demand {
        Demand { rounds: true, ..self }
    }
}

fn integer(register: u8) -> Demand {
    Demand { destination: Some(register), ..Demand::default() }
}

fn float(register: u8) -> Demand {
    integer(8 + register)
}

struct Demands(Vec<Demand>);

impl Sink for Demands {
    fn operation(&mut self, operation: Operation) {
        self.0.push(Demand::of(operation));
    }
}
