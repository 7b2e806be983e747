import Foundation

/// How delays in milliseconds are spread. Its text form is the argument of `slow`.
enum DelayDistribution: Sendable, Equatable {
    /// The median, and the deviation of the logarithm: most are short, a few are long, as with real servers.
    case lognormal(median: Double, sigma: Double)
    /// The mean, and the standard deviation; none is below 0.
    case normal(mean: Double, deviation: Double)
    /// The mean.
    case exponential(mean: Double)

    /// Returns the delay of the `ordinal`-th request (from 0): always the same for the same seed.
    func milliseconds(seed: UInt64, ordinal: UInt64) -> Int {
        let first = 1 - SplitMix64.unitInterval(seed: seed, index: 2 * ordinal)
        // Box and Muller, "A note on the generation of random normal deviates", 1958.
        let second = SplitMix64.unitInterval(seed: seed, index: 2 * ordinal + 1)
        let deviate = (-2 * log(first)).squareRoot() * cos(2 * Double.pi * second)
        let value =
            switch self {
            case .lognormal(let median, let sigma): median * exp(sigma * deviate)
            case .normal(let mean, let deviation): mean + deviation * deviate
            case .exponential(let mean): -mean * log(first)
            }
        return Int(min(max(0, value), Double(Fault.longestDelay)))
    }
}

extension DelayDistribution: CustomStringConvertible {
    var description: String {
        switch self {
        case .lognormal(let median, let sigma): "lognormal(\(Self.text(median)), \(Self.text(sigma)))"
        case .normal(let mean, let deviation): "normal(\(Self.text(mean)), \(Self.text(deviation)))"
        case .exponential(let mean): "exponential(\(Self.text(mean)))"
        }
    }

    /// Returns the text of a number, without `.0` for a whole one.
    static func text(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }

    /// Reads `lognormal(90, 0.4)`; nil for anything else.
    init?(parsing text: String) {
        guard let open = text.firstIndex(of: "("), text.last == ")" else { return nil }
        let list = String(text[text.index(after: open)...].dropLast())
        let numbers = FaultPlan.members(of: list).compactMap { Double($0.trimmed) }
        let limit = Double(Fault.longestDelay)
        switch (text[..<open].trimmed, numbers.count) {
        case ("lognormal", 2) where (0...limit).contains(numbers[0]) && (0...10).contains(numbers[1]):
            self = .lognormal(median: numbers[0], sigma: numbers[1])
        case ("normal", 2) where numbers.allSatisfy((0...limit).contains):
            self = .normal(mean: numbers[0], deviation: numbers[1])
        case ("exponential", 1) where (0...limit).contains(numbers[0]): self = .exponential(mean: numbers[0])
        default: return nil
        }
    }
}

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

    /// In 0..<bound.
    static func number(seed: UInt64, index: UInt64, below bound: Int) -> Int {
        Int(value(seed: seed, index: index) % UInt64(bound))
    }

    /// A seed for each text: its FNV-1a hash.
    static func seed(of text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
