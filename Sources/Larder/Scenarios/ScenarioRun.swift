import Foundation
import HTTPTypes
import JSONValues
import Sandbox
import Upstream
import Yams

/// A run of scenarios against one server.
actor ScenarioRun {
    static let limits = TransportLimits(total: .seconds(120), maximumBytes: 64 << 20, publicAddressesOnly: false)

    /// Scheme, host and port of the server and of its sandbox.
    private let server: String
    let sandbox: String
    let transport: any Transport
    private var responses: [ScenarioResponse] = []
    private var saved: [String: String] = [:]

    init(server: String, sandbox: String, transport: any Transport) {
        self.server = server
        self.sandbox = sandbox
        self.transport = transport
    }

    /// Resets the server and runs a scenario. It ends at the first step that fails.
    func run(_ scenario: Scenario) async throws -> ScenarioReport {
        (responses, saved) = ([], [:])
        try await control(.init(method: .post, target: "/_harness/reset"))
        var report = ScenarioReport(scenario: scenario)
        for step in scenario.steps {
            let begin = ContinuousClock.now
            do throws(ScenarioFailure) {
                try await run(step.action)
                report.outcomes.append(.init(step: step, duration: ContinuousClock.now - begin))
            } catch {
                let failure = ScenarioFailure(lines: error.lines + (await journals()))
                report.outcomes.append(.init(step: step, duration: ContinuousClock.now - begin, failure: failure))
                break
            }
        }
        return report
    }

    private func run(_ action: Scenario.Action) async throws(ScenarioFailure) {
        switch action {
        case .request(let call): try await send(call)
        case .controls(let controls): for control in controls { try await self.control(control) }
        case .rule(let upstream, let rule):
            let names = if let upstream { [upstream] } else { try await upstreams() }
            for name in names {
                let target = "/_sandbox/upstreams/\(name)/rules"
                try await control(.init(method: .post, target: target, body: rule))
            }
        case .expect(let expectation): try await check(expectation)
        }
    }

    private func check(_ expectation: ScenarioExpectation) async throws(ScenarioFailure) {
        var lines = expectation.differences(in: responses)
        for body in expectation.verified {
            let control = Scenario.Control(method: .post, target: "/_harness/verify", body: body)
            do throws(ScenarioFailure) { try await self.control(control) } catch { lines += error.lines }
        }
        if !lines.isEmpty { throw ScenarioFailure(lines: lines) }
    }
}

// MARK: - Requests

extension ScenarioRun {
    private func send(_ call: Scenario.Call) async throws(ScenarioFailure) {
        var fields = HTTPFields()
        for (name, value) in call.headers {
            guard let name = HTTPField.Name(name) else { throw ScenarioFailure("'\(name)' is no name of a field") }
            fields[name] = try filled(value)
        }
        let body = try call.body?.filled { text throws(ScenarioFailure) in try filled(text) }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let request = OutgoingRequest(
            method: call.method,
            url: server + (try filled(call.target)),
            headerFields: fields,
            body: body.map { Array($0.json.utf8) },
            isSentOnce: true
        )
        responses = await Self.exchange(request, times: call.times, parallel: call.parallel, transport)
        for (name, pointer) in call.saved {
            guard let value = responses.last.flatMap({ JSONValue(json: $0.body) })?.value(at: pointer) else {
                throw ScenarioFailure("\(pointer) is not in the response: \(responses.last?.excerpt ?? "none")")
            }
            saved[name] = if case .string(let text) = value { text } else { value.json }
        }
    }

    /// Sends a request several times, so many at once, and returns the responses in the order of their arrival.
    private static func exchange(
        _ request: OutgoingRequest,
        times: Int,
        parallel: Int,
        _ transport: any Transport
    ) async -> [ScenarioResponse] {
        await withTaskGroup(of: ScenarioResponse.self) { group in
            var responses: [ScenarioResponse] = []
            for number in 0..<times {
                if number >= parallel, let response = await group.next() { responses.append(response) }
                group.addTask { await exchange(request, transport) }
            }
            for await response in group { responses.append(response) }
            return responses
        }
    }

    static func exchange(_ request: OutgoingRequest, _ transport: any Transport) async -> ScenarioResponse {
        do throws(UpstreamError) {
            let received = try await transport.exchange(request, within: limits)
            return ScenarioResponse(status: received.status.code, headers: received.headerFields, body: received.body)
        } catch {
            // A front end that gets no response sees this error.
            return ScenarioResponse(status: 0, body: Array("\(error)".utf8))
        }
    }

    /// Replaces `{{name}}` by the value that was saved under that name.
    func filled(_ text: String) throws(ScenarioFailure) -> String {
        var filled = text
        while let range = filled.firstRange(of: /\{\{\s*\w+\s*\}\}/) {
            let name = filled[range].trimmingCharacters(in: CharacterSet(charactersIn: "{} "))
            guard let value = saved[name] else { throw ScenarioFailure("nothing was saved as '\(name)'") }
            filled.replaceSubrange(range, with: value)
        }
        return filled
    }

