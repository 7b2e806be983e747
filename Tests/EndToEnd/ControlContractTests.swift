import TestKit
import Testing

/// The controls beside their contract, openapi-sandbox.yaml, which the index of the controls is made of.
@Suite(.timeLimit(.minutes(3))) struct ControlContractTests {
    /// A call as the index has it.
    private struct Call {
        let method: String
        /// The path, with a name in place of each parameter.
        let path: String
        /// The names of the query.
        let query: Set<String>

        init(_ line: JSON) {
            let parts = (line.path.string ?? "").split(separator: "?")
            method = line.method.string ?? ""
            path = String(parts.first ?? "").replacing(/\{\w+\}/, with: "spacex")
            let items = parts.dropFirst().first?.split(separator: "&") ?? []
            query = Set(items.map { item in String(item.prefix { $0 != "=" }) })
        }
    }

    @Test("HARN-27 a path of the controls has the methods and the query that are described, and no other")
    func described() async throws {
        let tested = try await TestedLarder.start()
        let client = tested.sandbox.client
        let calls = try await client.get("/_sandbox").json.calls.elements.map { Call($0) }
        #expect(calls.contains { $0.path.hasPrefix("/_harness/") } && calls.contains { !$0.query.isEmpty })
        for (path, calls) in Dictionary(grouping: calls, by: \.path) {
            let response = try await client.send("PATCH", path, body: "{}")
            let methods = response["Allow"]?.split(separator: ", ").filter { $0 != "HEAD" }.map { String($0) } ?? []
            #expect(response.status == 405, "\(path)")
            #expect(methods.sorted() == calls.map(\.method).sorted(), "\(path)")
        }
        // A refusal of a query names those that are accepted. Without one, a control has no query.
        for call in calls where call.method == "GET" || !call.query.isEmpty {
            let refusal = try await client.send(call.method, "\(call.path)?none=1").json
            let names: Set<String> = refusal.field.string == "query" ? Set(refusal.accepted.strings) : []
            #expect(names.subtracting(["no query"]) == call.query, "\(call.method) \(call.path)")
        }
        #expect(await tested.larder.stop() == 0)
    }
}
