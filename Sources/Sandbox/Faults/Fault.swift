/// What is wrong with a simulated upstream. Its text form (`description`, ``init(parsing:)``) is the one of the control
/// API and of the request field `Sandbox-Fault`.
enum Fault: Sendable, Equatable {
    /// No fault: the upstream responds as usual.
    case online
    /// The connection is reset without a response.
    case offline
    /// The response is delayed by that time.
    case slow(milliseconds: Int)
    /// That status instead of the response, in the form of the upstream's own errors where it has one; `retryAfter`
    /// (seconds) only with 429 and 503.
    case error(status: Int, retryAfter: Int?)
    /// A page of HTML with that status (200…599) instead of the response, as a proxy, a captive portal or another
    /// server at this address gives it.
    case html(status: Int)
    /// 503 with that probability (0…1), from a random generator with that seed.
    case flaky(probability: Double, seed: UInt64)
    /// The full `Content-Length` is announced and the connection closed in the middle of the body.
    case truncated
    /// The head and that many bytes of the body leave, the rest waits until the control API releases it.
    case pause(bytes: Int)
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
        case .slow(let milliseconds): "slow(\(milliseconds))"
        case .error(let status, .none): "error(\(status))"
        case .error(let status, .some(let seconds)): "error(\(status), \(seconds))"
        case .html(let status): "html(\(status))"
        case .flaky(let probability, let seed): "flaky(\(probability), \(seed))"
        case .truncated: "truncated"
        case .pause(let bytes): "pause(\(bytes))"
        case .garbage: "garbage"
        case .hold: "hold"
        }
    }
}
