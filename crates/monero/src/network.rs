//! Monero's networks: their genesis blocks and the block version that each height has.

use std::{error, fmt, str::FromStr};

use crate::hash::{Hash, from_hex};

/// The id of the main network's genesis block. Regtest chains begin with the same block.
pub const MAINNET_GENESIS_ID: Hash =
    from_hex("418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3");

const TESTNET_GENESIS_ID: Hash =
    from_hex("48ca7cd3c8de5b6a4d53d2861fbdaedca141553559f9be9520068053cda8430b");

const STAGENET_GENESIS_ID: Hash =
    from_hex("76ee3cc98646292206cd3e86f74d88b4dcc1d937088645e9b0cbca84b7ce74eb");

/// The first major version whose proof of work is RandomX.
pub const RANDOMX_VERSION: u8 = 12;

/// The newest major version whose rules this crate knows.
pub const LATEST_VERSION: u8 = 16;

/// A network of Monero nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Network {
    /// The main network.
    #[default]
    Mainnet,
    /// The network for testing with the main network's rules.
    Stagenet,
    /// The network for testing new rules.
    Testnet,
    /// A private chain of `monerod --regtest`.
    Regtest,
}

/// The first height of each major version, from 2 on. Every chain begins with version 1.
///
/// From `src/hardforks/hardforks.cpp` in monero-project/monero, commit 0aa9c51b of 2026-08-20.
type Forks = &'static [(u8, u64)];

const MAINNET: Forks = &[
    (2, 1_009_827),
    (3, 1_141_317),
    (4, 1_220_516),
    (5, 1_288_616),
    (6, 1_400_000),
    (7, 1_546_000),
    (8, 1_685_555),
    (9, 1_686_275),
    (10, 1_788_000),
    (11, 1_788_720),
    (12, 1_978_433),
    (13, 2_210_000),
    (14, 2_210_720),
    (15, 2_688_888),
    (16, 2_689_608),
];

const STAGENET: Forks = &[
    (2, 32_000),
    (3, 33_000),
    (4, 34_000),
    (5, 35_000),
    (6, 36_000),
    (7, 37_000),
    (8, 176_456),
    (9, 177_176),
    (10, 269_000),
    (11, 269_720),
    (12, 454_721),
    (13, 675_405),
    (14, 676_125),
    (15, 1_151_000),
    (16, 1_151_720),
];

const TESTNET: Forks = &[
    (2, 624_634),
    (3, 800_500),
    (4, 801_219),
    (5, 802_660),
    (6, 971_400),
    (7, 1_057_027),
    (8, 1_057_058),
    (9, 1_057_778),
    (10, 1_154_318),
    (11, 1_155_038),
    (12, 1_308_737),
    (13, 1_543_939),
    (14, 1_544_659),
    (15, 1_982_800),
    (16, 1_983_520),
];

/// The daemon starts regtest chains with its newest version.
const REGTEST: Forks = &[(LATEST_VERSION, 1)];

impl Network {
    /// Every network.
    pub const ALL: [Self; 4] = [Self::Mainnet, Self::Stagenet, Self::Testnet, Self::Regtest];

    /// The name in lower case, such as `mainnet`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Stagenet => "stagenet",
            Self::Testnet => "testnet",
            Self::Regtest => "regtest",
        }
    }

    /// The id of the genesis block.
    pub const fn genesis_id(self) -> Hash {
        match self {
            Self::Mainnet | Self::Regtest => MAINNET_GENESIS_ID,
            Self::Stagenet => STAGENET_GENESIS_ID,
            Self::Testnet => TESTNET_GENESIS_ID,
        }
    }

    /// The major version of the block at a height, by the table of this release. Later forks are
    /// unknown to it.
    ///
    /// ```
    /// use randomx_monero::Network;
    ///
    /// assert_eq!(Network::Mainnet.version_at(2_689_607), 15);
    /// assert_eq!(Network::Mainnet.version_at(2_689_608), 16);
    /// ```
    pub fn version_at(self, height: u64) -> u8 {
        let forks = self.forks();
        let passed = forks.partition_point(|&(_, first)| first <= height);
        passed.checked_sub(1).map_or(1, |last| forks[last].0)
    }

    /// Returns every major version from 2 on with the height of its first block, in ascending order.
    pub const fn forks(self) -> &'static [(u8, u64)] {
        match self {
            Self::Mainnet => MAINNET,
            Self::Stagenet => STAGENET,
            Self::Testnet => TESTNET,
            Self::Regtest => REGTEST,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Network {
    type Err = UnknownNetwork;

    fn from_str(name: &str) -> Result<Self, UnknownNetwork> {
        Self::ALL.into_iter().find(|network| network.as_str() == name).ok_or(UnknownNetwork)
    }
}

/// A name that is no network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNetwork;

impl fmt::Display for UnknownNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected mainnet, stagenet, testnet or regtest")
    }
}

impl error::Error for UnknownNetwork {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_ascend_without_gaps() {
        for network in [Network::Mainnet, Network::Stagenet, Network::Testnet] {
            let forks = network.forks();
            assert!(forks.iter().map(|&(version, _)| version).eq(2..=LATEST_VERSION), "{network}");
            assert!(forks.windows(2).all(|pair| pair[0].1 < pair[1].1), "{network}");
        }
    }

    #[test]
    fn each_version_begins_at_its_height() {
        for network in Network::ALL {
            assert_eq!(network.version_at(0), 1, "{network}");
            assert_eq!(network.version_at(u64::MAX), LATEST_VERSION, "{network}");
            for &(version, first) in network.forks() {
                assert_eq!(network.version_at(first), version, "{network}");
                assert!(network.version_at(first - 1) < version, "{network}");
            }
        }
        assert_eq!(Network::Mainnet.version_at(1_978_433), RANDOMX_VERSION);
        assert_eq!(Network::Testnet.version_at(1_308_737), RANDOMX_VERSION);
        assert_eq!(Network::Stagenet.version_at(454_721), RANDOMX_VERSION);
    }

    #[test]
    fn names_are_parsed_back() {
        for network in Network::ALL {
            assert_eq!(network.as_str().parse(), Ok(network));
        }
        assert_eq!("Mainnet".parse::<Network>(), Err(UnknownNetwork));
    }
}
