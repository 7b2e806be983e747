import Foundation
import TestKit

/// Compares responses with the document.
struct Conformance {
    let document: OpenAPIDocument

    /// Fields of framing and of the server, which OpenAPI does not describe (or, like `Content-Type`, describes
    /// elsewhere), and the one that the introduction describes for all responses.
    static let framing: Set<String> = [
        "content-type", "content-length", "transfer-encoding", "connection", "date", "cross-origin-resource-policy",
    ]

    /// Everything that does not conform; empty if all does.
    func faults(of observation: Observation) throws -> [String] {
        guard let operation = document.operation(observation.operation) else {
            return ["there is no \(observation.operation)"]
        }
        let response = observation.response
        guard let documented = operation.responses[String(response.status)] else {
            return ["status \(response.status) is not documented"]
        }
        return try faults(of: response, documented: documented, isHead: observation.isHead)
    }

    /// The same for a response that belongs to no operation. `additional` are headers that are documented elsewhere.
    func faults(of response: ReceivedResponse, documented: JSON, isHead: Bool = false, additional: [String: JSON] = [:])
        throws -> [String]
    {
        let documented = try document.resolved(documented)
        let declared = (documented["headers"]?.object ?? [:]).merging(additional) { own, _ in own }
        return try headerFaults(response, declared)
            + contentFaults(response, documented["content"]?.object, isHead: isHead)
    }

    private func headerFaults(_ response: ReceivedResponse, _ declared: [String: JSON]) throws -> [String] {
        let headers = Self.withOwnVary(response.headers)
        let known = Set(declared.keys.map { $0.lowercased() }).union(Self.framing)
        let strangers = headers.keys.filter { !known.contains($0) }.sorted().map { "header \($0) is not documented" }
        return try strangers
            + declared.sorted { $0.key < $1.key }.flatMap { name, value in
                let header = try document.resolved(value)
                guard let text = headers[name.lowercased()] else {
                    return header["required"] == .bool(true) ? ["header \(name) is missing"] : []
                }
                guard let schema = header["schema"] else { return ["header \(name) has no schema"] }
                return try document.validator.violations(of: .string(text), schema: schema).map {
                    "header \(name): \($0)"
                }
            }
    }

    /// The servers of these tests list an origin, so `Origin` is a member of every `Vary`, according to the
    /// introduction. Those with devices add `Larder-Device` and `Cookie`. The remaining members are the operation's
    /// own.
    private static func withOwnVary(_ headers: [String: String]) -> [String: String] {
        var headers = headers
        var members = (headers["vary"] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0 != "Origin" }
        if let device = members.firstIndex(of: "Larder-Device") {
            members.remove(at: device)
            if device < members.count, members[device] == "Cookie" { members.remove(at: device) }
        }
        headers["vary"] = members.isEmpty ? nil : members.joined(separator: ", ")
        return headers
    }

    private func contentFaults(_ response: ReceivedResponse, _ content: [String: JSON]?, isHead: Bool) throws
        -> [String]
    {
        guard let content else {
            return (response.content.isEmpty ? [] : ["a body of \(response.content.count) bytes is not documented"])
                + (response.headers["content-type"] == nil ? [] : ["a content type without a body"])
        }
        let type = response.headers["content-type"] ?? ""
        let essence = type.prefix { $0 != ";" }.lowercased()
        guard let media = content[essence] ?? content["*/*"] else { return ["content type \(type) is not documented"] }
        if isHead { return response.content.isEmpty ? [] : ["a body on HEAD"] }
        guard let schema = media["schema"], schema["format"] != .string("binary") else {
            return response.content.isEmpty ? ["the body is empty"] : []
        }
        guard type.lowercased().hasSuffix("charset=utf-8") else { return ["content type \(type) names no UTF-8"] }
        guard let text = String(data: response.content, encoding: .utf8) else { return ["the body is not UTF-8"] }
        let value = essence.hasSuffix("json") ? try response.json : .string(text)
        let violations = try document.validator.violations(of: value, schema: schema).map { "body: \($0)" }
        if essence == "application/problem+json", value["status"]?.int != response.status {
            return violations + ["body: the status is not that of the response"]
        }
        guard let screen = value["meta"]?["screen"] else { return violations }
        let shown = try (media["examples"]?.object ?? [:]).values.map {
            try document.resolved($0)["value"]?["meta"]?["screen"]
        }
        return violations + (shown.contains(screen) ? [] : ["body: \(screen) is the screen of no example: \(shown)"])
    }

    /// Returns the deviations of an event of the stream from its schema.
    func faults(of event: ServerSentEvents.Event) throws -> [String] {
        guard event.id != nil else { return ["event \(event.kind) has no id"] }
        guard let schema = document.operation("GET /v1/events")?.value["x-event-data"]?[event.kind] else {
            return ["event \(event.kind) is not documented"]
        }
        return try document.validator.violations(of: try JSON(Data(event.data.utf8)), schema: schema).map {
            "event \(event.kind): \($0)"
        }
    }
}
