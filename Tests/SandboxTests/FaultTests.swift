import Foundation
import NIOCore
import TestKit
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
            .delayed(.lognormal(median: 90, sigma: 0.4)), .delayed(.normal(mean: 200, deviation: 50)),
            .delayed(.exponential(mean: 12.5)), .sometimes(percent: 10, .error(status: 500, retryAfter: nil)),
            .sometimes(percent: 0.5, .delayed(.lognormal(median: 90, sigma: 0.4))), .sometimes(percent: 100, .offline),
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
            "slow(lognormal(90))", "slow(lognormal(90, -1))", "slow(gamma(1, 2))", "slow(exponential(600001))",
            "% offline", "101% offline", "-1% offline", "10%", "10% online", "10% refused", "10% 10% offline",
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

    @Test("HARN-12 a tenth of the requests gets a fault of 10 %, each run the same ones, and each fault others")
    func someRequests() throws {
        func drawn(_ text: String) throws -> [UInt64] {
            let plan = try FaultPlan(parsing: text)
            return (0..<10_000).filter { plan.decision(ordinal: $0) != .response }
        }
        let errors = try drawn("10% error(500)")
        #expect((900...1_100).contains(errors.count))
        #expect(try drawn("10% error(500)") == errors)
        #expect(try drawn("10% offline") != errors)
        #expect(try drawn("0% offline").isEmpty && drawn("100% offline").count == 10_000)
        // Each of several is drawn for itself.
        #expect((1_850...2_150).contains(try drawn("10% error(500), 11% error(429)").count))
        #expect(try FaultPlan(parsing: "slow(20), 10% offline").decision(ordinal: 0).delay == 20)
    }

    @Test(
        "HARN-12 delays have the median and the spread of their distribution, and are the same in each run",
        arguments: [
            ("slow(lognormal(90, 0.4))", 85...95, 0.15...0.17), ("slow(normal(200, 50))", 195...205, 0.14...0.17),
            ("slow(exponential(100))", 65...74, 0.35...0.39),
        ] as [(String, ClosedRange<Int>, ClosedRange<Double>)]
    )
    func spread(text: String, median: ClosedRange<Int>, aboveSigma: ClosedRange<Double>) throws {
        let plan = try FaultPlan(parsing: text)
        let delays = (0..<10_000 as Range<UInt64>).map { plan.decision(ordinal: $0).delay }
        #expect(median.contains(delays.sorted()[5_000]), "\(delays.sorted()[5_000])")
        #expect(delays == (0..<10_000 as Range<UInt64>).map { plan.decision(ordinal: $0).delay })
        let bound = ["slow(lognormal(90, 0.4))": 134, "slow(normal(200, 50))": 250][text] ?? 100
        let share = Double(delays.count { $0 > bound }) / 10_000
        #expect(aboveSigma.contains(share), "\(share)")
    }
}

private let request = MatchedRequest(method: "GET", path: ["v4", "ships"])

@Suite struct FaultGateTests {
    @Test("the count that a flaky fault draws from starts again when a fault is set")
    func ordinal() {
        let gate = FaultGate()
        let fault = Fault.flaky(probability: 0.5, seed: 3)
        let run = {
            gate.set(FaultPlan(fault))
            return (0..<50).map { _ in gate.admit(request, override: nil).decision }
        }
        #expect(run() == run())
    }

    @Test("a request's own fault leaves the upstream's as it is")
    func override() {
        let gate = FaultGate()
        gate.set(FaultPlan(.offline))
        #expect(gate.admit(request, override: .online).decision == .response)
        #expect(gate.admit(request, override: nil).decision.source == .none)
    }

    @Test("a released request meets the fault that is set by then, and is not held twice")
    func readmission() async throws {
        let gate = FaultGate()
        gate.set(FaultPlan(.hold))
        let held = gate.admit(request, override: nil)
        let ticket = gate.hold()
        #expect(gate.waiting == 1)
        #expect(gate.release() == 1)
        try await ticket.released.wait()
        #expect(gate.waiting == 0)
        #expect(gate.readmit(held).decision == .response)
        gate.set(FaultPlan(.offline))
        #expect(gate.readmit(held).decision.source == .none)
    }

