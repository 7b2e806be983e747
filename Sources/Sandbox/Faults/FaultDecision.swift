/// What happens to one request.
struct FaultDecision: Sendable, Equatable {
    /// Where the response comes from.
    enum Source: Sendable, Equatable {
        case upstream
        case status(Int, retryAfter: Int?)
        case html(Int)
        case garbage
        /// There is none: the connection is reset.
        case none
    }

    /// No fault.
    static let response = FaultDecision()

    var source = Source.upstream
    /// Whether the request waits until it is released.
    var isHeld = false
    /// Milliseconds before the response.
    var delay = 0
    var delivery = Delivery()
}

extension Fault {
    /// Adds what this fault does to the `ordinal`-th request (from 0).
    func apply(to decision: inout FaultDecision, ordinal: UInt64) {
        switch self {
        case .online: return
        case .offline, .refused: decision.source = .none
        case .slow(let milliseconds): decision.delay += milliseconds
        case .jitter(let range, let seed):
            let share = SplitMix64.unitInterval(seed: seed, index: ordinal)
            decision.delay += range.lowerBound + Int(share * Double(range.count))
        case .error(let status, let retryAfter): decision.source = .status(status, retryAfter: retryAfter)
        case .html(let status): decision.source = .html(status)
        case .flaky(let probability, let seed):
            guard SplitMix64.unitInterval(seed: seed, index: ordinal) < probability else { return }
            decision.source = .status(503, retryAfter: nil)
        case .garbage: decision.source = .garbage
        case .hold: decision.isHeld = true
        case .lost: decision.delivery.end = .nothing
        case .truncated: decision.delivery.end = .half
        case .pause(let bytes): decision.delivery.end = .pause(after: bytes)
        case .reset(let bytes): decision.delivery.end = .reset(after: bytes)
        case .bandwidth(let kilobytes): decision.delivery.bytesPerMillisecond = kilobytes
        case .slice(let bytes, let milliseconds):
            decision.delivery.slice = .init(bytes: bytes, pause: .milliseconds(milliseconds))
        case .slowClose(let milliseconds): decision.delivery.closeDelay = .milliseconds(milliseconds)
        }
    }
}
