/// A text that names no fault, or faults that cannot be combined.
struct FaultSyntaxError: Error, Equatable {
    let text: String
    var reason: String?

    /// Every form that is accepted.
    static let accepted = [
        "online", "offline", "refused", "slow(milliseconds 0…600000)", "jitter(least milliseconds, most, seed)",
        "error(status 400…599)", "error(429 or 503, seconds of Retry-After)", "html(status 200…599)",
        "flaky(probability 0…1, seed)", "lost", "truncated", "pause(bytes of the body)", "reset(bytes of the body)",
        "bandwidth(kilobytes a second 1…1000000)", "slice(bytes, milliseconds)", "slow_close(milliseconds)", "garbage",
        "hold",
    ]
}

extension Fault {
    /// Maximum delay, in milliseconds: ten minutes are longer than any client waits.
    static let longestDelay = 600_000

    /// Reads `name` or `name(argument, …)`; spaces around parts do not matter.
    init(parsing text: String) throws(FaultSyntaxError) {
        let failure = FaultSyntaxError(text: text)
        let trimmed = text.trimmed
        guard let open = trimmed.firstIndex(of: "(") else {
            guard let fault = Self.plain[trimmed] else { throw failure }
            self = fault
            return
        }
        guard trimmed.last == ")" else { throw failure }
        let arguments = trimmed[trimmed.index(after: open)...].dropLast().split(
            separator: ",",
            omittingEmptySubsequences: false
        ).map { String($0).trimmed }
        guard let fault = Self.parametrized(String(trimmed[..<open]).trimmed, arguments) else { throw failure }
        self = fault
    }

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

extension String {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
