import TestKit
import Testing

@testable import Sandbox

@Suite("The contract of the controls")
struct ControlContractTests {
    @Test("HARN-27 /_sandbox/openapi.yaml describes every call of the index and no other, each body by its example")
    func calls() async throws {
        try await withSandbox { sandbox in
            let index = try await sandbox.get("/_sandbox").object()
            let calls = try #require(index["calls"]?.array).compactMap(\.object)
            let document = try await sandbox.get("/_sandbox/openapi.yaml").object()
            let paths = try #require(document["paths"]?.object)
            #expect(paths.members.map { $0.value.object?.members.count ?? 0 }.reduce(0, +) == calls.count)
            var identities: Set<String> = []
            for call in calls {
                let (path, method) = (try #require(call["path"]?.string), try #require(call["method"]?.string))
                let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
                let operation = try #require(paths[parts[0]]?.object?[method.lowercased()]?.object, "\(method) \(path)")
                let identity = try #require(operation["operationId"]?.string)
                let isNew = identities.insert(identity).inserted
                #expect(isNew, "\(identity)")
                let content = operation["requestBody"]?.object?["content"]?.object?["application/json"]?.object
                let example = try call["example"]?.string.map { try JSONParser.parse(Array($0.utf8)) }
                #expect(content?["example"] == example, "\(method) \(path)")
                #expect((content?["schema"] != nil) == (example != nil), "\(method) \(path)")
                let named = operation["parameters"]?.array?.compactMap { $0.object?["name"]?.string } ?? []
                for name in named { #expect(path.contains("{\(name)}") || path.contains("\(name)="), "\(name)") }
            }
        }
    }
}
