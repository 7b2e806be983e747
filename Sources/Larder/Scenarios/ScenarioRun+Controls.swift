import HTTPTypes
import Sandbox
import Upstream

extension ScenarioRun {
    /// Calls a control.
    /// - Throws: what it says if it is refused.
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

    /// Returns both journals, a line an entry.
    func journals() async -> [String] {
        var lines: [String] = []
        for (title, path) in [("requests to Larder", "/_harness"), ("requests to upstreams", "/_sandbox")] {
            let journal = try? await control(.init(method: .get, target: "\(path)/journal?limit=50"))
            lines += ScenarioReport.lines(of: journal, title: title)
        }
        return lines
    }
}
