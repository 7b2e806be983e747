import HTTPTypes

/// Which requests a rule is for; a missing part matches everything.
struct RequestMatch: Sendable, Equatable {
    /// What a query parameter or a header field has to be.
    enum Value: Sendable, Equatable {
        case equal(String)
        case present
        case absent

        func matches(_ values: [String]) -> Bool {
            switch self {
            case .equal(let value): values.contains(value)
            case .present: !values.isEmpty
            case .absent: values.isEmpty
            }
        }
    }

    struct Named: Sendable, Equatable {
        let name: String
        let value: Value
    }

    enum Body: Sendable, Equatable {
        /// A part of the text.
        case contains(String)
        /// JSON with at least these members.
        case json(JSONValue)
    }

    var method: String?
    /// First segments below the upstream's prefix; `*` is any one.
    var path: [String] = []
    /// Whether these are all segments of the path.
    var isWhole = false
    var query: [Named] = []
    /// Names in lower case.
    var header: [Named] = []
    var body: Body?

    func matches(_ request: MatchedRequest) -> Bool {
        if let method, method != request.method { return false }
        guard isWhole ? request.path.count == path.count : request.path.count >= path.count else { return false }
        for (expected, segment) in zip(path, request.path) where expected != "*" && expected != segment { return false }
        for item in query {
            let values = request.query.filter { $0.name == item.name }.map(\.value)
            guard item.value.matches(values) else { return false }
        }
        for item in header {
            let values = request.headers.filter { $0.name.canonicalName == item.name }.map(\.value)
            guard item.value.matches(values) else { return false }
        }
        guard let body else { return true }
        return Self.matches(body, request.body)
    }

    private static func matches(_ expected: Body, _ body: [UInt8]) -> Bool {
        switch expected {
        case .contains(let text): String(decoding: body, as: UTF8.self).contains(text)
        case .json(let value): (try? JSONParser.parse(body)).map { value.isPart(of: $0) } ?? false
        }
    }
}

extension JSONValue {
    /// Whether another value has at least the members of this one, at every depth of objects; other values are equal.
    func isPart(of other: JSONValue) -> Bool {
        guard let object else { return self == other || (double != nil && double == other.double) }
        guard let whole = other.object else { return false }
        return object.members.allSatisfy { member in whole[member.name].map { member.value.isPart(of: $0) } ?? false }
    }
}
