import Foundation
import TestKit
import Testing

@testable import Sandbox

@Suite("The contract of the controls")
struct SandboxContractTests {
    private static func document() throws -> OpenAPIDocument {
        OpenAPIDocument(root: try JSON(yaml: Repository.text("openapi-sandbox.yaml")))
    }

    private static func lines() throws -> [ControlIndex.Line] {
        ControlIndex.lines(of: try SimulatedUpstreams(seed: 1))
    }

    @Test("HARN-27 openapi-sandbox.yaml has the parameters of its paths, examples that fit, and all that the index has")
    func calls() throws {
        let (document, lines) = (try Self.document(), try Self.lines())
        #expect(Set(lines.map(\.key)).count == lines.count)
        #expect(Set(lines.map(\.key)) == Set(document.operations.map(\.key)))
        for line in lines {
            let operation = try #require(document.operation(line.key), "\(line.key)")
            let parameters = try (operation.shared + operation.value.parameters.elements).map(document.resolved)
            let inPath = Set(parameters.filter { $0["in"]?.string == "path" }.compactMap(\.name.string))
            #expect(inPath == operation.pathParameters, "\(line.key)")
            let content = operation.value.requestBody.content["application/json"]
            let example = try line.example.map { try JSON(Data($0.utf8)) }
            #expect(content?.example == example, "\(line.key)")
            if let content, let example {
                let violations = try document.validator.violations(of: example, schema: content.schema)
                #expect(violations.isEmpty, "\(line.key): \(violations)")
            }
        }
        let identities = document.operations.compactMap { $0.value.operationId.string }
        #expect(Set(identities).count == lines.count)
    }

    @Test("HARN-27 It is served as it is in the repository, by the sandbox and by the server that has one")
    func served() async throws {
        try await withLarder { larder in
            let text = try Repository.text("openapi-sandbox.yaml")
            let own = try await larder.control("GET", "/openapi.yaml")
            #expect(own.text == text && own.headers["content-type"] == "application/yaml; charset=utf-8")
            #expect(try await larder.send("GET", "/v1/sandbox/openapi.yaml").text == text)
        }
    }

    @Test("SRV-02 HARN-27 Every control of the sandbox responds to its example as described, with no other members")
    func responses() async throws {
        let document = try Self.document()
        try await withLarder { larder in
            _ = try await larder.client.get("/v1/shop/search?limit=1")
            for line in try Self.lines() where line.path.hasPrefix("/_sandbox") {
                let operation = try #require(document.operation(line.key))
                let id = line.path.contains("spacex") ? "70ca00000000000000000001" : "1"
                let filled = line.path.replacing("{name}", with: "spacex").replacing("{id}", with: id)
                    .replacing("{rule}", with: "1").replacing("timeout_ms=5000", with: "timeout_ms=0")
                let target = String(filled.dropFirst("/_sandbox".count))
                let response = try await larder.sandbox.control.send(line.method, target, body: line.example)
                let described = try document.resolved(operation.responses[String(response.status)] ?? .null)
                let contents = described.content.object ?? [:]
                let type = response.headers["content-type"]?.prefix { $0 != ";" }
                let content = try #require(contents[String(type ?? "")], "\(line.key) \(response.status)")
                guard type != "application/yaml" else { continue }
                let violations = try document.validator.violations(of: response.json, schema: content.schema)
                #expect(violations.isEmpty, "\(line.key): \(violations)")
                let others = try document.undescribed(in: response.json, schema: content.schema)
                #expect(others.isEmpty, "\(line.key): \(others)")
            }
        }
    }
}

extension ControlIndex.Line {
    /// `GET /_sandbox/journal`.
    fileprivate var key: String { "\(method) \(path.prefix { $0 != "?" })" }
}

extension OpenAPIDocument {
    /// Returns the places of members that a schema with properties does not name.
    fileprivate func undescribed(in value: JSON, schema: JSON, at place: String = "") throws -> [String] {
        let schema = try resolved(schema)
        if let items = value.array {
            return try items.flatMap { try undescribed(in: $0, schema: schema["items"] ?? .null, at: "\(place)/-") }
        }
        guard let members = value.object, let properties = schema["properties"]?.object else { return [] }
        return try members.flatMap { name, member in
            guard let property = properties[name] else { return ["\(place)/\(name)"] }
            return try undescribed(in: member, schema: property, at: "\(place)/\(name)")
        }
    }
}
