/// A fault of a simulated upstream. Its text form (`description`, ``init(parsing:)``) is the one of the control
/// API and of the request field `Sandbox-Fault`. Several together are a ``FaultPlan``.
enum Fault: Sendable, Equatable {
    /// No fault: the upstream responds as usual.
    case online
    /// The connection is reset without a response.
    case offline
    /// The server that is tested finds no listener at the upstream's address, so its connections are refused. The
    /// connection of a client that sends a request to the sandbox directly is reset.
    case refused
    /// The response is delayed by that time.
    case slow(milliseconds: Int)
    /// The response is delayed by a time of that distribution.
    case delayed(DelayDistribution)
    /// The response is delayed by a time of that range, from a random generator with that seed.
    case jitter(milliseconds: ClosedRange<Int>, seed: UInt64)
    /// A response with that status, in the form of the upstream's own errors where it has one. `retryAfter` (seconds)
    /// is allowed only with 429 and 503.
    case error(status: Int, retryAfter: Int?)
    /// An HTML page with that status (200…599), as from a proxy, a captive portal or another server at the address.
    case html(status: Int)
    /// 503 with that probability (0…1), from a random generator with that seed.
    case flaky(probability: Double, seed: UInt64)
    /// The request is carried out as usual, and the connection reset instead of a response.
    case lost
    /// The full `Content-Length` is announced and the connection closed in the middle of the body.
    case truncated
    /// The head and that many bytes of the body are sent. The rest waits until the control API releases it.
    case pause(bytes: Int)
    /// The head and that many bytes of the body are sent, then the connection is reset.
    case reset(bytes: Int)
    /// The body is sent at that many kilobytes (1000 bytes) a second.
    case bandwidth(kilobytes: Int)
    /// The body is sent in pieces of that many bytes, with a pause between two of them.
    case slice(bytes: Int, milliseconds: Int)
    /// The whole response is sent at once; its connection is closed after that time.
    case slowClose(milliseconds: Int)
    /// 200 with bytes that contradict the content type.
    case garbage
    /// The request waits until the control API releases it.
    case hold
    /// That fault, for so many of a hundred requests.
    indirect case sometimes(percent: Double, Fault)
}

extension Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .online: "online"
        case .offline: "offline"
        case .refused: "refused"
        case .slow(let milliseconds): "slow(\(milliseconds))"
        case .delayed(let distribution): "slow(\(distribution))"
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
        case .sometimes(let percent, let fault): "\(DelayDistribution.text(percent))% \(fault)"
        }
    }
}

/// A text that names no fault, or faults that cannot be combined.
struct FaultSyntaxError: Error, Equatable {
    let text: String
    var reason: String?

    /// Every form that is accepted.
    static let accepted = [
        "online", "offline", "refused", "slow(milliseconds 0…600000)", "slow(lognormal(median, sigma 0…10))",
        "slow(normal(mean, deviation))", "slow(exponential(mean))", "jitter(least milliseconds, most, seed)",
        "error(status 400…599)", "error(429 or 503, seconds of Retry-After)", "html(status 200…599)",
        "flaky(probability 0…1, seed)", "lost", "truncated", "pause(bytes of the body)", "reset(bytes of the body)",
        "bandwidth(kilobytes a second 1…1000000)", "slice(bytes, milliseconds)", "slow_close(milliseconds)", "garbage",
        "hold", "PERCENT% and any of these but online and refused, such as 10% error(500)",
    ]
}

extension Fault {
    /// Maximum delay, in milliseconds: ten minutes are longer than any client waits.
    static let longestDelay = 600_000

    /// Reads `name` or `name(argument, …)`; spaces around parts do not matter.
    init(parsing text: String) throws(FaultSyntaxError) {
        let failure = FaultSyntaxError(text: text)
        let trimmed = text.trimmed
        if let sign = trimmed.firstIndex(of: "%") {
            guard let fault = try? Fault(parsing: String(trimmed[trimmed.index(after: sign)...])),
                let percent = Double(trimmed[..<sign].trimmed), (0...100).contains(percent), fault.mayBeRare
            else { throw failure }
            self = .sometimes(percent: percent, fault)
            return
        }
        guard let open = trimmed.firstIndex(of: "(") else {
            guard let fault = Self.plain[trimmed] else { throw failure }
            self = fault
            return
        }
        guard trimmed.last == ")" else { throw failure }
        let list = String(trimmed[trimmed.index(after: open)...].dropLast())
        let arguments = FaultPlan.members(of: list).map(\.trimmed)
        guard let fault = Self.parametrized(String(trimmed[..<open]).trimmed, arguments) else { throw failure }
        self = fault
    }

    /// Whether the fault applies to some requests only.
    var isRare: Bool { if case .sometimes = self { true } else { false } }

    /// Whether the fault can apply to some requests only.
    private var mayBeRare: Bool { self != .online && self != .refused && !isRare }

    private static let plain: [String: Fault] = [
        "online": .online, "offline": .offline, "refused": .refused, "lost": .lost, "truncated": .truncated,
        "garbage": .garbage, "hold": .hold,
    ]

    private static func parametrized(_ name: String, _ arguments: [String]) -> Fault? {
        switch (name, arguments.count) {
        case ("error", 1...2), ("html", 1): response(name, arguments)
        case ("flaky", 2), ("jitter", 3): random(arguments)
        case (_, 1...2): timed(name, arguments)
        default: nil
        }
    }

    /// Faults that put a status in place of the response.
    private static func response(_ name: String, _ arguments: [String]) -> Fault? {
        guard let status = number(arguments[0], 200...599) else { return nil }
        if name == "html" { return status == 204 || status == 304 ? nil : .html(status: status) }
        guard status >= 400 else { return nil }
        guard arguments.count == 2 else { return .error(status: status, retryAfter: nil) }
        guard status == 429 || status == 503, let seconds = number(arguments[1], 0...86_400) else { return nil }
        return .error(status: status, retryAfter: seconds)
    }

    /// Faults that draw from a seed.
    private static func random(_ arguments: [String]) -> Fault? {
        guard let seed = UInt64(arguments[arguments.count - 1]) else { return nil }
        if arguments.count == 2 {
            guard let probability = Double(arguments[0]), (0...1).contains(probability) else { return nil }
            return .flaky(probability: probability, seed: seed)
        }
        guard let least = number(arguments[0], 0...longestDelay), let most = number(arguments[1], least...longestDelay)
        else { return nil }
        return .jitter(milliseconds: least...most, seed: seed)
    }

    /// Faults of time and amount.
    private static func timed(_ name: String, _ arguments: [String]) -> Fault? {
        if name == "slow", arguments.count == 1, let distribution = DelayDistribution(parsing: arguments[0]) {
            return .delayed(distribution)
        }
        let range = name == "slow" || name == "slow_close" ? 0...longestDelay : 0...Int.max
        guard let first = number(arguments[0], range) else { return nil }
        if arguments.count == 2 {
            guard name == "slice", first > 0, let pause = number(arguments[1], 0...longestDelay) else { return nil }
            return .slice(bytes: first, milliseconds: pause)
        }
        switch name {
        case "slow": return .slow(milliseconds: first)
        case "slow_close": return .slowClose(milliseconds: first)
        case "pause": return .pause(bytes: first)
        case "reset": return .reset(bytes: first)
        case "bandwidth": return (1...1_000_000).contains(first) ? .bandwidth(kilobytes: first) : nil
        default: return nil
        }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
