import Synchronization

/// Random numbers: those of the system, or in a server under test a sequence that follows from a seed, so that two runs
/// are equal. The composition root sets which.
package final class Randomness: Sendable {
    /// Those of the server for which the task works; nil for the system's.
    @TaskLocal package static var current: Randomness?

    private let seed: UInt64
    /// How many numbers were drawn, by purpose.
    private let drawn = Mutex<[String: UInt64]>([:])

    package init(seed: UInt64) { self.seed = seed }

    package func reset() { drawn.withLock { $0 = [:] } }

    /// Returns a random number.
    ///
    /// - Parameter purpose: The use of the number: the numbers of one purpose do not depend on how many another one
    ///   draws.
    package static func number(for purpose: String) -> UInt64 {
        current?.next(for: purpose) ?? .random(in: .min ... .max)
    }

    /// Returns random bytes, fit for keys unless a test has set a seed.
    package static func bytes(_ count: Int, for purpose: String) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            withUnsafeBytes(of: number(for: purpose)) { bytes += $0.prefix(count - bytes.count) }
        }
        return bytes
    }

    /// Returns a random number in 0..<1.
    package static func fraction(for purpose: String) -> Double { Double(number(for: purpose) >> 11) * 0x1p-53 }

    private func next(for purpose: String) -> UInt64 {
        let index = drawn.withLock { drawn in
            drawn[purpose, default: 0] += 1
            return drawn[purpose, default: 0]
        }
        // FNV-1a of the purpose, and SplitMix64 over the index.
        let name = purpose.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Self.mixed(Self.mixed(seed ^ name) &+ index &* 0x9E37_79B9_7F4A_7C15)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
