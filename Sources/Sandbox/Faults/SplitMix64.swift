/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014) read at any index: the n-th
/// number needs no state, so concurrent requests cannot disturb each other's draw.
enum SplitMix64 {
    static func value(seed: UInt64, index: UInt64) -> UInt64 {
        var z = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// In 0..<1, with 53 random bits.
    static func unitInterval(seed: UInt64, index: UInt64) -> Double {
        Double(value(seed: seed, index: index) >> 11) * 0x1p-53
    }

    /// A seed for each text: its FNV-1a hash.
    static func seed(of text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
