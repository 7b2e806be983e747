import HTTPTypes
import JSONValues

/// A request to the control API.
struct ControlRequest: Sendable {
    var method: HTTPRequest.Method
    /// Below `/_sandbox`; for an upstream's own part below `/_sandbox/{name}`.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    /// The `Host` field.
    var authority: String?
    /// The `Origin` field, which browsers send with requests of a page.
    var fetchOrigin: String?
    var body: [UInt8] = []
    /// Has something done when the connection of the request has ended; nil without a connection.
    var onClose: (@Sendable (_ action: @escaping @Sendable () -> Void) -> Void)?

    func json() throws(ControlProblem) -> JSONValue {
        do {
            return try JSONParser.parse(body)
        } catch {
            throw .invalid(
                field: "body",
                value: String(decoding: body.prefix(60), as: UTF8.self),
                accepted: ["JSON"],
                reason: error.description
            )
        }
    }

    /// - Throws: 405 if the method is none of these; HEAD counts as GET.
    func require(_ methods: HTTPRequest.Method...) throws(ControlProblem) {
        let effective = method == .head ? .get : method
        guard methods.contains(effective) else {
            throw .methodNotAllowed(method, allowed: methods.contains(.get) ? methods + [.head] : methods)
        }
    }

    /// - Throws: 400 if the query has a parameter of another name, or one of them twice.
    func parameters(_ names: [String] = []) throws(ControlProblem) -> [String: String] {
        var values: [String: String] = [:]
        for item in query {
            guard names.contains(item.name) else {
                throw .invalid(field: "query", value: item.name, accepted: names.isEmpty ? ["no query"] : names)
            }
            guard values[item.name] == nil else {
                throw .invalid(
                    field: item.name,
                    value: item.value,
                    accepted: ["one value"],
                    reason: "it is there twice"
                )
            }
            values[item.name] = item.value
        }
        return values
    }
}

extension [String: String] {
    /// A whole number from the query within `range`; `fallback` if it is not given.
    func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(ControlProblem) -> Int {
        guard let text = self[name] else { return fallback }
        guard let value = Int(text), range.contains(value) else {
            throw .invalid(field: name, value: text, accepted: ["whole number \(range.lowerBound)…\(range.upperBound)"])
        }
        return value
    }
}

/// The members of a control request's body; those that the call does not know are refused.
struct ControlFields: Sendable {
    private let object: JSONObject

    init(_ value: JSONValue) throws(ControlProblem) {
        guard let object = value.object else {
            throw .invalid(field: "body", value: value.excerpt, accepted: ["a JSON object"])
        }
        self.object = object
    }

    var members: [JSONObject.Member] { object.members }

    subscript(_ name: String) -> JSONValue? { object[name] }

    func requireNone() throws(ControlProblem) { try require(only: []) }

    func require(only names: String...) throws(ControlProblem) { try require(only: names) }

    private func require(only names: [String]) throws(ControlProblem) {
        for member in object.members where !names.contains(member.name) {
            throw .invalid(field: "body", value: member.name, accepted: names.isEmpty ? ["no members"] : names)
        }
    }

    func text(_ name: String) throws(ControlProblem) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw refusal(name, value, ["a string"]) }
        return text
    }

    func flag(_ name: String) throws(ControlProblem) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let flag = value.bool else { throw refusal(name, value, ["true", "false"]) }
        return flag
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlProblem) -> Int? {
        guard let value = object[name] else { return nil }
        guard case .number(let spelling) = value, let number = Int(spelling), range.contains(number) else {
            throw refusal(name, value, ["whole number \(range.lowerBound)…\(range.upperBound)"])
        }
        return number
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of: Choice.Type) throws(ControlProblem)
        -> Choice? where Choice.RawValue == String
    {
        guard let value = object[name] else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw refusal(name, value, Choice.allCases.map(\.rawValue))
        }
        return choice
    }

    func choices<Choice: RawRepresentable & CaseIterable & Hashable>(_ name: String, of: Choice.Type)
        throws(ControlProblem) -> Set<Choice>?
    where Choice.RawValue == String {
        guard let value = object[name] else { return nil }
        let choices = value.array?.map { $0.string.flatMap(Choice.init(rawValue:)) }
        guard let choices, !choices.contains(nil) else {
            throw refusal(name, value, ["an array of: " + Choice.allCases.map(\.rawValue).joined(separator: ", ")])
        }
        return Set(choices.compactMap { $0 })
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ControlProblem) -> Value {
        guard let value else { throw .invalid(field: name, value: "", accepted: ["a value"]) }
        return value
    }

    func refusal(_ name: String, _ value: JSONValue, _ accepted: [String]) -> ControlProblem {
        .invalid(field: name, value: value.excerpt, accepted: accepted)
    }
}

/// A name that a test author chooses for a space or a snapshot; it is a part of paths.
enum ControlName {
    /// - Throws: ``ControlProblem`` if it may not be one.
    static func checked(_ name: String) throws(ControlProblem) -> String {
        let isName =
            (1...64).contains(name.utf8.count) && name.first != "."
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2D, 0x2E, 0x5F].contains($0)
            }
        guard isName else {
            let accepted = "1…64 of A-Z a-z 0-9 - _ ., the first one no dot"
            throw .invalid(field: "name", value: String(name.prefix(64)), accepted: [accepted])
        }
        return name
    }
}

/// Whether a host is this machine by its name or address. A page of another site can make a browser send requests to
/// 127.0.0.1, either under a name of its own (DNS rebinding) or with its own `Origin`. Neither passes this check.
enum LoopbackHost {
    /// - Parameter authority: `host` or `host:port` (RFC 3986 section 3.2).
    static func matches(authority: String) -> Bool {
        guard let host = host(of: authority) else { return false }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || isLoopbackIPv4(host)
    }

    /// - Parameter origin: `scheme://host:port`, or `null`, which matches no origin.
    static func matches(origin: String) -> Bool {
        guard let scheme = origin.firstRange(of: "://") else { return false }
        return matches(authority: String(origin[scheme.upperBound...]))
    }

    private static func host(of authority: String) -> String? {
        let colon = authority.lastIndex(of: ":")
        guard let colon, authority.last != "]" else { return authority.lowercased() }
        let port = authority[authority.index(after: colon)...]
        guard port.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return authority[..<colon].lowercased()
    }

    private static func isLoopbackIPv4(_ host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}
