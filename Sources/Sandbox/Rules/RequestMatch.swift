import Foundation
import HTTPTypes
import JSONValues

/// Which requests a rule is for; a missing part matches everything.
struct RequestMatch: Sendable, Equatable {
    /// The condition on a query parameter or a header field.
    enum Value: Sendable, Equatable {
        case equal(String)
        case pattern(TextPattern)
        case present
        case absent

        func matches(_ values: [String]) -> Bool {
            switch self {
            case .equal(let value): values.contains(value)
            case .pattern(let pattern): values.contains(where: pattern.matches)
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

        /// - Parameter exactly: Whether a text is the whole body, and whether JSON has no further members.
        func matches(_ bytes: [UInt8], exactly: Bool) -> Bool {
            switch self {
            case .contains(let part):
                let text = String(decoding: bytes, as: UTF8.self)
                return exactly ? text == part : text.contains(part)
            case .json(let value):
                guard let other = JSONValue(json: bytes) else { return false }
                return value.isPart(of: other) && (!exactly || other.isPart(of: value))
            }
        }
    }

    var method: String?
    /// First segments below the upstream's prefix; `*` matches any one.
    var path: [String] = []
    /// Whether these are all segments of the path.
    var isWhole = false
    /// Of the whole path.
    var pathPattern: TextPattern?
    var query: [Named] = []
    /// Names in lower case.
    var header: [Named] = []
    var body: Body?
    /// Whether a request with a parameter that ``query`` does not have is no match.
    var exactQuery = false
    /// Whether a request is no match if its body has more than ``body``.
    var exactBody = false

    func matches(_ request: MatchedRequest) -> Bool {
        if let method, method != request.method { return false }
        guard isWhole ? request.path.count == path.count : request.path.count >= path.count else { return false }
        for (expected, segment) in zip(path, request.path) where expected != "*" && expected != segment { return false }
        if let pathPattern, !pathPattern.matches(Self.text(request.path)) { return false }
        for item in query {
            let values = request.query.filter { $0.name == item.name }.map(\.value)
            guard item.value.matches(values) else { return false }
        }
        guard surplus(in: request.query).isEmpty else { return false }
        for item in header {
            let values = request.headers.filter { $0.name.canonicalName == item.name }.map(\.value)
            guard item.value.matches(values) else { return false }
        }
        guard let body else { return true }
        return body.matches(request.body, exactly: exactBody)
    }

    static func text(_ path: [String]) -> String { "/" + path.joined(separator: "/") }

    /// Returns the parameters of a request that ``exactQuery`` does not permit.
    func surplus(in parameters: [RequestTarget.QueryItem]) -> [RequestTarget.QueryItem] {
        guard exactQuery else { return [] }
        return parameters.filter { given in
            !query.contains { $0.name == given.name && $0.value.matches([given.value]) }
        }
    }
}

extension JSONValue {
    /// Whether another value has at least the members of this one, at every depth of objects. All other values must be
    /// equal.
    func isPart(of other: JSONValue) -> Bool {
        guard let object else { return self == other || (double != nil && double == other.double) }
        guard let whole = other.object else { return false }
        return object.members.allSatisfy { member in whole[member.name].map { member.value.isPart(of: $0) } ?? false }
    }
}

/// The parts of a request that rules match.
struct MatchedRequest: Sendable {
    var method: String
    /// Segments below the upstream's prefix, percent-decoded.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    var headers: HTTPFields = [:]
    /// Empty if the body was not read.
    var body: [UInt8] = []
}

extension RequestMatch {
    /// Reads `{"method":…,"path":…,"path_matches":…,"query":{…},"header":{…},"body":…,"exact_query":true,
    /// "exact_body":true}`, or `route` in place of the first three; every member may be left out.
    ///
    /// - Parameter isWhole: Whether `path` is the whole path unless it ends with `/**`; otherwise it is the beginning.
    init(_ value: JSONValue, isWhole: Bool = false) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(
            only: "route",
            "method",
            "path",
            "path_matches",
            "query",
            "header",
            "body",
            "exact_query",
            "exact_body"
        )
        if let route = try fields.text("route") {
            guard fields["method"] == nil, fields["path"] == nil, fields["path_matches"] == nil else {
                throw .invalid(field: "route", value: route, accepted: ["route, or method and path"])
            }
            self = try FrontRoute.match(route)
        } else {
            method = try fields.text("method").map { (text) throws(ControlProblem) in try Self.method(text) }
            path = try Self.path(try fields.text("path"))
            self.isWhole = isWhole && !path.isEmpty && path.last != "**"
            if path.last == "**" { path.removeLast() }
            pathPattern = try fields.text("path_matches").map { (text) throws(ControlProblem) in
                try TextPattern(text, field: "path_matches")
            }
        }
        query = try Self.named(value.object?["query"], field: "query") { $0 }
        header = try Self.named(value.object?["header"], field: "header") { $0.lowercased() }
        switch value.object?["body"] {
        case nil: body = nil
        case .string(let text): body = .contains(text)
        case .some(let value): body = .json(value)
        }
        exactQuery = try fields.flag("exact_query") ?? false
        exactBody = try fields.flag("exact_body") ?? false
    }

