//! Branches (specification 5.4).

use super::Function;
use crate::params::JUMP_BITS;

impl Function {
    /// Emits a branch as a loop around the instructions that it repeats.
    ///
    /// A branch only goes back, and never past the branch before it, which counts as a modification
    /// of all registers. So loops neither nest nor overlap.
    #[inline(never)]
    pub(super) fn branch(&mut self, dst: u8, constant: i32, shift: u8, target: u16) {
        let place = self.places[usize::from(target) - self.first];
        self.body.open_loop_at(place);
        self.body.local_get(self.r(dst));
        self.body.i64_const(constant.into());
        self.body.i64_add();
        self.body.local_tee(self.r(dst));
        self.body.i32_wrap_i64();
        self.body.i32_const(((1 << JUMP_BITS) - 1) << shift);
        self.body.i32_and();
        self.body.i32_eqz();
        self.body.br_if(0);
        self.body.end();
    }
}
