//! The order of branches in vectors, as `x86_vaes.rs` explains. A lane holds a function's even branch in
//! one vector and its odd branch in another.

use super::permutation::{FUNCTIONS, ROUNDS, SHUFFLE};

/// The round keys in the order of lanes, four per vector.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct LaneKeys(pub(super) [[[[u64; 2]; 4]; 2]; ROUNDS]);

/// For each round, the lane of the even branch that becomes each lane's next odd branch.
pub(super) const MOVES: [[[usize; 4]; 2]; ROUNDS] = {
    let mut moves = [[[0; 4]; 2]; ROUNDS];
    let mut round = 0;
    while round < ROUNDS {
        let mut lane = 0;
        while lane < 8 {
            let from = SHUFFLE[2 * ORDERS[round + 1][lane] + 1] / 2;
            moves[round][lane / 4][lane % 4] = lane_of(from, &ORDERS[round]);
            lane += 1;
        }
        round += 1;
    }
    moves
};

/// The lanes of functions 0 to 3 and 4 to 7 after the last round.
pub(super) const NATURAL: [[usize; 4]; 2] = {
    let mut natural = [[0; 4]; 2];
    let mut function = 0;
    while function < 8 {
        natural[function / 4][function % 4] = lane_of(function, &ORDERS[ROUNDS]);
        function += 1;
    }
    natural
};

/// The function of each lane, in each round and after the last.
const ORDERS: [[usize; 8]; ROUNDS + 1] = {
    let mut orders = [[0, 1, 2, 3, 4, 5, 6, 7]; ROUNDS + 1];
    let mut round = 0;
    while round < ROUNDS {
        let mut function = 0;
        while function < 8 {
            // Its even branch is the result of another function, whose lane it takes over.
            let producer = SHUFFLE[2 * function] / 2;
            orders[round + 1][lane_of(producer, &orders[round])] = function;
            function += 1;
        }
        round += 1;
    }
    orders
};

const fn lane_of(function: usize, order: &[usize; 8]) -> usize {
    let mut lane = 0;
    while order[lane] != function {
        lane += 1;
    }
    lane
}

impl LaneKeys {
    pub(super) const fn new(keys: &[[u64; 2]; FUNCTIONS]) -> LaneKeys {
        let mut lanes = LaneKeys([[[[0; 2]; 4]; 2]; ROUNDS]);
        let mut at = 0;
        while at < FUNCTIONS {
            let (round, lane) = (at / 8, at % 8);
            lanes.0[round][lane / 4][lane % 4] = keys[8 * round + ORDERS[round][lane]];
            at += 1;
        }
        lanes
    }
}
