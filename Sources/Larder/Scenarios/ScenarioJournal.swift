import Foundation
import JSONValues
import Sandbox

/// A scenario that is made from journals.
struct ScenarioJournal {
    private(set) var steps: [JSONValue] = []
    /// The parts that are missing, one line each.
    private(set) var lacks: [String] = []
    /// Names of saved tokens. `unused` has, by app, those of logins whose session no request has used yet. `tokens` has
    /// those of sessions in use, by app and shown credential.
    private var unused: [String: [String]] = [:]
    private var tokens: [String: String] = [:]
    private var logins = 0

    /// - Parameters:
    ///   - front: The journal of clients, as the control returns it.
    ///   - upstreams: The journal of upstreams.
    ///   - routes: The routes that may have faults; nil for any.
    init(front: JSONObject, upstreams: JSONObject, routes: ServedRoutes? = nil) {
        let all = (front: JournaledRequest.all(in: front), upstreams: JournaledRequest.all(in: upstreams))
        for journal in [front, upstreams] {
            guard let count = journal["dropped"]?.int, count > 0 else { continue }
            lacks.append("\(count) requests were forgotten")
        }
        let repeated = addRequests(all.front)
        let requests = steps
        steps = []
        let numbers = Set(repeated.map(\.number))
        let caused = all.upstreams.filter { request in request.cause.map(numbers.contains) ?? true }
        addFaults(of: caused)
        for (place, requests) in JournaledRequest.groups(repeated) {
            guard let faults = JournaledRequest.faults(of: requests) else { continue }
            guard routes?.serves(requests[0].method, requests[0].path) ?? true else {
                lacks.append("\(place): its fault, since there is no such route")
                continue
            }
            let body: JSONValue = ["route": .string(place), "faults": .array(faults)]
            steps.append(["do": ["control": "PUT /_harness/front/fault", "body": body]])
        }
        for (place, requests) in JournaledRequest.groups(repeated) + JournaledRequest.groups(caused) {
            guard requests.dropFirst(JournaledRequest.mostFaults).contains(where: { $0.fault != "online" }) else {
                continue
            }
            lacks.append("\(place): faults of requests behind the first \(JournaledRequest.mostFaults)")
        }
        steps += requests
        let counts = JournaledRequest.groups(caused).filter { $0.requests.allSatisfy { $0.cause != nil } }
        if !counts.isEmpty {
            let expected = counts.map { place, requests -> JSONValue in
                [
                    "upstream": .string(requests[0].upstream), "match": ["route": .string(place)],
                    "exactly": .integer(requests.count),
                ]
            }
            steps.append(["expect": ["requests": .array(expected)]])
        }
    }

    /// Adds the requests of clients, and the times between them.
    ///
    /// - Returns: The requests that the scenario repeats. Faults and counts include no others.
    private mutating func addRequests(_ requests: [JournaledRequest]) -> [JournaledRequest] {
        // The time of the scenario's clock, which is advanced by whole seconds.
        var shown = requests.first?.at
        var repeated: [JournaledRequest] = []
        for request in requests {
            let gap = shown.map { Int(request.at.timeIntervalSince($0)) } ?? 0
            let before = steps.count
            if gap > 0 { steps.append(["do": ["advance": .integer(gap)]]) }
            guard add(request) else {
                steps.removeSubrange(before...)
                continue
            }
            if gap > 0 { shown?.addTimeInterval(Double(gap)) }
            repeated.append(request)
        }
        return repeated
    }

    /// The text of the file.
    /// - Throws: The errors of Yams.
    var text: String {
        get throws {
            let scenario: JSONValue = ["name": "a recorded session", "steps": .array(steps)]
            return lacks.map { "# \($0)\n" }.joined() + (try scenario.yamlText)
        }
    }

