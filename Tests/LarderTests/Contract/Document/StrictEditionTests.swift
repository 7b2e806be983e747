import Foundation
import TestKit
import Testing

@Suite("The strict edition of a document")
struct StrictEditionTests {
    private func edition(of published: String, with rules: String) throws -> JSON {
        try StrictEdition(published: try JSON(Data(published.utf8)), rules: try JSON(Data(rules.utf8))).document()
    }

    private static let ship = """
        {"components": {"schemas": {
          "Ship": {"type": "object", "required": ["kind"], "properties": {
            "kind": {"type": "string", "x-extensible-enum": ["tug", "barge"]}, "name": {"type": ["string", "null"],
            "x-extensible-enum": ["Ann"]}, "port": {"$ref": "#/components/schemas/Port"}}},
          "Port": {"type": "object", "properties": {"name": {"type": "string"}}}}}}
        """

    @Test(
        "Members that are not described, values that are not listed and what a rule excludes are violations",
        arguments: [
            (#"{"kind": "tug"}"#, true), (#"{"kind": "tug", "name": null, "port": {"name": "Kiel"}}"#, true),
            (#"{"kind": "tug", "wheels": 4}"#, false), (#"{"kind": "car"}"#, false),
            (#"{"kind": "tug", "name": "Eve"}"#, false), (#"{"kind": "tug", "port": {"wheels": 4}}"#, false),
            (#"{"kind": "barge"}"#, false),
        ]
    )
    func verdict(value: String, conforms: Bool) throws {
        let rules = """
            {"rules": {"Tug": {"properties": {"kind": {"const": "tug"}}}},
             "schemas": {"Ship": {"$ref": "#/components/rules/Tug"}}}
            """
        let validator = SchemaValidator(document: try edition(of: Self.ship, with: rules))
        let schema = JSON.object(["$ref": .string("#/components/schemas/Ship")])
        let violations = try validator.violations(of: try JSON(Data(value.utf8)), schema: schema)
        #expect(violations.isEmpty == conforms, "\(violations)")
    }

    @Test("A rule for a schema or an operation that is not there is an error")
    func unknown() {
        for rules in [#"{"schemas": {"Boat": {"minimum": 1}}}"#, #"{"operations": {"getBoat": {"text/plain": {}}}}"#] {
            #expect(throws: StrictEdition.Unknown.self) { try edition(of: Self.ship, with: rules) }
        }
    }

    @Test("A problem has one of the codes of its response, a text keeps to its rule")
    func bodies() throws {
        let published = """
            {"components": {"schemas": {}}, "paths": {"/a": {"get": {"operationId": "getA", "responses": {
              "200": {"content": {"text/plain": {"schema": {"type": "string"}}}},
              "404": {"content": {"application/problem+json":
                {"schema": {"type": "object", "properties": {"code": {"type": "string"}}}, "x-problem-codes": ["gone"]}}}
            }}}}}
            """
        let root = try edition(of: published, with: #"{"operations": {"getA": {"text/plain": {"pattern": "^A"}}}}"#)
        let responses = try #require(root.at(pointer: "/paths/~1a/get/responses"))
        let text = try #require(responses["200"]?["content"]?["text/plain"]?["schema"])
        let problem = try #require(responses["404"]?["content"]?["application/problem+json"]?["schema"])
        let validator = SchemaValidator(document: root)
        #expect(try validator.violations(of: .string("Ab"), schema: text).isEmpty)
        #expect(try !validator.violations(of: .string("Ba"), schema: text).isEmpty)
        #expect(try validator.violations(of: .object(["code": .string("gone")]), schema: problem).isEmpty)
        #expect(try !validator.violations(of: .object(["code": .string("away")]), schema: problem).isEmpty)
    }
}

/// Makes of the published document the one that the tests hold the server to.
///
/// The published one is open, so that clients live on when a member or a wording changes. Here objects are closed,
/// `x-extensible-enum` and `x-problem-codes` are all that there is, and the rules of strict.yaml apply.
struct StrictEdition {
    let published: JSON
    /// strict.yaml.
    let rules: JSON

    /// Something in strict.yaml that the published document does not have.
    struct Unknown: Error {
        let name: String
    }

    /// Returns the strict document.
    func document() throws -> JSON {
        var root = tightened(published).object ?? [:]
        var components = root["components"]?.object ?? [:]
        components["schemas"] = try narrowed(components["schemas"]?.object ?? [:])
        components["rules"] = rules["rules"]
        root["components"] = .object(components)
        root["paths"] = try withTexts(root["paths"] ?? .null)
        return .object(root)
    }

    /// Every object closed, every list of values complete.
    private func tightened(_ value: JSON) -> JSON {
        switch value {
        case .array(let items): return .array(items.map(tightened))
        case .object(var members):
            // Examples are values, not schemas.
            members = members.reduce(into: [:]) { $0[$1.key] = Self.isExample($1) ? $1.value : tightened($1.value) }
            let isOpen = members["additionalProperties"] == nil
            if isOpen, members["type"] == .string("object"), members["properties"] != nil {
                members["additionalProperties"] = .bool(false)
            }
            if let values = members["x-extensible-enum"]?.array {
                let isNullable = members["type"]?.array?.contains(.string("null")) == true
                members["enum"] = .array(values + (isNullable ? [.null] : []))
            }
            if let codes = members["x-problem-codes"], let schema = members["schema"] {
                let narrowing = JSON.object(["properties": .object(["code": .object(["enum": codes])])])
                members["schema"] = .object(["allOf": .array([schema, narrowing])])
            }
            return .object(members)
        default: return value
        }
    }

    private static func isExample(_ member: (key: String, value: JSON)) -> Bool {
        member.key == "examples" || member.key == "example" || member.key == "default"
    }

    /// Schemas with the rules of their names.
    private func narrowed(_ schemas: [String: JSON]) throws -> JSON {
        var schemas = schemas
        for (name, rule) in rules["schemas"]?.object ?? [:] {
            guard var schema = schemas[name]?.object else { throw Unknown(name: name) }
            schema["allOf"] = .array([rule])
            schemas[name] = .object(schema)
        }
        return .object(schemas)
    }

    /// Paths with the rules of bodies that are text, by operation and media type.
    private func withTexts(_ paths: JSON) throws -> JSON {
        var left = rules["operations"]?.object ?? [:]
        let narrowed = (paths.object ?? [:]).mapValues { item in
            JSON.object(
                (item.object ?? [:]).mapValues { operation in
                    guard let name = operation["operationId"]?.string, let rule = left.removeValue(forKey: name) else {
                        return operation
                    }
                    return operation.replacing(rule, inContentOf: "200")
                }
            )
        }
        if let name = left.keys.first { throw Unknown(name: name) }
        return .object(narrowed)
    }
}

extension JSON {
    /// An operation whose bodies of a status also have to keep to other schemas, by media type.
    fileprivate func replacing(_ rules: JSON, inContentOf status: String) -> JSON {
        guard var operation = object, var responses = operation["responses"]?.object,
            var response = responses[status]?.object, var content = response["content"]?.object
        else { return self }
        for (type, rule) in rules.object ?? [:] {
            var media = content[type]?.object ?? [:]
            media["schema"] = .object(["allOf": .array([media["schema"] ?? .bool(false), rule])])
            content[type] = .object(media)
        }
        response["content"] = .object(content)
        responses[status] = .object(response)
        operation["responses"] = .object(responses)
        return .object(operation)
    }
}

/// Rules that generators of clients need: the violation of each has broken one of them.
@Suite("openapi.yaml as generators read it")
struct GeneratorTests {
    let document: OpenAPIDocument

    init() throws {
        document = try OpenAPIDocument.published()
    }

    /// Schemas of the components, by name, and everything within them.
    private var members: [(pointer: String, name: String, value: JSON)] {
        (document.root.at(pointer: "/components/schemas") ?? .null).members(at: "/components/schemas")
    }

    @Test("HARN-27 Objects of responses are open, and no text, screen or state is a constant")
    func open() throws {
        let requests = document.schemasOfRequests
        for (pointer, name, value) in members {
            let owner = String(pointer.split(separator: "/")[2])
            if name == "additionalProperties" {
                #expect(requests.contains(owner) && value == .bool(false), "\(pointer)")
            }
            #expect(name != "const", "\(pointer)")
            if name == "enum", value.array != nil { #expect(requests.contains(owner), "\(pointer)") }
            if name == "pattern", value.string != nil { #expect(requests.contains(owner), "\(pointer)") }
        }
    }

    @Test("HARN-27 A screen has one shape: nothing is merged, and the only alternative is null")
    func oneShape() throws {
        for (pointer, name, value) in members {
            #expect(!["allOf", "anyOf", "not", "if"].contains(name), "\(pointer)")
            guard name == "oneOf", let schemas = value.array else { continue }
            let others = schemas.filter { $0 != .object(["type": .string("null")]) }
            #expect(schemas.count == 2 && others.count == 1 && others[0]["$ref"] != nil, "\(pointer)")
        }
    }

    @Test("HARN-27 Every object has a name, every array says what is in it, and a body has a schema")
    func names() throws {
        for (pointer, name, value) in members where name == "type" && value == .string("object") {
            #expect(pointer.split(separator: "/").count == 4, "\(pointer): give it a name in components/schemas")
        }
        for (pointer, name, value) in members {
            guard name == "type", value == .string("array") || value.array?.contains(.string("array")) == true else {
                continue
            }
            let schema = document.root.at(pointer: String(pointer.dropLast("/type".count)))
            #expect(schema?["items"] != nil, "\(pointer)")
        }
        for (pointer, name, content) in document.root.members() where name == "content" {
            for (type, media) in content.object ?? [:] { #expect(media["schema"] != nil, "\(pointer) \(type)") }
        }
    }
}
