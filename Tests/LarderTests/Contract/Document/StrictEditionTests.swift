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