    /// Adds the faults of upstreams. A fault that all requests to an upstream had is set for the upstream, others for
    /// the requests in turn.
    private mutating func addFaults(of requests: [JournaledRequest]) {
        for (upstream, own) in Dictionary(grouping: requests, by: \.upstream).sorted(by: { $0.key < $1.key }) {
            if let fault = own.first?.fault, own.allSatisfy({ $0.fault == fault }), fault != "hold" {
                let faults = JSONObject([(upstream, .string(fault))])
                if fault != "online" { steps.append(["do": ["fault": .object(faults)]]) }
                continue
            }
            for (place, requests) in JournaledRequest.groups(own) {
                guard let faults = JournaledRequest.faults(of: requests) else { continue }
                let body: JSONValue = ["match": ["route": .string(place)], "faults": .array(faults)]
                let control = JSONValue.string("POST /_sandbox/upstreams/\(upstream)/rules")
                steps.append(["do": ["control": control, "body": body]])
            }
        }
    }

    /// Adds a request and the expectation of its status.
    ///
    /// - Returns: Whether it can be repeated.
    private mutating func add(_ request: JournaledRequest) -> Bool {
        guard !request.path.hasPrefix("/v1/events") else { return lack(request, "an event stream") }
        guard !request.isWaiting else { return lack(request, "it had no response yet") }
        guard let body = request.body else { return lack(request, "its body is no JSON, or not known") }
        var call = JSONObject([("request", .string("\(request.method) \(request.target)"))])
        if body != .null { call["body"] = body }
        if !request.headers.members.isEmpty { call["headers"] = .object(request.headers) }
        let shown = JSONValue.object(call).json
        // A run would replace such a text by a saved value.
        guard !shown.contains(/\{\{\s*\w+\s*\}\}/) else { return lack(request, "it has {{…}} in it") }
        if shown.contains(/sha256:[0-9a-f]{12}/) {
            lacks.append("\(request.title): the journal hides a secret of it, and sha256:… is sent in its place")
        }
        if request.method == "POST", request.path.hasSuffix("/session"), (200..<300).contains(request.status) {
            logins += 1
            let name = "token\(logins)"
            unused[request.app, default: []].append(name)
            call["save"] = .object(JSONObject([(name, "/data/token")]))
        } else if let credential = request.credential {
            if let token = token(of: request.app, credential) {
                call["token"] = .string("{{\(token)}}")
            } else {
                lacks.append("\(request.title): the login of its session is not in the journal")
            }
        }
        steps.append(["do": .object(call)])
        steps.append(["expect": ["status": .integer(request.status)]])
        return true
    }

    /// Reports a request that cannot be repeated.
    private mutating func lack(_ request: JournaledRequest, _ reason: String) -> Bool {
        lacks.append("\(request.title): \(reason)")
        return false
    }

    /// Returns the saved token of a session. The first login to its app that belongs to no session yet is assigned to
    /// it.
    private mutating func token(of app: String, _ credential: String) -> String? {
        let key = "\(app) \(credential)"
        if let known = tokens[key] { return known }
        guard var waiting = unused[app], !waiting.isEmpty else { return nil }
        let token = waiting.removeFirst()
        (unused[app], tokens[key]) = (waiting, token)
        return token
    }
}

extension ServedRoutes {
    /// Lists the routes of a contract. One that ends with `{path}` matches everything below.
    init(contract: JSONValue) {
        let paths = contract["paths"]?.object?.members ?? []
        self.init(
            paths.flatMap { path in
                let ending = path.name.hasSuffix("/{path}") ? "/**" : ""
                return (path.value.object?.members ?? []).map { "\($0.name.uppercased()) \(path.name)\(ending)" }
            }
        )
    }
}

/// An entry of a journal.
private struct JournaledRequest {
    /// Fields that the client of the scenario sets itself, or that belong to another session.
    private static let omitted: Set = [
        "accept", "accept-encoding", "authorization", "connection", "content-digest", "content-encoding",
        "content-length", "cookie", "expect", "host", "larder-cause", "larder-session", "origin", "referer", "te",
        "traceparent", "tracestate", "transfer-encoding", "user-agent", "x-request-id",
    ]