    /// Calls a control.
    /// - Throws: the text of a refusal.
    @discardableResult
    func control(_ control: Scenario.Control) async throws(ScenarioFailure) -> JSONValue? {
        let body = try control.body?.filled { text throws(ScenarioFailure) in try filled(text) }
        let request = OutgoingRequest(
            method: control.method,
            url: sandbox + (try filled(control.target)),
            headerFields: body == nil ? [:] : [.contentType: "application/json"],
            body: body.map { Array($0.json.utf8) },
            isSentOnce: true
        )
        let response = await Self.exchange(request, transport)
        let value = JSONValue(json: response.body)
        guard (200..<300).contains(response.status) else {
            throw ScenarioFailure(lines: ScenarioReport.refusal(of: control, response.status, value ?? .null))
        }
        return value
    }

    func upstreams() async throws(ScenarioFailure) -> [String] {
        let index = try await control(.init(method: .get, target: "/_sandbox"))
        guard case .array(let upstreams) = index?.value(at: "/upstreams") else { return [] }
        return upstreams.compactMap { if case .string(let name) = $0.value(at: "/name") { name } else { nil } }
    }

    /// Returns both journals, one line for each entry.
    func journals() async -> [String] {
        var lines: [String] = []
        for (title, path) in [("requests to Larder", "/_harness"), ("requests to upstreams", "/_sandbox")] {
            let journal = try? await control(.init(method: .get, target: "\(path)/journal?limit=50"))
            lines += ScenarioReport.lines(of: journal, title: title)
        }
        return lines
    }
}

/// The expected responses to the last requests, and the expected journals.
struct ScenarioExpectation: Sendable, Equatable {
    var status: Int?
    /// Number of the last requests by expected status.
    var statuses: [Int: Int]?
    /// Parts of fields of the last response.
    var headers: [String: String] = [:]
    /// Values of the last response, by JSON pointer.
    var json: [String: JSONValue] = [:]
    /// The bodies for `POST /_harness/verify`.
    var verified: [JSONValue] = []

    /// Reads the value of `expect`.
    init(_ node: Node) throws(YAMLDefect) {
        let members = try node.members("status", "statuses", "headers", "json", "requests")
        status = try members["status"]?.number(0...999)
        if let node = members["statuses"] {
            var counts: [Int: Int] = [:]
            for (name, count) in try node.members() {
                guard let status = Int(name) else { throw count.error("a status is a number") }
                counts[status] = try count.number(0...Scenario.mostRequests)
            }
            statuses = counts
        }
        headers = try members["headers"]?.texts() ?? [:]
        for (pointer, value) in try members["json"]?.members() ?? [] { json[pointer] = try value.value() }
        if let node = members["requests"] {
            let value = try node.value()
            verified = if case .array(let several) = value { several } else { [value] }
        }
        guard !members.isEmpty else { throw node.error("nothing is expected") }
    }

    /// Returns the differences of the responses, one line each.
    func differences(in responses: [ScenarioResponse]) -> [String] {
        let counts = responses.reduce(into: [Int: Int]()) { $0[$1.status, default: 0] += 1 }
        var lines: [String] = []
        if let statuses, statuses.filter({ $0.value > 0 }) != counts {
            lines.append("statuses: expected \(Self.text(statuses)), were \(Self.text(counts))")
        }
        guard status != nil || !headers.isEmpty || !json.isEmpty else { return lines }
        guard let last = responses.last else { return lines + ["no request was sent before"] }
        if let status, status != last.status {
            lines.append("status: expected \(status), was \(last.status) \(last.excerpt)")
        }
        for (name, part) in headers.sorted(by: { $0.key < $1.key }) {
            let value = HTTPField.Name(name).flatMap { last.headers[$0] } ?? "none"
            if !value.contains(part) { lines.append("\(name): expected '\(part)' in it, was \(value)") }
        }
        let body = JSONValue(json: last.body)
        for (pointer, value) in json.sorted(by: { $0.key < $1.key }) {
            let actual = body?.value(at: pointer)
            if actual.map(value.isSame(as:)) != true {
                lines.append("\(pointer): expected \(value.json), was \(actual?.json ?? "nothing")")
            }
        }
        return lines
    }

    private static func text(_ counts: [Int: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}

/// A response to a request of a scenario.
struct ScenarioResponse: Sendable, Equatable {
    /// 0 if there was none.
    let status: Int
    var headers: HTTPFields = [:]
    var body: [UInt8] = []

    var excerpt: String { String(decoding: body.prefix(300), as: UTF8.self) }
}
