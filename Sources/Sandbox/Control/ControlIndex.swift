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
    static let common = [
        Line(method: "GET", path: "/_sandbox", purpose: "this index"),
        Line(method: "GET", path: "/_sandbox/openapi.yaml", purpose: "these calls as OpenAPI, to generate a client"),
        Line(
            method: "GET",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "the fault of an upstream and how many requests are held"
        ),
        Line(
            method: "PUT",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "sets the fault of an upstream",
            example: #"{"fault":"slow(300)"}"#
        ),
        Line(
            method: "POST",
            path: "/_sandbox/upstreams/{name}/release",
            purpose: "releases held requests; they meet the fault that is set then, but are not held again"
        ),
        Line(
            method: "GET",
            path: "/_sandbox/journal?upstream=&path=",
            purpose: "requests, oldest first; path is a beginning"
        ),
        Line(method: "DELETE", path: "/_sandbox/journal", purpose: "empties the journal"),
        Line(
            method: "GET",
            path: "/_sandbox/journal/wait?upstream=&path=&count=1&timeout_ms=5000",
            purpose: "responds once there are that many requests, 408 at the timeout"
        ),
        Line(
            method: "POST",
            path: "/_sandbox/reset",
            purpose: "faults, data and journal as at the start; held requests are released"
        ),
    ]
}
