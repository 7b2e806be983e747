import CContract
import Foundation
import HTTPTypes
import JSONValues

/// The content of `GET /_sandbox`: every call of the control API, and the state.
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

    static let faults = [
        Line(
            method: "GET",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "the fault of an upstream and how many requests are held"
        ),
        Line(
            method: "PUT",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "sets the fault of an upstream, or several that are combined; refused is what Larder sees: a "
                + "client that connects to the sandbox itself gets a reset connection",
            example: #"{"fault":["slow(300)","bandwidth(32)"]}"#
        ),
        Line(
            method: "POST",
            path: "/_sandbox/upstreams/{name}/release",
            purpose: "releases held requests, those first that wait longest: a count, the one with a number in the "
                + "journal (sequence), or without a body all; they meet the fault that is set then, but are not held "
                + "again",
            example: #"{"count":1}"#
        ),
    ]

    static let rules = [
        Line(
            method: "GET",
            path: "/_sandbox/upstreams/{name}/rules",
            purpose: "the rules of an upstream with their counts, and its own fault, which is the last rule"
        ),
        Line(
            method: "POST",
            path: "/_sandbox/upstreams/{name}/rules",
            purpose: "adds a rule after the others; the first one that matches a request and is not used up decides. "
                + "match: method, path (first segments, with or without the upstream's name; * is any) or route (a "
                + "method and a whole path), query and header (a value, or whether it is there), "
                + "body (a part of the text, or members of the JSON); fault, or faults in turn; respond: a response in "
                + "place of the upstream's (status, header, json, text or base64), in which {{query.NAME}} and so on are "
                + "replaced; times: how many requests get one; after: how many matching ones pass before",
            example: #"{"match":{"method":"GET","path":"/v4/ships","query":{"limit":"3"},"header":{"if-none-match":"#
                + #"false}},"faults":["error(500)",["slow(200)","bandwidth(32)"],"online"],"times":6,"after":1}"#
        ),
        Line(method: "GET", path: "/_sandbox/upstreams/{name}/rules/{rule}", purpose: "one rule with its counts"),
        Line(method: "DELETE", path: "/_sandbox/upstreams/{name}/rules/{rule}", purpose: "removes one rule"),
        Line(method: "DELETE", path: "/_sandbox/upstreams/{name}/rules", purpose: "removes all rules of an upstream"),
    ]

    /// The filters of the journal.
    private static let filters = "upstream=&route=&method=&path=&query=&header=&status=&since=&until=&request_id="

    static let journal = [
        Line(
            method: "GET",
            path: "/_sandbox/journal?\(filters)&limit=10000&count=false",
            purpose: "requests, oldest first, the newest of them up to the limit, or only their count; dropped is how "
                + "many older ones are forgotten. path is a beginning, with or without the upstream's name; query is "
                + "name or name=value, header name or name:value; status may be none; since and until are numbers of "
                + "entries, the first not included; route is that of the client's request which caused them"
        ),
        Line(method: "DELETE", path: "/_sandbox/journal", purpose: "empties the journal"),
        Line(
            method: "GET",
            path: "/_sandbox/journal/wait?\(filters)&count=1&timeout_ms=5000",
            purpose: "responds once there are that many requests, 408 at the timeout"
        ),
    ]

    /// Returns the index: upstreams with their faults, and all calls.
    static func json(of stage: SimulatedUpstreams) -> JSONValue {
        [
            "upstreams": .array(stage.slots.map { $0.status }),
            "faults": .array(FaultSyntaxError.accepted.map { .string($0) }),
            "fault_field": .string("Sandbox-Fault overrides the fault for one request"),
            "calls": .array(lines(of: stage).map(\.json)),
        ]
    }

    /// Returns all calls as a page for people.
    static func markdown(of stage: SimulatedUpstreams) -> String {
        let rows = lines(of: stage).map { line in
            "| `\(line.method) \(line.path)` | \(line.example.map { "`\($0)`" } ?? "") | \(line.purpose) |"
        }
        return """
            # Controls of the sandbox

            Generated by `larder sandbox --markdown`. What they are for: [the sandbox](sandbox.md).

            A body is JSON; the one shown is an example, and the calls say what else they accept. `{name}` is an \
            upstream,
            `{id}` that of a ship, a product or a category.

            | call | body | effect |
            |---|---|---|
            \(rows.joined(separator: "\n"))

            """
    }

    /// Returns all calls: those that belong to no upstream, then those of each.
    static func lines(of stage: SimulatedUpstreams) -> [Line] {
        common + ofHarness + stage.slots.flatMap { $0.upstream.controls }
    }
}

