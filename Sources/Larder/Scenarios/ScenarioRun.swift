import Foundation
import HTTPTypes
import Sandbox
import Upstream

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

    /// Runs a scenario on the server as it is after a reset; after a step that fails, no further one.
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

    /// Sends a request several times, so many at once, and returns the responses in the order in which they came.
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
            // What a front end sees that gets no response.
            return ScenarioResponse(status: 0, body: Array("\(error)".utf8))
        }
    }

    /// Replaces `{{name}}` by what was saved under that name.
    func filled(_ text: String) throws(ScenarioFailure) -> String {
        var filled = text
        while let range = filled.firstRange(of: /\{\{\s*\w+\s*\}\}/) {
            let name = filled[range].trimmingCharacters(in: CharacterSet(charactersIn: "{} "))
            guard let value = saved[name] else { throw ScenarioFailure("nothing was saved as '\(name)'") }
            filled.replaceSubrange(range, with: value)
        }
        return filled
    }
}
