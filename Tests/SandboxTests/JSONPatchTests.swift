import JSONValues
import Testing

@testable import Sandbox

@Suite("JSON Patch, JSON pointers, and differences of JSON")
struct JSONPatchTests {
    private static func json(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

    @Test(
        "Operations of RFC 6902, appendix A",
        arguments: [
            (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#, #"{"foo":"bar","baz":"qux"}"#),
            (#"{"a":[1,3]}"#, #"[{"op":"add","path":"/a/1","value":2}]"#, #"{"a":[1,2,3]}"#),
            (#"{"a":[1]}"#, #"[{"op":"add","path":"/a/-","value":2}]"#, #"{"a":[1,2]}"#),
            (#"{"a":1,"b":2}"#, #"[{"op":"remove","path":"/a"}]"#, #"{"b":2}"#),
            (#"{"a":[1,2,3]}"#, #"[{"op":"remove","path":"/a/1"}]"#, #"{"a":[1,3]}"#),
            (#"{"a":1}"#, #"[{"op":"replace","path":"/a","value":null}]"#, #"{"a":null}"#),
            (#"{"a":{"b":1},"c":{}}"#, #"[{"op":"move","from":"/a/b","path":"/c/d"}]"#, #"{"a":{},"c":{"d":1}}"#),
            (#"{"a":[1]}"#, #"[{"op":"copy","from":"/a/0","path":"/a/1"}]"#, #"{"a":[1,1]}"#),
            (
                #"{"a/b":1,"~":2}"#, #"[{"op":"replace","path":"/a~1b","value":3},{"op":"remove","path":"/~0"}]"#,
                #"{"a/b":3}"#
            ),
            (#"{"a":1.0}"#, #"[{"op":"test","path":"/a","value":1}]"#, #"{"a":1.0}"#),
            ("[1]", #"[{"op":"replace","path":"","value":{}}]"#, "{}"),
        ]
    )
    func operations(value: String, patch: String, expected: String) throws {
        let patched = try JSONPatch(try Self.json(patch)).applied(to: try Self.json(value))
        #expect(String(decoding: patched.serialized(), as: UTF8.self) == expected)
    }

    @Test(
        "What does not fit is refused",
        arguments: [
            #"[{"op":"remove","path":"/x"}]"#, #"[{"op":"replace","path":"/x","value":1}]"#,
            #"[{"op":"add","path":"/a/5","value":1}]"#, #"[{"op":"add","path":"/a/01","value":1}]"#,
            #"[{"op":"add","path":"/x/y","value":1}]"#, #"[{"op":"test","path":"/a","value":[2]}]"#,
            #"[{"op":"move","from":"/x","path":"/y"}]"#,
        ]
    )
    func misfits(patch: String) throws {
        let patch = try JSONPatch(try Self.json(patch))
        let value = try Self.json(#"{"a":[1]}"#)
        #expect(throws: JSONPatch.Defect.self) { try patch.applied(to: value) }
    }

    @Test(
        "What is no patch is refused",
        arguments: [
            #"{"op":"add"}"#, #"[{"op":"set","path":"/a"}]"#, #"[{"op":"add","path":"a","value":1}]"#,
            #"[{"op":"add","path":"/a"}]"#, #"[{"op":"copy","path":"/a"}]"#,
        ]
    )
    func malformed(patch: String) throws {
        let value = try Self.json(patch)
        #expect(throws: JSONPatch.Defect.self) { try JSONPatch(value) }
    }

    @Test("HARN-22 changed, missing and new members are found with their pointers, at every depth")
    func changes() throws {
        let old = try Self.json(#"{"a":1,"b":{"c/d":[1,2],"e":"x"},"g":1.0,"h":null}"#)
        let new = try Self.json(#"{"a":2,"b":{"c/d":[1,5,6]},"f":true,"g":1,"h":null}"#)
        let changes = old.changes(to: new).map { "\($0.kind.rawValue) \($0.pointer) \($0.old) \($0.new)" }
        #expect(
            changes == [
                "changed /a 1 2", "changed /b/c~1d/1 2 5", "new /b/c~1d/2  6", #"missing /b/e "x" "#, "new /f  true",
            ]
        )
        #expect(old.changes(to: old).isEmpty)
    }

    @Test("JSON gets lines for people and loses them again, with every other byte as it was")
    func indentation() throws {
        let text = #"{"a":[],"b":{},"c":[1.50,-0,1e5,"x, {\"y\": [z]}\\",{"d":null}],"é":"\u00e9 \/"}"#
        let indented = JSONText.indented(Array(text.utf8))
        #expect(String(decoding: indented, as: UTF8.self).split(separator: "\n").count == 14)
        #expect(String(decoding: JSONText.compact(indented), as: UTF8.self) == text)
    }
}
