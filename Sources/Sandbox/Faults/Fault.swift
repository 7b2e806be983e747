/// What is wrong with a simulated upstream. Its text form (`description`, ``init(parsing:)``) is the one of the control
/// API and of the request field `Sandbox-Fault`. Several together are a ``FaultPlan``.
enum Fault: Sendable, Equatable {
    /// No fault: the upstream responds as usual.
    case online
    /// The connection is reset without a response.
    case offline
    /// The server that is tested finds no listener at the upstream's address: its connections are refused. A client
    /// that reaches the sandbox by itself has its connection reset.
    case refused
    /// The response is delayed by that time.
    case slow(milliseconds: Int)
    /// The response is delayed by a time of that range, from a random generator with that seed.
    case jitter(milliseconds: ClosedRange<Int>, seed: UInt64)
    /// That status instead of the response, in the form of the upstream's own errors where it has one; `retryAfter`
    /// (seconds) only with 429 and 503.
    case error(status: Int, retryAfter: Int?)
    /// A page of HTML with that status (200…599) instead of the response, as a proxy, a captive portal or another
    /// server at this address gives it.
    case html(status: Int)
    /// 503 with that probability (0…1), from a random generator with that seed.
    case flaky(probability: Double, seed: UInt64)
    /// The request is carried out as usual, and the connection reset instead of a response.
    case lost
    /// The full `Content-Length` is announced and the connection closed in the middle of the body.
    case truncated
    /// The head and that many bytes of the body leave, the rest waits until the control API releases it.
    case pause(bytes: Int)
    /// The head and that many bytes of the body leave, then the connection is reset.
    case reset(bytes: Int)
    /// The body leaves at that many kilobytes (1000 bytes) a second.
    case bandwidth(kilobytes: Int)
    /// The body leaves in pieces of that many bytes, with a pause between two of them.
    case slice(bytes: Int, milliseconds: Int)
    /// The whole response leaves at once; its connection is closed after that time.
    case slowClose(milliseconds: Int)
    /// 200 with bytes that are not what the content type promises.
    case garbage
    /// The request waits until the control API releases it.
    case hold
}

extension Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .online: "online"
        case .offline: "offline"
        case .refused: "refused"
        case .slow(let milliseconds): "slow(\(milliseconds))"
        case .jitter(let range, let seed): "jitter(\(range.lowerBound), \(range.upperBound), \(seed))"
        case .error(let status, .none): "error(\(status))"
        case .error(let status, .some(let seconds)): "error(\(status), \(seconds))"
        case .html(let status): "html(\(status))"
        case .flaky(let probability, let seed): "flaky(\(probability), \(seed))"
        case .lost: "lost"
        case .truncated: "truncated"
        case .pause(let bytes): "pause(\(bytes))"
        case .reset(let bytes): "reset(\(bytes))"
        case .bandwidth(let kilobytes): "bandwidth(\(kilobytes))"
        case .slice(let bytes, let milliseconds): "slice(\(bytes), \(milliseconds))"
        case .slowClose(let milliseconds): "slow_close(\(milliseconds))"
        case .garbage: "garbage"
        case .hold: "hold"
        }
    }
}
