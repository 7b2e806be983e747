import Testing

@testable import Upstream

/// TRUST-01: which parts of a response may reach the HTTP client.
struct ResponseSequenceTests {
    typealias Part = ResponseSequence.Part
    typealias Verdict = ResponseSequence.Verdict

    private func verdicts(_ parts: [Part], to requests: Int = 1) -> [Verdict] {
        var sequence = ResponseSequence()
        for _ in 0..<requests { sequence.requestSent() }
        return parts.map { sequence.receive($0) }
    }

    @Test(
        "TRUST-01 A final response passes, with and without a body",
        arguments: [200, 204, 301, 304, 404, 500, 599, 600, 999]
    )
    func finalResponse(status: Int) {
        #expect(verdicts([.head(status: status), .end]) == [.pass, .pass])
        #expect(verdicts([.head(status: status), .body, .body, .end]) == [.pass, .pass, .pass, .pass])
    }

    @Test("TRUST-01 Interim responses pass before the final one, up to the bound", arguments: [100, 102, 103, 199])
    func interim(status: Int) {
        let many = [Part](repeating: .head(status: status), count: ResponseSequence.mostInterim)
        let final: [Part] = [.head(status: 200), .body, .end]
        #expect(verdicts(many + final).allSatisfy { $0 == .pass })
        let tooMany = verdicts(many + [.head(status: status)] + final)
        #expect(tooMany.suffix(4) == [.refuse(.tooManyInterim), .drop, .drop, .drop])
    }

    @Test("TRUST-01 A status below 100 is refused, and nothing passes after it", arguments: [0, 1, 42, 99])
    func low(status: Int) {
        #expect(
            verdicts([.head(status: status), .body, .end, .head(status: 200), .end]) == [
                .refuse(.status(status)), .drop, .drop, .drop, .drop,
            ]
        )
    }

    @Test("TRUST-01 101 is refused, be it first or after other interim responses")
    func switchingProtocols() {
        #expect(verdicts([.head(status: 101), .end]) == [.refuse(.switchingProtocols), .drop])
        #expect(verdicts([.head(status: 103), .head(status: 101)]) == [.pass, .refuse(.switchingProtocols)])
    }

    @Test(
        "TRUST-01 A part that nothing was waiting for is refused",
        arguments: [
            ([Part.body], 1), ([.end], 1), ([.head(status: 100), .end], 1),
            ([.head(status: 200), .head(status: 200)], 1),
            ([.head(status: 200), .head(status: 100)], 1), ([.head(status: 200), .end, .head(status: 200)], 1),
            ([.head(status: 200), .end, .end], 1), ([.head(status: 200), .end, .body], 1),
            ([.head(status: 200)], 0), ([.head(status: 100)], 0), ([.body], 0), ([.end], 0),
        ]
    )
    func outOfOrder(parts: [Part], requests: Int) {
        let verdicts = verdicts(parts, to: requests)
        #expect(verdicts.dropLast().allSatisfy { $0 == .pass })
        #expect(verdicts.last == .refuse(.outOfOrder))
    }

    @Test("TRUST-01 One request after another on a connection, each with responses of its own")
    func several() {
        var sequence = ResponseSequence()
        for _ in 0..<3 {
            sequence.requestSent()
            for part in [Part.head(status: 100), .head(status: 200), .body, .end] {
                #expect(sequence.receive(part) == .pass)
            }
        }
        #expect(sequence.receive(.head(status: 200)) == .refuse(.outOfOrder))
        sequence.requestSent()
        #expect(sequence.receive(.head(status: 200)) == .drop, "the connection has ended")
    }

    @Test("TRUST-01 The bound of interim responses is that of one request")
    func boundStartsAgain() {
        var sequence = ResponseSequence()
        for _ in 0..<2 {
            sequence.requestSent()
            for _ in 0..<ResponseSequence.mostInterim { #expect(sequence.receive(.head(status: 102)) == .pass) }
            for part in [Part.head(status: 200), .end] { #expect(sequence.receive(part) == .pass) }
        }
    }
}