extension SimulatedUpstreams.Slot {
    /// Fault and number of held requests.
    var status: JSONValue {
        [
            "name": .string(upstream.name), "base": .string("/\(upstream.name)"),
            "fault": .string(gate.fault.description), "rules": .integer(gate.rules.rules.count),
            "waiting": .integer(gate.waiting),
        ]
    }
}

extension ControlIndex {
    /// An example of a document that fits into a line.
    private static let document =
        #"{"openapi":"3.1.0","paths":{"/today":{"get":{"responses":{"200":{"content":{"application/json":"#
        + #"{"example":{"celsius":21}}}}}}}}}"#

    static let stubs = [
        Line(
            method: "POST",
            path: "/_sandbox/upstreams",
            purpose:
                "adds an upstream that Larder mounts at /v1/upstreams/NAME: of an OpenAPI document (its examples; "
                + "requests that do not fit it are refused), of rules, of mappings of WireMock (wiremock) or a HAR file "
                + "(har), given as JSON, as a text or as the path of a file",
            example: #"{"name":"weather","openapi":\#(document)}"#
        ),
        Line(
            method: "DELETE",
            path: "/_sandbox/upstreams/{name}",
            purpose: "removes an upstream that a test has made"
        ),
    ]

    /// Recordings of the server's upstreams (docs/fixtures.md).
    static let fixtures = [
        Line(
            method: "GET",
            path: "/_harness/upstreams",
            purpose: "the upstreams of Larder: whether requests go out, are recorded or are responded to from files"
        ),
        Line(
            method: "GET",
            path: "/_harness/upstreams/{name}",
            purpose: "the files of an upstream, those that cannot be used, and the requests that had none"
        ),
        Line(
            method: "POST",
            path: "/_harness/verify/recordings",
            purpose: "whether every request in replay had a recording, and none that was recorded longer ago than so "
                + "many days; else 417 with those that had not",
            example: #"{"oldest_days":30}"#
        ),
        Line(
            method: "PUT",
            path: "/_harness/upstreams/{name}/mode",
            purpose: "sets what becomes of requests; sequences begin again",
            example: #"{"mode":"live"}"#
        ),
    ]

    static let spaces = [
        Line(
            method: "GET",
            path: "/_harness/spaces",
            purpose: "the spaces: further servers in this process, each alone in the world"
        ),
        Line(
            method: "POST",
            path: "/_harness/spaces",
            purpose: "makes a space with ports, data, simulated upstreams and a clock of its own; also seed, now, "
                + "frozen, idle_s, until, from and condition (offline, slow, flaky, 401 or any fault, also after a "
                + "reset), and all may be left out",
            example: #"{"name":"t17"}"#
        ),
        Line(method: "GET", path: "/_harness/spaces/{space}", purpose: "the addresses of a space"),
        Line(
            method: "DELETE",
            path: "/_harness/spaces/{space}",
            purpose: "ends a space; its ports and files are free when it responds"
        ),
    ]
}

/// The contract of the controls: openapi-sandbox.yaml of this version, which is part of the program.
enum ControlContract {
    static let response = UpstreamResponse(
        status: .ok,
        headers: [.contentType: "application/yaml; charset=utf-8"],
        body: Array(Data(bytes: larder_controls_bytes(), count: larder_controls_size()))
    )
}
