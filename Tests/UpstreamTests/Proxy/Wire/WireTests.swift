import Foundation
import Testing

/// TRUST-01: nothing that an upstream sends ends the process, hangs a request, or spoils the transport for others.
///
/// The number of cases, the seed and the first case are in the environment where `script/check-fuzz` or a repetition
/// sets them:
/// `WIRE_CASES`, `WIRE_SEED`, `WIRE_FIRST`.
struct WireTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    private static var range: Range<Int> {
        let first = number("WIRE_FIRST") ?? 0
        return first..<(first + (number("WIRE_CASES") ?? 5000))
    }

    @Test(
        "TRUST-01 Mutated responses by reads, calls, streams and mounts each end typed, and healthy ones are served",
        .timeLimit(.minutes(60))
    )
    func mutated() async throws {
        let run = try await WireRun(seed: UInt64(Self.number("WIRE_SEED") ?? 2026))
        let outcomes = try await run.run(Self.range)
        // Mutations after which nothing is HTTP would show little.
        #expect(outcomes["served", default: 0] > Self.range.count / 10, "\(outcomes)")
        #expect(outcomes["badResponse", default: 0] > Self.range.count / 10, "\(outcomes)")
    }

    @Test("TRUST-01 The cases of a seed are the same in every run")
    func repeatable() {
        for number in 0..<200 {
            let (one, other) = (WireCase(seed: 7, number: number, port: 1), WireCase(seed: 7, number: number, port: 1))
            #expect(one.pieces == other.pieces && one.route == other.route && one.ending == other.ending)
        }
    }
}
