/// What happens to one request.
enum FaultDecision: Sendable, Equatable {
    case response
    case reset
    case delay(milliseconds: Int)
    case status(Int, retryAfter: Int?)
    case html(Int)
    case truncate
    case pause(bytes: Int)
    case garble
    case hold
}

extension Fault {
    /// Returns what happens to the `ordinal`-th request (from 0) of this fault; always the same for the same fault and
    /// ordinal.
    func decision(ordinal: UInt64) -> FaultDecision {
        switch self {
        case .online: .response
        case .offline: .reset
        case .slow(let milliseconds): .delay(milliseconds: milliseconds)
        case .error(let status, let retryAfter): .status(status, retryAfter: retryAfter)
        case .html(let status): .html(status)
        case .flaky(let probability, let seed):
            SplitMix64.unitInterval(seed: seed, index: ordinal) < probability
                ? .status(503, retryAfter: nil) : .response
        case .truncated: .truncate
        case .pause(let bytes): .pause(bytes: bytes)
        case .garbage: .garble
        case .hold: .hold
        }
    }
}
