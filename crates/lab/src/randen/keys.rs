//! Randen's round keys: a key for each call of its function, from the digits of pi.

#[cfg(target_arch = "x86_64")]
use super::lanes::LaneKeys;
use super::permutation::{FUNCTIONS, RoundKeys};

/// The round keys of a generator.
#[derive(Clone)]
pub struct Keys {
    pub(super) in_order: RoundKeys,
    #[cfg(target_arch = "x86_64")]
    pub(super) lanes: LaneKeys,
}

impl Keys {
    /// Returns keys from the order in which they are used, round by round.
    pub const fn new(keys: [[u64; 2]; FUNCTIONS]) -> Keys {
        Keys {
            in_order: keys,
            #[cfg(target_arch = "x86_64")]
            lanes: LaneKeys::new(&keys),
        }
    }
}

/// The keys of the paper's implementation.
pub(super) static PI: Keys = Keys::new(DIGITS_OF_PI);

/// The first 4352 hexadecimal digits of pi after the point, except for six. In the public implementation
/// the last digit of some groups of ten is one too large or too small; its source of digits must have
/// rounded there. These keys are the implementation's, because its outputs define Randen.
#[rustfmt::skip]
const DIGITS_OF_PI: RoundKeys = [
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344],
    [0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89],
    [0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c],
    [0xc0ac_29b7_c97c_50dd, 0x3f84_d5b5_b547_0917],
    [0x9216_d5d9_8979_fb1b, 0xd131_0ba6_98df_b5ac],
    [0x2ffd_72db_d01a_dfb7, 0xb8e1_afed_6a26_7e96],
    [0xba7c_9045_f12c_7f99, 0x24a1_9947_b391_6cf7],
    [0x0801_f2e2_858e_fc16, 0x6369_20d8_7157_4e69],
    [0xa458_fea3_f493_3d7e, 0x0d95_748f_728e_b658],
    [0x718b_cd58_8215_4aee, 0x7b54_a41d_c25a_59b5],
    [0x9c30_d539_2af2_6013, 0xc5d1_b023_2860_85f0],
    [0xca41_7918_b8db_38ef, 0x8e79_dcb0_603a_180e],
    [0x6c9e_0e8b_b01e_8a3e, 0xd715_77c1_bd31_4b27],
    [0x78af_2fda_5560_5c60, 0xe655_25f3_aa55_ab94],
    [0x5748_9862_63e8_1440, 0x55ca_396a_2aab_10b6],
    [0xb4cc_5c34_1141_e8ce, 0xa154_86af_7c72_e993],
    [0xb3ee_1411_636f_bc2a, 0x2ba9_c55d_7418_31f6],
    [0xce5c_3e16_9b87_931e, 0xafd6_ba33_6c24_cf5c],
    [0x7a32_5381_2895_8677, 0x3b8f_4898_6b4b_b9af],
    [0xc4bf_e81b_6628_2193, 0x61d8_09cc_fb21_a991],
    [0x487c_ac60_5dec_8032, 0xef84_5d5d_e985_75b1],
    [0xdc26_2302_eb65_1b88, 0x2389_3e81_d396_acc5],
    [0x0f6d_6ff3_83f4_4239, 0x2e0b_4482_a484_2004],
    [0x69c8_f04a_9e1f_9b5e, 0x21c6_6842_f6e9_6c9a],
    [0x670c_9c61_abd3_88f0, 0x6a51_a0d2_d854_2f68],
    [0x960f_a728_ab51_33a3, 0x6eef_0b6c_137a_3be4],
    [0xba3b_f050_7efb_2a98, 0xa1f1_651d_39af_0176],
    [0x66ca_593e_8243_0e88, 0x8cee_8619_456f_9fb4],
    [0x7d84_a5c3_3b8b_5ebe, 0xe06f_75d8_85c1_2073],
    [0x401a_449f_56c1_6aa6, 0x4ed3_aa62_363f_7706],
    [0x1bfe_df72_429b_023d, 0x37d0_d724_d00a_1248],
    [0xdb0f_ead3_49f1_c09b, 0x0753_72c9_8099_1b7b],
    [0x25d4_79d8_f6e8_def7, 0xe3fe_501a_b679_4c3b],
    [0x976c_e0bd_04c0_06ba, 0xc1a9_4fb6_409f_60c4],
    [0x5e5c_9ec2_196a_2463, 0x68fb_6faf_3e6c_53b5],
    [0x1339_b2eb_3b52_ec6f, 0x6dfc_511f_9b30_952c],
    [0xcc81_4544_af5e_bd09, 0xbee3_d004_de33_4afd],
    [0x660f_2807_192e_4bb3, 0xc0cb_a857_45c8_740f],
    [0xd20b_5f39_b9d3_fbdb, 0x5579_c0bd_1a60_320a],
    [0xd6a1_00c6_402c_7279, 0x679f_25fe_fb1f_a3cc],
    [0x8ea5_e9f8_db32_22f8, 0x3c75_16df_fd61_6b15],
    [0x2f50_1ec8_ad05_52ab, 0x323d_b5fa_fd23_8760],
    [0x5331_7b48_3e00_df82, 0x9e5c_57bb_ca6f_8ca0],
    [0x1a87_562e_df17_69db, 0xd542_a8f6_287e_ffc3],
    [0xac67_32c6_8c4f_5573, 0x695b_27b0_bbca_58c8],
    [0xe1ff_a35d_b8f0_11a0, 0x10fa_3d98_fd21_83b8],
    [0x4afc_b56c_2dd1_d35b, 0x9a53_e479_b6f8_4565],
    [0xd28e_49bc_4bfb_9790, 0xe1dd_f2da_a4cb_7e33],
    [0x62fb_1341_cee4_c6e8, 0xef20_cada_3677_4c01],
    [0xd07e_9efe_2bf1_1fb4, 0x95db_da4d_ae90_9198],
    [0xeaad_8e71_6b93_d5a0, 0xd08e_d1d0_afc7_25e0],
    [0x8e3c_5b2f_8e75_94b7, 0x8ff6_e2fb_f212_2b64],
    [0x8888_b812_900d_f01c, 0x4fad_5ea0_688f_c31c],
    [0xd1cf_f191_b3a8_c1ad, 0x2f2f_2218_be0e_1777],
    [0xea75_2dfe_8b02_1fa1, 0xe5a0_cc0f_b56f_74e8],
    [0x18ac_f3d6_ce89_e299, 0xb4a8_4fe0_fd13_e0b7],
    [0x7cc4_3b81_d2ad_a8d9, 0x165f_a266_8095_7705],
    [0x93cc_7314_211a_1477, 0xe6ad_2065_77b5_fa86],
    [0xc754_42f5_fb9d_35cf, 0xebcd_af0c_7b3e_89a0],
    [0xd641_1bd3_ae1e_7e49, 0x0025_0e2d_2071_b35e],
    [0x2268_00bb_57b8_e0af, 0x2464_369b_f009_b91e],
    [0x5563_911d_59df_a6aa, 0x78c1_4389_d95a_537f],
    [0x207d_5ba2_02e5_b9c5, 0x8326_0376_6295_cfa9],
    [0x11c8_1968_4e73_4a41, 0xb347_2dca_7b14_a94a],
    [0x1b51_0052_9a53_2915, 0xd60f_573f_bc9b_c6e4],
    [0x2b60_a476_81e6_7400, 0x08ba_6fb5_571b_e91f],
    [0xf296_ec6b_2a0d_d915, 0xb663_6521_e7b9_f9b6],
    [0xff34_052e_c585_5664, 0x53b0_2d5d_a99f_8fa1],
    [0x08ba_4799_6e85_076a, 0x4b7a_70e9_b5b3_2944],
    [0xdb75_092e_c419_2623, 0xad6e_a6b0_49a7_df7d],
    [0x9cee_60b8_8fed_b266, 0xecaa_8c71_699a_18ff],
    [0x5664_526c_c2b1_9ee1, 0x1936_02a5_7509_4c29],
    [0xa059_1340_e418_3a3e, 0x3f54_989a_5b42_9d65],
    [0x6b8f_e4d6_99f7_3fd6, 0xa1d2_9c07_efe8_30f5],
    [0x4d2d_38e6_f025_5dc1, 0x4cdd_2086_8470_eb26],
    [0x6382_e9c6_021e_cc5e, 0x0968_6b3f_3eba_efc9],
    [0x3c97_1814_6b6a_70a1, 0x687f_3584_52a0_e286],
    [0xb79c_5305_aa50_0737, 0x3e07_841c_7fde_ae5c],
    [0x8e7d_44ec_5716_f2b8, 0xb03a_da37_f050_0c0d],
    [0xf01c_1f04_0200_b3ff, 0xae0c_f51a_3cb5_74b2],
    [0x2583_7a58_dc09_21bd, 0xd191_13f9_7ca9_2ff6],
    [0x9432_4773_22f5_4701, 0x3ae5_e581_37c2_dadc],
    [0xc8b5_7634_9af3_dda7, 0xa944_6146_0fd0_030e],
    [0xecc8_c73e_a475_1e41, 0xe238_cd99_3bea_0e2f],
    [0x3280_bba1_183e_b331, 0x4e54_8b38_4f6d_b908],
    [0x6f42_0d03_f60a_04bf, 0x2cb8_1290_2497_7c79],
    [0x5679_b072_bcaf_89af, 0xde9a_771f_d993_0810],
    [0xb38b_ae12_dccf_3f2e, 0x5512_721f_2e6b_7124],
    [0x501a_dde6_9f84_cd87, 0x7a58_4718_7408_da17],
    [0xbc9f_9abc_e94b_7d8c, 0xec7a_ec3a_db85_1dfa],
    [0x6309_4366_c464_c3d2, 0xef1c_1847_3215_d808],
    [0xdd43_3b37_24c2_ba16, 0x12a1_4d43_2a65_c451],
    [0x5094_0002_133a_e4dd, 0x71df_f89e_1031_4e55],
    [0x81ac_77d6_5f11_199b, 0x0435_56f1_d7a3_c76b],
    [0x3c11_183b_5924_a509, 0xf28f_e6ed_97f1_fbfa],
    [0x9eba_bf2c_1e15_3c6e, 0x86e3_4570_eae9_6fb1],
    [0x860e_5e0a_5a3e_2ab3, 0x771f_e71c_4e3d_06fa],
    [0x2965_dcb9_99e7_1d0f, 0x803e_89d6_5266_c825],
    [0x2e4c_c978_9c10_b36a, 0xc615_0eba_94e2_ea78],
    [0xa6fc_3c53_1e0a_2df4, 0xf2f7_4ea7_361d_2b3d],
    [0x1939_260f_19c2_7960, 0x5223_a708_f713_12b6],
    [0xebad_fe6e_eac3_1f66, 0xe3bc_4595_a67b_c883],
    [0xb17f_37d1_018c_ff28, 0xc332_ddef_be6c_5aa5],
    [0x6558_2185_68ab_9702, 0xeece_a50f_db2f_953b],
    [0x2aef_7dad_5b6e_2f84, 0x1521_b628_2907_6170],
    [0xecdd_4775_619f_1510, 0x13cc_a830_eb61_bd96],
    [0x0334_fe1e_aa03_63cf, 0xb573_5c90_4c70_a239],
    [0xd59e_9e0b_cbaa_de14, 0xeecc_86bc_6062_2ca7],
    [0x9cab_5cab_b2f3_846e, 0x648b_1eaf_19bd_f0ca],
    [0xa023_69b9_655a_bb50, 0x4068_5a32_3c2a_b4b3],
    [0x319e_e9d5_c021_b8f7, 0x9b54_0b19_875f_a099],
    [0x95f7_997e_623d_7da8, 0xf837_889a_97e3_2d77],
    [0x11ed_935f_1668_1281, 0x0e35_8829_c7e6_1fd6],
    [0x96de_dfa1_7858_ba99, 0x57f5_84a5_1b22_7263],
    [0x9b83_c3ff_1ac2_4696, 0xcdb3_0aeb_532e_3054],
    [0x8fd9_48e4_6dbc_3128, 0x58eb_f2ef_34c6_ffea],
    [0xfe28_ed61_ee7c_3c73, 0x5d4a_14d9_e864_b7e3],
    [0x4210_5d14_203e_13e0, 0x45ee_e2b6_a3aa_abea],
    [0xdb6c_4f15_facb_4fd0, 0xc742_f442_ef6a_bbb5],
    [0x654f_3b1d_41cd_2105, 0xd81e_799e_8685_4dc7],
    [0xe44b_476a_3d81_6250, 0xcf62_a1f2_5b8d_2646],
    [0xfc88_83a0_c1c7_b6a3, 0x7f15_24c3_69cb_7492],
    [0x4784_8a0b_5692_b285, 0x095b_bf00_ad19_489d],
    [0x1462_b174_2382_0d00, 0x5842_8d2a_0c55_f5ea],
    [0x1dad_f43e_233f_7061, 0x3372_f092_8d93_7e41],
    [0xd65f_ecf1_6c22_3bdb, 0x7cde_3759_cbee_7460],
    [0x4085_f2a7_ce77_326e, 0xa607_8084_19f8_509e],
    [0xe8ef_d855_61d9_9735, 0xa969_a7aa_c50c_06c2],
    [0x5a04_abfc_800b_cadc, 0x9e44_7a2e_c345_3484],
    [0xfdd5_6705_0e1e_9ec9, 0xdb73_dbd3_1055_88cd],
    [0x675f_da79_e367_4340, 0xc5c4_3465_713e_38d8],
    [0x3d28_f89e_f16d_ff20, 0x153e_21e7_8fb0_3d4a],
    [0xe6e3_9f2b_db83_adf7, 0xe93d_5a68_9481_40f7],
    [0xf64c_261c_9469_2934, 0x4115_20f7_7602_d4f7],
    [0xbcf4_6b2e_d4a1_0068, 0xd408_2471_3320_f46a],
    [0x43b7_d4b7_5000_61af, 0x1e39_f62e_9724_4546],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits that differ from pi: index and value.
    const SLIPS: [(usize, u8); 6] =
        [(2269, 0x8), (2909, 0x8), (3169, 0x6), (3309, 0x7), (3949, 0xd), (4299, 0x1)];

    const COUNT: usize = FUNCTIONS * 32;

    #[test]
    fn keys_are_the_digits_of_pi_except_for_six() {
        let digits = |words: &[u64]| -> Vec<u8> {
            let digit = |at: usize| (words[at / 16] >> (60 - at % 16 * 4)) as u8 & 15;
            (0..COUNT).map(digit).collect()
        };
        let mut expected = digits(&pi());
        for (at, digit) in SLIPS {
            assert_eq!(expected[at].abs_diff(digit), 1, "digit {at}");
            expected[at] = digit;
        }
        assert!(digits(DIGITS_OF_PI.as_flattened()) == expected);
    }

    /// The digits of pi after the point and two more words, highest word first, by Machin's formula:
    /// pi = 16 arctan 1/5 - 4 arctan 1/239.
    fn pi() -> Vec<u64> {
        let mut sum = vec![0; COUNT / 16 + 3];
        for (factor, inverse, mut minus) in [(16, 5, false), (4, 239, true)] {
            let mut power = vec![0; sum.len()];
            power[0] = factor;
            divide(&mut power, inverse);
            for odd in (1..).step_by(2) {
                if power.iter().all(|&word| word == 0) {
                    break;
                }
                let mut term = power.clone();
                divide(&mut term, odd);
                add(&mut sum, &term, minus);
                minus = !minus;
                divide(&mut power, inverse * inverse);
            }
        }
        assert_eq!(sum.remove(0), 3);
        sum
    }

    fn divide(number: &mut [u64], divisor: u64) {
        let mut rest = 0;
        for word in number {
            let dividend = u128::from(rest) << 64 | u128::from(*word);
            *word = (dividend / u128::from(divisor)) as u64;
            rest = (dividend % u128::from(divisor)) as u64;
        }
    }

    fn add(sum: &mut [u64], term: &[u64], minus: bool) {
        let mut carry = false;
        for (sum, &term) in sum.iter_mut().zip(term).rev() {
            let step = if minus { u64::overflowing_sub } else { u64::overflowing_add };
            let (once, first) = step(*sum, term);
            let (twice, second) = step(once, u64::from(carry));
            (*sum, carry) = (twice, first || second);
        }
    }
}
