import Foundation
import HTTPTypes
import Sandbox
import Upstream

/// What is expected of the last requests, and of the journals.
struct ScenarioExpectation: Sendable, Equatable {
    var status: Int?
    /// How many of the last requests have which status.
    var statuses: [Int: Int]?
    /// Parts of fields of the last response.
    var headers: [String: String] = [:]
    /// Values of the last response, by JSON pointer.
    var json: [String: JSONValue] = [:]
    /// What `POST /_harness/verify` is asked.
    var verified: [JSONValue] = []

    /// Reads what is behind `expect`.
    init(_ node: ScenarioNode) throws(ScenarioSyntaxError) {
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

    /// Returns what is different in the responses, a line each.
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

    /// The beginning of its body.
    var excerpt: String { String(decoding: body.prefix(300), as: UTF8.self) }
}