    private static func path(_ text: String?) throws(ControlProblem) -> [String] {
        guard let text else { return [] }
        guard text.hasPrefix("/"), !text.contains("?") else {
            throw .invalid(field: "path", value: text, accepted: ["/segments without a query; * is any one"])
        }
        return RequestTarget(text).segments
    }

    /// The methods of RFC 9110, RFC 5789 and RFC 4918: a request with another one would never match.
    private static let methods: Set = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY", "PROPFIND",
        "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT",
    ]

    /// Returns the name of a method in capitals.
    static func method(_ text: String) throws(ControlProblem) -> String {
        guard methods.contains(text.uppercased()) else {
            throw .invalid(field: "method", value: text, accepted: ["GET", "POST", "PUT", "PATCH", "DELETE", "…"])
        }
        return text.uppercased()
    }

    /// Returns the match for paths below the upstream's prefix. A path that is taken from the journal or a base URL
    /// begins with the upstream's name, which is removed.
    func below(_ upstream: String) -> RequestMatch {
        var match = self
        if path.first == upstream { match.path.removeFirst() }
        if let pathPattern, pathPattern.text.hasPrefix("/\(upstream)/") {
            match.pathPattern = pathPattern.below("/\(upstream)")
        }
        return match
    }

    private static func named(_ value: JSONValue?, field: String, name: (String) -> String) throws(ControlProblem)
        -> [Named]
    {
        guard let value else { return [] }
        var named: [Named] = []
        for member in try ControlFields(value).members {
            let expected: Value
            switch member.value {
            case .string(let text): expected = .equal(text)
            case .bool(let isPresent): expected = isPresent ? .present : .absent
            case .object(let object) where object.members.map(\.name) == ["matches"]:
                let text = object["matches"]?.string ?? ""
                expected = .pattern(try TextPattern(text, field: "\(field).\(member.name)"))
            default:
                throw .invalid(
                    field: "\(field).\(member.name)",
                    value: member.value.excerpt,
                    accepted: [
                        "a string (the value)", #"{"matches":"a regular expression"}"#, "true (any value)",
                        "false (not there)",
                    ]
                )
            }
            guard field != "header" || HTTPField.Name(member.name) != nil else {
                throw .invalid(field: field, value: member.name, accepted: ["the name of a header field"])
            }
            named.append(Named(name: name(member.name), value: expected))
        }
        return named
    }

    var json: JSONValue {
        let body: JSONValue? =
            switch body {
            case nil: nil
            case .contains(let text): .string(text)
            case .json(let value): value
            }
        return .object([
            "route": isWhole ? .string(FrontRoute.text(self)) : nil,
            "method": isWhole ? nil : method.map { .string($0) },
            "path": isWhole || path.isEmpty ? nil : .string(Self.text(path)),
            "path_matches": pathPattern.map { .string($0.text) }, "query": query.isEmpty ? nil : Self.json(query),
            "header": header.isEmpty ? nil : Self.json(header), "body": body,
            "exact_query": exactQuery ? true : nil, "exact_body": exactBody ? true : nil,
        ])
    }

    private static func json(_ named: [Named]) -> JSONValue {
        let members = named.map { item -> (String, JSONValue?) in
            switch item.value {
            case .equal(let text): (item.name, .string(text))
            case .pattern(let pattern): (item.name, ["matches": .string(pattern.text)])
            case .present: (item.name, true)
            case .absent: (item.name, false)
            }
        }
        return .object(JSONObject(members))
    }
}
