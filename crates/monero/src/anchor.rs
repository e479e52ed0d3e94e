//! Anchors: blocks that Monero's own source code names as part of its chains.

use crate::hash::{Hash, from_hex};
use crate::network::Network;

/// A block that is part of a network's chain, with the chain's work up to it.
///
/// Monero's developers compile these into the daemon as checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The block's height.
    pub height: u64,
    /// The block's id.
    pub id: Hash,
    /// The cumulative difficulty: the sum of difficulties from the genesis block to this one.
    pub work: u128,
}

// From `src/checkpoints/checkpoints.cpp` in monero-project/monero, commit 0aa9c51b of 2026-08-20:
// the blocks since the main network uses RandomX, and all of the test networks.

const MAINNET: &[Anchor] = &[
    anchor(
        2_046_000,
        "5e867f0b8baefed9244a681df97fc885d8ab36c3dfcd24c7a3abf3b8ac8b8314",
        0x9c_b8b6_ff29_78c6,
    ),
    anchor(
        2_092_500,
        "c4e00820c9c7989b49153d5e90ae095a18a11d990e82fcc3be54e6ed785472b5",
        0xb4_e585_a313_69cb,
    ),
    anchor(
        2_182_500,
        "0d22b5f81982eff21d094af9e821dc2007e6342069e3b1a37b15d97646353124",
        0xea_d4a8_7408_3492,
    ),
    anchor(
        2_661_600,
        "41c9060e8426012238e8a26da26fcb90797436896cc70886a894c2c560bcccf2",
        0x2e0_d875_26ff_161f,
    ),
    anchor(
        2_677_000,
        "1b9fee6246eeb176bd17d637bf252e9af54a4218675f01b4449cc0901867f9eb",
        0x2f1_65bc_1a51_63ba,
    ),
    anchor(
        2_706_000,
        "d8eb144c5e1fe6b329ecc900ec95e7792fccff84175fb23a25ed59d7299a511c",
        0x310_f7d8_9372_f705,
    ),
    anchor(
        2_720_000,
        "b19fb41dff15bd1016afbee9f8469f05aab715c9e5d1b974466a11fd58ecbb86",
        0x321_6b58_51dd_bb61,
    ),
    anchor(
        2_817_000,
        "39726d19ccaac01d150bec827b877ffae710b516bd633503662036ef4422e577",
        0x390_0669_5619_54c1,
    ),
    anchor(
        2_844_000,
        "28fc7b446dfef5b469f5778eb72ddf32a307a5f5a9823d1c394e772349e05d40",
        0x3af_384e_c0e9_7d12,
    ),
    anchor(
        2_851_000,
        "5bf0e47fc782263191a33f63a67db6c711781dc2a3c442e17ed901ec401be5c9",
        0x3b6_cd8a_8ed6_10e8,
    ),
    anchor(
        2_971_000,
        "3d4cac5ac515eeabd18769ab943af85f36db51d28720def0d0e6effc2c8f5ce3",
        0x436_e532_738b_8b5b,
    ),
    anchor(
        2_985_000,
        "08f5e6b7301c1b6ed88268a28f8677a06e8ff943b3f9e48d3080f71f9c134bfb",
        0x444_b7b4_2a63_3c96,
    ),
    anchor(
        3_088_000,
        "bddf8ca09110d33d6d497f13a113630c2b6af1c84d4f3a6f35cb1446f2604ade",
        0x4ae_d361_5c2f_8c3e,
    ),
    anchor(
        3_102_800,
        "083f4a34f9490403b564286e7f13fd1ed45c52c86fa47195f151594e5bc87504",
        0x4bb_ed52_d4da_5dfb,
    ),
    anchor(
        3_198_000,
        "1d685b39be51e4e84e0af69fa78e023c7cb21de7d33acd012d0371d5f78712d5",
        0x517_d415_fee3_a816,
    ),
    anchor(
        3_375_700,
        "96ef57b830ef7a7ccb61ada8595a4670765b6954d8cbf45c6cf583700a676302",
        0x612_09b7_da8a_0fa6,
    ),
    anchor(
        3_451_000,
        "0cbc912e06e1adae11f6c9cb675d3159d225b4b04d4a6c61defe50ae1816dd60",
        0x6aa_5fc4_226b_ab97,
    ),
    anchor(
        3_482_000,
        "629071b10ddad67bdc6156102aba8e008a754c91da252eede852fff9175a9f0a",
        0x6f1_063d_a7e7_0c0e,
    ),
    anchor(
        3_516_300,
        "fa08acbcda99fcc3cd94a749364a29fa6de9501a023cb6673d0c68fdf988b7c3",
        0x738_f0af_4d65_d459,
    ),
    anchor(
        3_541_000,
        "74c457bed9ceef40f31f43bb8fab804077519d45c910dcad2acf4dd8556195c7",
        0x76f_f158_c682_d218,
    ),
    anchor(
        3_576_000,
        "5da4891bfd06be270193bd949f2a623a2b0cb0ebfaad21c70a6cb18e418e5b6a",
        0x7cb_2e20_3e86_7b57,
    ),
    anchor(
        3_661_900,
        "ac392757a92123f68d63cd72f0d1410f63df1102a53b5d39fc4d53d0998b20a3",
        0x8a3_8f21_9582_6a97,
    ),
    anchor(
        3_707_000,
        "9c508fe29120b5cd204f9d150e68fd2e4015d8d859bc0431f7016c7aabc711c9",
        0x911_2958_6d49_79a6,
    ),
];

