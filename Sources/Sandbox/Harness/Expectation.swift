/// How many requests of a journal are to match, and how.
struct Expectation: Sendable {
    let match: RequestMatch
    let status: Int?
    let count: ClosedRange<Int>
    /// The upstream whose journal is meant; nil for the server's own.
    let upstream: String?

    /// Reads `{"match":{…},"status":200,"upstream":"spacex","exactly":1}`, with `at_least` and `at_most` in place of
    /// `exactly`; without any of them at least one is expected.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "match", "status", "upstream", "exactly", "at_least", "at_most")
        match = try RequestMatch(fields.required("match", fields["match"]))
        status = try fields.integer("status", in: 100...599)
        upstream = try fields.text("upstream")
        let numbers = 0...Journal.capacity
        if let exactly = try fields.integer("exactly", in: numbers) {
            guard fields["at_least"] == nil, fields["at_most"] == nil else {
                throw .invalid(field: "exactly", value: "\(exactly)", accepted: ["exactly, or at_least and at_most"])
            }
            count = exactly...exactly
            return
        }
        let most = try fields.integer("at_most", in: numbers)
        let least = try fields.integer("at_least", in: numbers) ?? (most == nil ? 1 : 0)
        guard least <= most ?? .max else {
            throw .invalid(field: "at_most", value: "\(most ?? 0)", accepted: ["at least at_least, \(least)"])
        }
        count = least...(most ?? .max)
    }

    /// Returns in what an entry differs from what is expected; nothing for one that matches.
    func differences(of entry: JournalEntry) -> [Difference] {
        let target = RequestTarget(entry.path)
        let prefix = upstream == nil ? 0 : 1
        var found = match.differences(
            from: MatchedRequest(
                method: entry.method,
                path: Array(target.segments.dropFirst(prefix)),
                query: target.query
            ),
            header: { entry.values(of: $0) },
            body: entry.body
        )
        if let status, status != entry.status {
            found.append(Difference("status", "\(status)", entry.status.map { "\($0)" } ?? "none"))
        }
        return found
    }
}

/// One part of a request that is not as expected.
struct Difference: Sendable, Equatable {
    let field: String
    let expected: String
    let actual: String
    /// How far it is from what is expected; larger is further.
    var weight = 1

    init(_ field: String, _ expected: String, _ actual: String, weight: Int = 1) {
        (self.field, self.expected, self.actual, self.weight) = (field, expected, actual, weight)
    }

    var json: JSONValue {
        ["field": .string(field), "expected": .string(expected), "actual": .string(actual)]
    }
}

extension RequestMatch {
    /// Returns in what a request differs.
    ///
    /// - Parameters:
    ///   - header: The values of a field by its name in lower case.
    ///   - body: The beginning of its body as the journal has it.
    func differences(
        from request: MatchedRequest,
        header values: (String) -> [String],
        body actual: JournalBody?
    ) -> [Difference] {
        var found: [Difference] = []
        if let method, method != request.method { found.append(Difference("method", method, request.method)) }
        let others = path.indices.count {
            !request.path.indices.contains($0) || (path[$0] != "*" && path[$0] != request.path[$0])
        }
        if others > 0 {
            found.append(Difference("path", Self.text(path), Self.text(request.path), weight: others))
        }
        for item in query {
            let values = request.query.filter { $0.name == item.name }.map(\.value)
            if !item.value.matches(values) { found.append(item.difference("query", values)) }
        }
        for item in header where !item.value.matches(values(item.name)) {
            found.append(item.difference("header", values(item.name)))
        }
        if let body, !body.matches(actual) { found.append(Difference("body", body.text, actual?.start ?? "")) }
        return found
    }

    private static func text(_ path: [String]) -> String { "/" + path.joined(separator: "/") }
}

extension RequestMatch.Named {
    fileprivate func difference(_ place: String, _ actual: [String]) -> Difference {
        let expected =
            switch value {
            case .equal(let text): text
            case .present: "any value"
            case .absent: "none"
            }
        return Difference("\(place).\(name)", expected, actual.isEmpty ? "none" : actual.joined(separator: ", "))
    }
}

extension RequestMatch.Body {
    fileprivate func matches(_ actual: JournalBody?) -> Bool {
        guard case .text(let text)? = actual?.content else { return false }
        return switch self {
        case .contains(let part): text.contains(part)
        case .json(let value): (try? JSONParser.parse(Array(text.utf8))).map { value.isPart(of: $0) } ?? false
        }
    }

    fileprivate var text: String {
        switch self {
        case .contains(let part): part
        case .json(let value): value.excerpt
        }
    }
}

extension JournalBody {
    fileprivate var start: String {
        if case .text(let text)? = content { String(text.prefix(200)) } else { "\(count) bytes" }
    }
}
