import Testing

@testable import Sandbox

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
