import Foundation
import TestKit
import Testing

@Suite("Schema validator")
struct SchemaValidatorTests {
    /// Schema, a value that conforms, a value that does not.
    static let cases: [(String, String, String)] = [
        (#"{"type":"string"}"#, #""a""#, "1"),
        (#"{"type":"integer"}"#, "2", "2.5"),
        (#"{"type":"integer"}"#, "2", "true"),
        (#"{"type":"boolean"}"#, "true", "1"),
        (#"{"type":["string","null"]}"#, "null", "false"),
        (#"{"type":"object"}"#, "{}", "[]"),
        (#"{"const":"a"}"#, #""a""#, #""b""#),
        (#"{"enum":["a",null]}"#, "null", #""b""#),
        (#"{"minimum":1}"#, "1", "0"),
        (#"{"maximum":1}"#, "1", "2"),
        (#"{"minLength":1}"#, #""é""#, #""""#),
        (#"{"maxLength":1}"#, #""é""#, #""ab""#),
        (#"{"pattern":"^a+$"}"#, #""aa""#, #""ab""#),
        (#"{"format":"date-time"}"#, #""2026-01-05T10:00:00Z""#, #""2026-01-05""#),
        (#"{"format":"date-time"}"#, #""2026-01-05T10:00:00.25Z""#, #""2026-13-05T10:00:00Z""#),
        (#"{"format":"uri-reference"}"#, #""/v1/ships?limit=2""#, #""/a b""#),
        (#"{"required":["a"]}"#, #"{"a":null}"#, #"{"b":1}"#),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"a":"x","b":1}"#, #"{"a":1}"#),
        (#"{"properties":{"a":true},"additionalProperties":false}"#, #"{"a":1}"#, #"{"a":1,"b":2}"#),
        (#"{"additionalProperties":{"type":"string"}}"#, #"{"a":"x"}"#, #"{"a":1}"#),
        (#"{"items":{"type":"string"}}"#, #"["a"]"#, #"["a",1]"#),
        (#"{"minItems":1}"#, "[1]", "[]"),
        (#"{"maxItems":1}"#, "[1]", "[1,2]"),
        (#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, "2", "3"),
        (#"{"anyOf":[{"const":1},{"const":2}]}"#, "2", "3"),
        (#"{"oneOf":[{"minimum":1},{"maximum":2}]}"#, "3", "2"),
        (#"{"not":{"const":1}}"#, "2", "1"),
        (##"{"$ref":"#/components/schemas/Name"}"##, #""Ann""#, #""""#),
        (##"{"$ref":"#/components/schemas/Name","maxLength":3}"##, #""Ann""#, #""Anna""#),
        ("false", "1", "1"),
    ]

    let validator: SchemaValidator

    init() throws {
        validator = SchemaValidator(
            document: try JSON(Data(#"{"components":{"schemas":{"Name":{"type":"string","minLength":1}}}}"#.utf8))
        )
    }

    @Test("A value that conforms passes, one that does not is refused", arguments: cases)
    func verdict(schema: String, conforming: String, violating: String) throws {
        let schema = try JSON(Data(schema.utf8))
        if schema != .bool(false) {
            #expect(try validator.violations(of: try JSON(Data(conforming.utf8)), schema: schema).isEmpty)
        }
        #expect(try !validator.violations(of: try JSON(Data(violating.utf8)), schema: schema).isEmpty)
    }

    @Test("A violation says where it is")
    func place() throws {
        let schema = try JSON(Data(#"{"properties":{"a":{"items":{"type":"string"}}}}"#.utf8))
        let violations = try validator.violations(of: try JSON(Data(#"{"a":["x",1]}"#.utf8)), schema: schema)
        #expect(violations.map(\.place) == ["/a/1"])
        #expect(violations.map(\.keyword) == ["type"])
    }

    @Test(
        "A schema with a keyword that is not checked is refused, also if no value reaches it",
        arguments: [
            (#"{"properties":{"a":{"uniqueItems":true}}}"#, SchemaError.unknownKeyword("uniqueItems")),
            (#"{"items":{"format":"email"}}"#, .unknownFormat("email")),
            (#"{"type":"text"}"#, .malformed(keyword: "type")),
            (#"{"anyOf":[]}"#, .malformed(keyword: "anyOf")),
            (#"{"pattern":"("}"#, .malformed(keyword: "pattern")),
        ]
    )
    func unknown(schema: String, expected: SchemaError) throws {
        let schema = try JSON(Data(schema.utf8))
        #expect(throws: expected) { try validator.check(schema) }
    }

    @Test("A reference that does not resolve is refused")
    func dangling() throws {
        let schema = try JSON(Data(##"{"not":{"$ref":"#/components/schemas/Nobody"}}"##.utf8))
        #expect(throws: SchemaError.self) { try validator.check(schema) }
        #expect(throws: SchemaError.self) { try validator.violations(of: .null, schema: schema) }
    }

    @Test("YAML is read as JSON: quoted numbers and times stay texts")
    func yaml() throws {
        let value = try JSON(
            yaml: "'200': 1\nat: 2026-01-05T10:00:00Z\nready: true\nnothing: null\nlist: [1.5, \"2\"]\n"
        )
        #expect(value["200"] == .number(1))
        #expect(value["at"] == .string("2026-01-05T10:00:00Z"))
        #expect(value["ready"] == .bool(true))
        #expect(value["nothing"] == .null)
        #expect(value["list"] == .array([.number(1.5), .string("2")]))
    }
}