    @Test("a released request meets the rest of its combination, whatever is set by then")
    func readmissionOfCombination() throws {
        let gate = FaultGate()
        gate.set(try FaultPlan(parsing: "hold, error(500)"))
        let held = gate.admit(request, override: nil)
        #expect(held.decision.isHeld)
        gate.set(.online)
        let next = gate.readmit(held).decision
        #expect(next == FaultDecision(source: .status(500, retryAfter: nil)))
    }

    @Test("HARN-12 a release may be of so many, those first that wait longest, or of one by its number")
    func release() async throws {
        let gate = FaultGate()
        let tickets = (1...4).map { gate.hold(sequence: $0 * 10) }
        #expect(gate.release(sequence: 30) == 1 && gate.release(sequence: 30) == 0 && gate.release(sequence: 5) == 0)
        try await tickets[2].released.wait()
        #expect(gate.release(count: 2) == 2)
        try await tickets[0].released.wait()
        try await tickets[1].released.wait()
        #expect(gate.waiting == 1)
        gate.forgetSequences()
        #expect(gate.release(sequence: 40) == 0)
        #expect(gate.release() == 1)
        try await tickets[3].released.wait()
    }

    @Test("a closed gate ends what it holds and holds nothing any more")
    func closing() async {
        let gate = FaultGate()
        let before = gate.hold()
        gate.close()
        let after = gate.hold()
        await #expect(throws: CancellationError.self) { try await before.released.wait() }
        await #expect(throws: CancellationError.self) { try await after.released.wait() }
        #expect(gate.waiting == 0)
    }

    @Test("the task that waits for a signal can be cancelled")
    func cancellation() async {
        let signal = OneShotEvent()
        let task = Task { try await signal.wait() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite struct FaultPlanTests {
    @Test("HARN-12 a list of faults is applied together and reads its own text form back")
    func combination() throws {
        let plan = try FaultPlan(parsing: " slow(200) ,jitter(5,5,1),error(503, 2), bandwidth(32),slice(10, 20)")
        #expect(plan.description == "slow(200), jitter(5, 5, 1), error(503, 2), bandwidth(32), slice(10, 20)")
        #expect(try FaultPlan(parsing: plan.description) == plan)
        let delivery = Delivery(bytesPerMillisecond: 32, slice: .init(bytes: 10, pause: .milliseconds(20)))
        let expected = FaultDecision(source: .status(503, retryAfter: 2), delay: 205, delivery: delivery)
        #expect(plan.decision(ordinal: 0) == expected)
    }

    @Test(
        "faults that contradict each other are refused with the reason",
        arguments: [
            ("offline, slow(1)", "offline can only be alone"), ("slow(1), online", "online can only be alone"),
            ("slow(1), refused", "refused can only be alone"),
            ("slow(1), slow(2)", "slow(2) and another decide the same"),
            ("truncated, pause(1)", "pause(1) and another decide the same"),
            ("lost, reset(1)", "reset(1) and another decide the same"),
            ("error(500), garbage", "garbage and another decide the same"),
        ]
    )
    func contradictions(text: String, reason: String) {
        #expect(throws: FaultSyntaxError(text: text, reason: reason)) { try FaultPlan(parsing: text) }
    }

    @Test(
        "a list with something else in it is refused",
        arguments: ["", ",", "slow(1),", "slow(1), x", "slow(1", ")("]
    )
    func refused(text: String) {
        #expect(throws: FaultSyntaxError(text: text)) { try FaultPlan(parsing: text) }
    }
}

@Suite struct RefusingPortTests {
    @Test("HARN-12 refused: the kernel refuses each connection, and no other program gets the port")
    func refuses() async throws {
        let port = try RefusingPort()
        for _ in 0..<20 {
            let error = await #expect(throws: IOError.self) {
                try await RawClient.connect(port: port.number) { _ in }
            }
            #expect(error?.errnoCode == ECONNREFUSED)
        }
        #expect(try RefusingPort().number != port.number)
    }
}
