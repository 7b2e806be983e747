import Foundation
import TestKit

/// openapi.yaml of this repository.
struct OpenAPIDocument: Sendable {
    let root: JSON

    private static let loaded = Result {
        // Tests/Contract/Document is three folders below the repository.
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../openapi.yaml")
            .standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        return OpenAPIDocument(root: try JSON(yaml: text))
    }

    /// Read once for all tests.
    static func load() throws -> OpenAPIDocument { try loaded.get() }

    var validator: SchemaValidator { SchemaValidator(document: root) }

    /// The value, or what it refers to.
    func resolved(_ value: JSON) throws -> JSON {
        guard let reference = value["$ref"] else { return value }
        return try resolved(try validator.resolve(reference))
    }

    /// Every operation that responses by itself, by path and method.
    var operations: [Operation] { operations(ofMounts: false) }

    /// The operations that forward an upstream's responses.
    var mounts: [Operation] { operations(ofMounts: true) }

    private func operations(ofMounts: Bool) -> [Operation] {
        (root["paths"]?.object ?? [:]).filter { ($0.value["x-larder-mount"] == .bool(true)) == ofMounts }.sorted {
            $0.key < $1.key
        }.flatMap { path, item in
            Operation.methods.compactMap { method in
                item[method].map {
                    Operation(
                        method: method.uppercased(),
                        path: path,
                        value: $0,
                        shared: item["parameters"]?.array ?? []
                    )
                }
            }
        }
    }

    /// An operation by its key, such as `GET /v1/ships`.
    func operation(_ key: String) -> Operation? { (operations + mounts).first { $0.key == key } }
}

/// One operation of the document.
struct Operation: Sendable {
    static let methods = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]

    let method: String
    let path: String
    let value: JSON
    /// Parameters of the path item.
    let shared: [JSON]

    /// `GET /v1/ships`.
    var key: String { "\(method) \(path)" }

    /// Whether it can be used only with a session.
    var needsSession: Bool {
        let alternatives = value["security"]?.array ?? []
        return !alternatives.isEmpty && !alternatives.contains(.object([:]))
    }

    /// Statuses with their responses, as they stand there.
    var responses: [String: JSON] { value["responses"]?.object ?? [:] }

    /// The parameters in braces.
    var pathParameters: Set<String> {
        Set(
            path.split(separator: "/").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.map {
                String($0.dropFirst().dropLast())
            }
        )
    }
}

extension OpenAPIDocument {
    /// The problem codes that a response lists; empty if it is no problem.
    func problemCodes(of response: JSON) throws -> [String] {
        guard let schema = try resolved(response)["content"]?["application/problem+json"]?["schema"] else { return [] }
        return (schema["allOf"]?.array ?? []).flatMap { $0["properties"]?["code"]?["enum"]?.array ?? [] }.compactMap(
            \.string
        )
    }
}
