import Testing

@testable import Sandbox

@Suite struct DeliveryTests {
    private func steps(_ text: String, of length: Int) throws -> [DeliveryStep] {
        Array(try FaultPlan(parsing: text).decision(ordinal: 0).delivery.steps(of: length))
    }

    @Test("a body without a fault is sent at once, an empty one not at all")
    func plain() throws {
        #expect(try steps("online", of: 7) == [.send(0..<7)])
        #expect(try steps("online", of: 0) == [])
    }

    @Test("HARN-12 bandwidth sends a tenth of a second's bytes at a time, each after the time that it takes")
    func bandwidth() throws {
        #expect(
            try steps("bandwidth(1)", of: 230) == [
                .wait(.milliseconds(100)), .send(0..<100), .wait(.milliseconds(100)), .send(100..<200),
                .wait(.milliseconds(30)), .send(200..<230),
            ]
        )
    }

    @Test("HARN-12 slice pauses between two pieces, neither before the first nor after the last")
    func slice() throws {
        #expect(try steps("slice(100, 5)", of: 200) == [.send(0..<100), .wait(.milliseconds(5)), .send(100..<200)])
    }

    @Test("slices of a limited bandwidth take both times")
    func slicesOfBandwidth() throws {
        #expect(
            try steps("bandwidth(1), slice(150, 7)", of: 160) == [
                .wait(.milliseconds(100)), .send(0..<100), .wait(.milliseconds(50)), .send(100..<150),
                .wait(.milliseconds(17)), .send(150..<160),
            ]
        )
    }

    @Test(
        "HARN-12 the end of a body is as its fault says",
        arguments: [
            ("lost", 9, [.reset]),
            ("truncated", 9, [DeliveryStep.send(0..<4), .cut]), ("reset(3)", 9, [.send(0..<3), .reset]),
            ("reset(0)", 9, [.reset]), ("reset(10)", 9, [.send(0..<9), .reset]),
            ("pause(3)", 9, [.send(0..<3), .hold, .send(3..<9)]), ("pause(0)", 9, [.hold, .send(0..<9)]),
            ("pause(9)", 9, [.send(0..<9)]),
            ("pause(3), slow_close(4)", 3, [.send(0..<3), .wait(.milliseconds(4)), .close]),
            ("slow_close(4)", 9, [.send(0..<9), .wait(.milliseconds(4)), .close]),
            ("slow_close(4)", 0, [.wait(.milliseconds(4)), .close]),
        ]
    )
    func ends(text: String, length: Int, expected: [DeliveryStep]) throws {
        #expect(try steps(text, of: length) == expected)
    }

    @Test("steps of a body of any length are made one by one")
    func long() throws {
        let delivery = try FaultPlan(parsing: "slice(1, 1)").decision(ordinal: 0).delivery
        let first = Array(delivery.steps(of: 1 << 50).prefix(3))
        #expect(first == [.send(0..<1), .wait(.milliseconds(1)), .send(1..<2)])
    }
}
