import HTTPTypes

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

    /// The body as JSON.
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