    let at: Date
    let method: String
    /// The path with the query, without the prefix of an upstream.
    let target: String
    /// Empty for the server itself.
    let upstream: String
    /// 0 without a response.
    let status: Int
    let fault: String
    /// The number of the client's request that has caused it; nil for none.
    let cause: Int?
    let headers: JSONObject
    /// The shown credential; nil without one.
    let credential: String?
    /// Null for a request without a body; nil if the body is not known.
    let body: JSONValue?
    let number: Int
    private let duration: Int

    init?(_ entry: JSONValue) {
        guard let object = entry.object, let at = object["at"]?.string, let method = object["method"]?.string,
            let path = object["path"]?.string,
            let date = try? Date(at, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        else { return nil }
        (self.at, self.method) = (date, method)
        upstream = object["upstream"]?.string ?? ""
        target = upstream.isEmpty ? path : String(path.dropFirst(upstream.count + 1))
        status = object["status"]?.int ?? 0
        let shown = object["fault"]?.string ?? ""
        fault = shown.isEmpty ? "online" : shown
        cause = object["cause"]?.int
        number = object["sequence"]?.int ?? 0
        duration = object["duration_ms"]?.int ?? 0
        let fields = object["headers"]?.object ?? JSONObject()
        credential = (fields["authorization"] ?? fields["cookie"])?.string
        let known = Secrets.hash("sandbox-token")
        var content: JSONValue? = object["body"] == nil ? .some(.null) : nil
        if let text = object["body"]?.object?["text"]?.string {
            // This token of Yandex exists in every sandbox.
            content = JSONValue(json: Array(text.replacing(known, with: "sandbox-token").utf8))
        }
        body = content
        headers = JSONObject(
            members: fields.members.filter { [content] field in
                let isImplied = field.name == "content-type" && (content == .null || field.value == "application/json")
                return !isImplied && !Self.omitted.contains(field.name) && !field.name.hasPrefix("sec-")
            }
        )
    }

    static func all(in journal: JSONObject) -> [JournaledRequest] {
        (journal["entries"]?.array ?? []).compactMap(JournaledRequest.init)
    }

    var path: String { String(target.prefix { $0 != "?" }) }

    /// `ships` of `/v1/ships/launch`.
    var app: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    var title: String { "#\(number) \(method) \(target)" }

    /// Whether it has no response, although no fault prevents one.
    var isWaiting: Bool { status == 0 && ["online", "hold"].contains(fault) }

    /// Groups requests by upstream, method and path, in the order of their first requests.
    static func groups(_ requests: [JournaledRequest]) -> [(place: String, requests: [JournaledRequest])] {
        var groups: [(place: String, requests: [JournaledRequest])] = []
        for request in requests {
            let place = "\(request.method) \(request.path)"
            let index = groups.firstIndex { $0.place == place && $0.requests[0].upstream == request.upstream }
            if let index { groups[index].requests.append(request) } else { groups.append((place, [request])) }
        }
        return groups
    }

    /// Largest number of faults in a rule.
    static let mostFaults = 1_000

    /// Returns the faults of the first requests in turn; nil if no request has one. A request that was held becomes a
    /// slow one.
    static func faults(of requests: [JournaledRequest]) -> [JSONValue]? {
        guard requests.contains(where: { $0.fault != "online" }) else { return nil }
        return requests.prefix(mostFaults).map { .string($0.repeated) }
    }

    /// The fault that has the same effect on this one request.
    private var repeated: String {
        switch fault {
        case "hold": "slow(\(duration))"
        // `refused` can only be set for a whole upstream.
        case "refused": "offline"
        case _ where fault.contains("flaky") || fault.contains("%"):
            status == 0 ? "offline" : status < 400 ? "online" : "error(\(status))"
        default: fault
        }
    }
}
