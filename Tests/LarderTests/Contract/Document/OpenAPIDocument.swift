import Foundation
import TestKit
import Yams

/// openapi.yaml of this repository.
struct OpenAPIDocument: Sendable {
    let root: JSON

    private static let read = Result { OpenAPIDocument(root: try JSON(yaml: Repository.text("openapi.yaml"))) }
    private static let strict = Result {
        let rules = try JSON(yaml: Repository.text("Tests/LarderTests/Contract/strict.yaml"))
        return OpenAPIDocument(root: try StrictEdition(published: published().root, rules: rules).document())
    }

    /// Returns the published document, which is read once for all tests.
    static func published() throws -> OpenAPIDocument { try read.get() }

    /// Returns the strict edition of the document. Responses of the server are checked against it.
    static func load() throws -> OpenAPIDocument { try strict.get() }

    var validator: SchemaValidator { SchemaValidator(document: root) }

    /// Returns the value, or the target of its reference.
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

    /// Whether an operation responds with a page, which reads the query itself.
    func isPage(_ operation: Operation) -> Bool { root["paths"]?[operation.path]?["x-larder-page"] == .bool(true) }

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

    /// Responses by status, with references not yet resolved.
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
        try resolved(response)["content"]?["application/problem+json"]?["x-problem-codes"]?.strings ?? []
    }

    /// Names of the schemas that occur in requests and in no response.
    var schemasOfRequests: Set<String> {
        let all = operations + mounts
        let answered = all.flatMap { Array($0.responses.values) + [$0.value["x-event-data"] ?? .null] }
        return schemas(in: all.compactMap { $0.value["requestBody"] }).subtracting(schemas(in: answered))
    }

    /// Names of the schemas that values refer to, also by way of others.
    private func schemas(in values: [JSON]) -> Set<String> {
        var seen: Set<String> = []
        var next = values
        while let value = next.popLast() {
            for (_, name, target) in value.members() where name == "$ref" {
                guard let path = target.string, seen.insert(path).inserted else { continue }
                if let found = try? validator.resolve(target) { next.append(found) }
            }
        }
        let schemas = seen.filter { $0.contains("/schemas/") }
        return Set(schemas.compactMap { $0.split(separator: "/").last.map(String.init) })
    }
}

extension JSON {
    /// Reads YAML as the JSON that it represents: times remain texts.
    init(yaml: String) throws {
        let resolver = Resolver.default.removing(.timestamp).removing(.value)
        self = try Self(loaded: try Yams.load(yaml: yaml, resolver))
    }

    private struct NotJSON: Error {
        let value: String
    }

    private init(loaded value: Any?) throws {
        switch value {
        case nil, is NSNull: self = .null
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(Double(value))
        case let value as Double: self = .number(value)
        case let value as String: self = .string(value)
        case let value as [Any]: self = .array(try value.map(Self.init(loaded:)))
        case let value as [AnyHashable: Any]:
            var members: [String: JSON] = [:]
            for (key, member) in value {
                guard let name = key.base as? String else { throw NotJSON(value: "key \(key)") }
                members[name] = try Self(loaded: member)
            }
            self = .object(members)
        default: throw NotJSON(value: "\(value ?? "")")
        }
    }
}
