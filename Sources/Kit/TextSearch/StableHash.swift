extension String {
    /// Its FNV-1a hash: the same in every process, unlike that of `Hasher`, for owners and ranks of a ``SearchIndex``.
    package var stableHash: UInt64 {
        utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
