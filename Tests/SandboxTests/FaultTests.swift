import Testing

@testable import Sandbox

@Suite struct FaultTests {
    @Test(
        "SRV-10 a fault reads its own text form back",
        arguments: [
            Fault.online, .offline, .refused, .slow(milliseconds: 0), .slow(milliseconds: 300),
            .error(status: 500, retryAfter: nil), .error(status: 429, retryAfter: 30),
            .error(status: 503, retryAfter: 0), .flaky(probability: 0.25, seed: 7), .lost, .truncated,
            .pause(bytes: 65_536),
            .garbage, .hold,
            .html(status: 200), .html(status: 404), .jitter(milliseconds: 0...600_000, seed: 7), .reset(bytes: 0),
            .bandwidth(kilobytes: 32), .slice(bytes: 1, milliseconds: 0), .slowClose(milliseconds: 500),
        ]
    )
    func roundTrip(fault: Fault) throws {
        #expect(try Fault(parsing: fault.description) == fault)
    }

    @Test("spaces around the parts of a fault do not matter")
    func spaces() throws {
        #expect(try Fault(parsing: "  slow( 20 ) ") == .slow(milliseconds: 20))
        #expect(try Fault(parsing: "error(429,5)") == .error(status: 429, retryAfter: 5))
        #expect(try Fault(parsing: "flaky(1,0)") == .flaky(probability: 1, seed: 0))
    }

    @Test(
        "a text that names no fault is refused",
        arguments: [
            "", "down", "Online", "online()", "offline(1)", "slow", "slow()", "slow(-1)", "slow(600001)", "slow(1.5)",
            "slow(1", "slow 1)", "slow(1) x",
            "error(200)", "html", "html(199)", "html(600)", "html(204)", "html(304)", "html(404, 1)",
            "error(399)", "error(600)", "error(500, 3)", "error(429, -1)", "error(429, )", "flaky(0.5)",
            "flaky(1.1, 1)", "flaky(-0.1, 1)", "flaky(nan, 1)",
            "flaky(0.5, -1)", "hold(1)", "jitter(1, 2)", "jitter(2, 1, 3)", "jitter(0, 600001, 1)", "jitter(0, 1, x)",
            "bandwidth(0)", "bandwidth(1000001)", "slice(0, 1)", "slice(1)", "slice(1, 600001)", "reset", "reset(-1)",
            "slow_close", "slow_close(600001)", "pause(1, 2)", "slow(200), bandwidth(32)",
        ]
    )
    func refused(text: String) {
        #expect(throws: FaultSyntaxError(text: text)) { try Fault(parsing: text) }
    }

    @Test("each fault decides its own consequence for every request")
    func decisions() {
        let expected: [(Fault, FaultDecision)] = [
            (.online, .response), (.offline, .init(source: .none)), (.refused, .init(source: .none)),
            (.slow(milliseconds: 5), .init(delay: 5)),
            (.error(status: 503, retryAfter: 9), .init(source: .status(503, retryAfter: 9))),
            (.lost, .init(delivery: .init(end: .nothing))), (.truncated, .init(delivery: .init(end: .half))),
            (.garbage, .init(source: .garbage)),
            (.hold, .init(isHeld: true)), (.html(status: 404), .init(source: .html(404))),
            (.reset(bytes: 7), .init(delivery: .init(end: .reset(after: 7)))),
            (.slowClose(milliseconds: 3), .init(delivery: .init(closeDelay: .milliseconds(3)))),
        ]
        for (fault, decision) in expected {
            for ordinal in [0, 1, 99] as [UInt64] { #expect(FaultPlan(fault).decision(ordinal: ordinal) == decision) }
        }
    }

    @Test("a flaky upstream fails with its probability, the same requests for the same seed")
    func flaky() {
        func failures(_ probability: Double, seed: UInt64) -> [UInt64] {
            let plan = FaultPlan(.flaky(probability: probability, seed: seed))
            return (0..<2_000).filter { plan.decision(ordinal: $0).source == .status(503, retryAfter: nil) }
        }
        #expect(failures(0, seed: 1).isEmpty)
        #expect(failures(1, seed: 1).count == 2_000)
        #expect((500...700).contains(failures(0.3, seed: 1).count))
        #expect(failures(0.3, seed: 1) == failures(0.3, seed: 1))
        #expect(failures(0.3, seed: 1) != failures(0.3, seed: 2))
    }

    @Test("HARN-12 jitter delays every request by a time of its range, the same times for the same seed")
    func jitter() {
        func delays(seed: UInt64) -> [Int] {
            (0..<500).map { FaultPlan(.jitter(milliseconds: 100...109, seed: seed)).decision(ordinal: $0).delay }
        }
        #expect(Set(delays(seed: 1)) == Set(100...109))
        #expect(delays(seed: 1) == delays(seed: 1))
        #expect(delays(seed: 1) != delays(seed: 2))
    }

    @Test("the generator gives the published numbers of SplitMix64")
    func generator() {
        // First outputs for seed 1234567 of the reference implementation.
        #expect(SplitMix64.value(seed: 1_234_567, index: 0) == 6_457_827_717_110_365_317)
        #expect(SplitMix64.value(seed: 1_234_567, index: 1) == 3_203_168_211_198_807_973)
    }
}
