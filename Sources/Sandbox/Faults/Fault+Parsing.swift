/// A text that names no fault.
struct FaultSyntaxError: Error, Equatable {
    let text: String

    /// Every form that is accepted.
    static let accepted = [
        "online", "offline", "slow(milliseconds 0…600000)", "error(status 400…599)",
        "error(429 or 503, seconds of Retry-After)",
        "html(status 200…599)", "flaky(probability 0…1, seed)", "truncated", "pause(bytes of the body)", "garbage",
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
        "online": .online, "offline": .offline, "truncated": .truncated, "garbage": .garbage, "hold": .hold,
    ]

    private static func parametrized(_ name: String, _ arguments: [String]) -> Fault? {
        switch (name, arguments.count) {
        case ("slow", 1):
            guard let milliseconds = Int(arguments[0]), (0...longestDelay).contains(milliseconds) else { return nil }
            return .slow(milliseconds: milliseconds)
        case ("error", 1):
            guard let status = Int(arguments[0]), (400...599).contains(status) else { return nil }
            return .error(status: status, retryAfter: nil)
        case ("html", 1):
            guard let status = Int(arguments[0]), (200...599).contains(status), status != 204, status != 304 else {
                return nil
            }
            return .html(status: status)
        case ("error", 2):
            guard let status = Int(arguments[0]), status == 429 || status == 503, let seconds = Int(arguments[1]),
                (0...86_400).contains(seconds)
            else {
                return nil
            }
            return .error(status: status, retryAfter: seconds)
        case ("pause", 1):
            guard let bytes = Int(arguments[0]), bytes >= 0 else { return nil }
            return .pause(bytes: bytes)
        case ("flaky", 2):
            guard let probability = Double(arguments[0]), (0...1).contains(probability), let seed = UInt64(arguments[1])
            else { return nil }
            return .flaky(probability: probability, seed: seed)
        default: return nil
        }
    }
}

extension String {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