const STAGENET: &[Anchor] = &[
    anchor(0, "76ee3cc98646292206cd3e86f74d88b4dcc1d937088645e9b0cbca84b7ce74eb", 0x1),
    anchor(10_000, "1f8b0ce313f8b9ba9a46108bfd285c45ad7c2176871fd41c3a690d4830ce2fd5", 0x1d_73ba),
    anchor(
        550_000,
        "409f68cddd8e74b37469b41c1e61250d81c5776b42264f416d5d27c4626383ed",
        0x5_f3d4_d03e,
    ),
];

const TESTNET: &[Anchor] = &[
    anchor(0, "48ca7cd3c8de5b6a4d53d2861fbdaedca141553559f9be9520068053cda8430b", 0x1),
    anchor(
        1_000_000,
        "46b690b710a07ea051bc4a6b6842ac37be691089c0f7758cfeec4d5fc0b4a258",
        0x7_aaad_7153,
    ),
    anchor(
        1_058_600,
        "12904f6b4d9e60fd875674e07147d2c83d6716253f046af7b894c3e81da7e1bd",
        0x9_71ef_d119,
    ),
    anchor(
        1_450_000,
        "87562ca6786f41556b8d5b48067303a57dc5ca77155b35199aedaeca1550f5a0",
        0xa6_39e2_930e,
    ),
];

/// A regtest chain has only its genesis block in common with others.
const REGTEST: &[Anchor] =
    &[anchor(0, "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3", 1)];

const fn anchor(height: u64, id: &str, work: u128) -> Anchor {
    Anchor { height, id: from_hex(id), work }
}

impl Anchor {
    /// Returns the anchors of a network, in ascending order.
    pub const fn all(network: Network) -> &'static [Self] {
        match network {
            Network::Mainnet => MAINNET,
            Network::Stagenet => STAGENET,
            Network::Testnet => TESTNET,
            Network::Regtest => REGTEST,
        }
    }

    /// Returns the average difficulty of the blocks between a network's last two anchors, if it has
    /// two.
    pub(crate) fn average_difficulty(network: Network) -> Option<u128> {
        let [.., first, last] = Self::all(network) else { return None };
        Some((last.work - first.work) / u128::from(last.height - first.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_ascend_in_height_and_work() {
        for network in Network::ALL {
            let anchors = Anchor::all(network);
            let ascend =
                |pair: &[Anchor]| pair[0].height < pair[1].height && pair[0].work < pair[1].work;
            assert!(anchors.windows(2).all(ascend), "{network}");
        }
    }

    #[test]
    fn chains_begin_with_their_genesis_block() {
        for network in [Network::Stagenet, Network::Testnet, Network::Regtest] {
            let first = Anchor::all(network)[0];
            assert_eq!((first.height, first.id, first.work), (0, network.genesis_id(), 1));
        }
    }

    #[test]
    fn the_newest_anchors_are_those_of_the_source() {
        let newest = |network| Anchor::all(network).last().map(|anchor| anchor.height);
        assert_eq!(newest(Network::Mainnet), Some(3_707_000));
        assert_eq!(newest(Network::Stagenet), Some(550_000));
        assert_eq!(newest(Network::Testnet), Some(1_450_000));
        let average = Anchor::average_difficulty(Network::Mainnet).expect("two anchors");
        assert!((500_000_000_000..900_000_000_000).contains(&average), "{average}");
    }
}
