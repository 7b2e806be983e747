import JSONValues

/// One part of a request that differs from the expectation.
struct Difference: Sendable, Equatable {
    let field: String
    let expected: String
    let actual: String
    /// The distance from the expectation.
    var weight = 1

    init(_ field: String, _ expected: String, _ actual: String, weight: Int = 1) {
        (self.field, self.expected, self.actual, self.weight) = (field, expected, actual, weight)
    }

    var json: JSONValue {
        ["field": .string(field), "expected": .string(expected), "actual": .string(actual)]
    }
}

extension RequestMatch {
    /// Returns the differences of a request.
    ///
    /// - Parameters:
    ///   - header: The values of a field by its name in lower case.
    ///   - body: The beginning of its body; nil if there is none, or if it is no text.
    ///   - shown: The description of its body.
    func differences(
        from request: MatchedRequest,
        header values: (String) -> [String],
        body actual: String?,
        shown: String
    ) -> [Difference] {
        var found: [Difference] = []
        if let method, method != request.method { found.append(Difference("method", method, request.method)) }
        let further = isWhole ? max(0, request.path.count - path.count) : 0
        let others =
            further
            + path.indices.count {
                !request.path.indices.contains($0) || (path[$0] != "*" && path[$0] != request.path[$0])
            }
        if others > 0 {
            found.append(Difference("path", Self.text(path), Self.text(request.path), weight: others))
        }
        if let pathPattern, !pathPattern.matches(Self.text(request.path)) {
            found.append(Difference("path", pathPattern.text, Self.text(request.path)))
        }
        for item in query {
            let values = request.query.filter { $0.name == item.name }.map(\.value)
            if !item.value.matches(values) { found.append(item.difference("query", values)) }
        }
        for item in surplus(in: request.query) {
            found.append(Difference("query.\(item.name)", "none", item.value))
        }
        for item in header where !item.value.matches(values(item.name)) {
            found.append(item.difference("header", values(item.name)))
        }
        if let body, !body.matches(actual, exactly: exactBody) { found.append(Difference("body", body.text, shown)) }
        return found
    }
}

extension RequestMatch.Named {
    fileprivate func difference(_ place: String, _ actual: [String]) -> Difference {
        let expected =
            switch value {
            case .equal(let text): text
            case .pattern(let pattern): pattern.text
            case .present: "any value"
            case .absent: "none"
            }
        return Difference("\(place).\(name)", expected, actual.isEmpty ? "none" : actual.joined(separator: ", "))
    }
}

extension RequestMatch.Body {
    fileprivate func matches(_ actual: String?, exactly: Bool) -> Bool {
        guard let text = actual else { return false }
        return matches(Array(text.utf8), exactly: exactly)
    }

    fileprivate var text: String {
        switch self {
        case .contains(let part): part
        case .json(let value): value.excerpt
        }
    }
}
