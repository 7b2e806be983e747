/// What `GET /_sandbox` shows: every call of the control API, and the state.
enum ControlIndex {
    struct Line: Sendable, Equatable {
        let method: String
        let path: String
        let purpose: String
        /// A body that the call accepts, where it takes one.
        var example: String?

        var json: JSONValue {
            var line: JSONObject = .init(members: [
                .init(name: "method", value: .string(method)), .init(name: "path", value: .string(path)),
                .init(name: "purpose", value: .string(purpose)),
            ])
            if let example { line["example"] = .string(example) }
            return .object(line)
        }
    }

    /// The calls that belong to no upstream.
    static let common =
        [
            Line(method: "GET", path: "/_sandbox", purpose: "this index"),
            Line(
                method: "GET",
                path: "/_sandbox/openapi.yaml",
                purpose: "these calls as OpenAPI, to generate a client"
            ),
        ] + faults + rules + stubs + journal + [
            Line(
                method: "POST",
                path: "/_sandbox/reset",
                purpose: "faults, rules, data and journal as at the start; held requests are released"
            )
        ]
}
