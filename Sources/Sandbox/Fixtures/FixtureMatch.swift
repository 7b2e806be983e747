import HTTPTypes
import JSONValues

/// Which requests a file is for: those of its request line, with these fields and this body.
struct FixtureMatch: Sendable, Equatable {
    /// Method and target, without secrets: `GET /v4/ships?limit=2`.
    let line: String
    var header: [RequestMatch.Named] = []
    var body: RequestMatch.Body?
    /// SHA-256 of the body, hexadecimal; nil if it is compared as text, or not at all.
    var digest: String?

    /// Measures the conditions beside the request line. The file with the strictest conditions is tried first.
    var demand: Int {
        switch body {
        case nil: header.count + (digest == nil ? 0 : 1)
        case .contains(let text): header.count + text.utf8.count + 1
        case .json(let value): header.count + value.serialized().count + 1
        }
    }

    /// Returns the differences of a request; none for one that the file is for.
    func differences(from request: ComparedRequest) -> [Difference] {
        let own = Line(line)
        var found: [Difference] = []
        if own.origin != request.line.origin {
            found.append(Difference("origin", own.origin, request.line.origin, weight: 2))
        }
        let actual = MatchedRequest(
            method: request.line.method,
            path: request.line.target.segments,
            query: request.line.target.query
        )
        let rules = rules(own, adaptedTo: request)
        let body = request.text ?? ""
        found += rules.differences(
            from: actual,
            header: { request.values[$0] ?? [] },
            body: request.text,
            shown: String(body.prefix(200))
        )
        if actual.path.count > rules.path.count, !found.contains(where: { $0.field == "path" }) {
            let extra = actual.path.count - rules.path.count
            found.append(Difference("path", own.path, request.line.path, weight: extra))
        }
        found += Self.furtherParameters(own.target.query.map(\.name), actual.query)
        if let digest, digest != request.digest {
            found.append(Difference("body_sha256", digest, request.digest ?? "no body"))
        }
        return found
    }

    /// Returns the parameters of a request that the request line does not have, or has less often.
    private static func furtherParameters(_ names: [String], _ query: [RequestTarget.QueryItem]) -> [Difference] {
        Dictionary(grouping: query, by: \.name).sorted { $0.key < $1.key }.compactMap { name, items in
            let count = names.count { $0 == name }
            guard items.count > count else { return nil }
            let values = items.map(\.value).joined(separator: ", ")
            return Difference("query.\(name)", count == 0 ? "none" : "\(count) of them", values)
        }
    }

    private func rules(_ own: Line, adaptedTo request: ComparedRequest) -> RequestMatch {
        let actual = request.line.target
        let path = own.target.segments.enumerated().map { index, segment in
            actual.segments.indices.contains(index) ? Self.adapted(segment, to: actual.segments[index]) : segment
        }
        let query = own.target.query.map { item in
            let values = actual.query.filter { $0.name == item.name }.map(\.value)
            let value = values.lazy.map { Self.adapted(item.value, to: $0) }.first { values.contains($0) } ?? item.value
            return RequestMatch.Named(name: item.name, value: item.value == "*" ? .present : .equal(value))
        }
        var rules = RequestMatch(method: own.method, path: path, query: query, header: header, body: body)
        guard let text = request.text, text.contains(Secrets.any) else { return rules }
        switch body {
        case .contains(let expected): rules.body = .contains(Self.anonymous(expected))
        case .json(let value): rules.body = .json(value.mapStrings(Self.anonymous))
        case nil: break
        }
        return rules
    }

    /// Returns the request's value if it differs from the file's only in secrets that are in no file, else the file's
    /// value.
    private static func adapted(_ expected: String, to actual: String) -> String {
        actual.contains(Secrets.any) && anonymous(expected) == actual ? actual : expected
    }

    static func anonymous(_ text: String) -> String {
        guard text.contains(Secrets.prefix) else { return text }
        return text.replacing(/larder-secret-[0-9]+/, with: Secrets.any)
    }

    /// A request line taken apart.
    struct Line: Sendable {
        let method: String
        /// Empty for a target below the base URL of the upstream.
        let origin: String
        /// Path with query.
        let path: String
        var target: RequestTarget { RequestTarget(path) }

        init(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            method = parts.first ?? ""
            let target = parts.count > 1 ? parts[1] : "/"
            guard let scheme = target.firstRange(of: "://"), !target.hasPrefix("/") else {
                (origin, path) = ("", target)
                return
            }
            let end = target[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? target.endIndex
            (origin, path) = (String(target[..<end]), String(target[end...]))
        }
    }
}

/// A request in the form in which it is compared with files: without secrets.
struct ComparedRequest: Sendable {
    let line: FixtureMatch.Line
    /// By their names in lower case.
    let values: [String: [String]]
    /// The body, if it is a text that is short enough to be written into a file.
    let text: String?
    /// SHA-256 of the body; nil without one.
    let digest: String?

    init(_ request: FixtureRequest, _ cleaner: SecretCleaner) {
        let cleaner = cleaner.comparing(request.headerFields, request.target)
        line = .init("\(request.method.rawValue) \(cleaner.target(request.target))")
        values = Dictionary(grouping: request.headerFields) { $0.name.canonicalName }.mapValues { fields in
            fields.map { cleaner.value($0.value, ofField: $0.name.canonicalName) }
        }
        text = request.text.map { cleaner.body($0, BodyForm(ofRequest: request.headerFields)) }
        digest = request.body.flatMap { $0.count > 0 ? $0.sha256 : nil }
    }
}
