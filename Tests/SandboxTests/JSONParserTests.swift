import JSONValues
import Testing

@testable import Sandbox

private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

private func text(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

@Suite struct JSONParserTests {
    @Test(
        "order of members and spelling of numbers survive",
        arguments: [
            #"{"b":2010.0,"a":[1e3,-0,1.50],"":null}"#, "[]", "{}", "true", #""é 海""#, "-12.5E+7",
            #"{"a":{"z":1,"y":{}}}"#,
        ]
    )
    func roundTrip(json: String) throws {
        #expect(text(try parse(json)) == json)
    }

    @Test("white space is removed, escapes are decoded")
    func normalised() throws {
        #expect(text(try parse(" {\n \"a\" : [ 1 , 2 ]\t}\r")) == #"{"a":[1,2]}"#)
        #expect(try parse(#""\u00e9\ud83d\udea2\/\b\f\n\r\t\"\\""#) == .string("é🚢/\u{8}\u{c}\n\r\t\"\\"))
        #expect(text(.string("\u{1}\u{1f}\n\"\\/")) == #""\u0001\u001f\n\"\\/""#)
    }

    @Test(
        "what is not JSON is refused",
        arguments: [
            "", " ", "{", "[1,]", "[1 2]", #"{"a"}"#, #"{"a":1,}"#, #"{a:1}"#, "01", "1.", ".5", "+1", "1e", "-", "nul",
            "nullx", #""a"#, "\"\u{1}\"", #""\x""#,
            #""\u12g4""#,
            #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "[] []", "NaN",
        ]
    )
    func refused(json: String) {
        #expect(throws: JSONSyntaxError.self) { try parse(json) }
    }

    @Test("a string that is not UTF-8 is refused")
    func encoding() {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
    }

    @Test("nesting is bounded")
    func depth() throws {
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: Never.self) { try parse(nested(JSONParser.maximumDepth)) }
        #expect(throws: JSONSyntaxError.self) { try parse(nested(JSONParser.maximumDepth + 1)) }
    }

    @Test("of members with one name the last is read")
    func duplicates() throws {
        #expect(try parse(#"{"a":1,"a":2}"#).object?["a"] == 2)
    }

    @Test(
        "a merge patch changes, adds, removes and replaces as RFC 7396 says",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":"foo"}"#, "\"bar\"", "\"bar\""), (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
    )
    func mergePatch(target: String, patch: String, result: String) throws {
        #expect(text(try parse(target).mergePatched(with: parse(patch))) == result)
    }

    @Test("a kept member is set to null, not removed")
    func mergePatchKeeping() throws {
        #expect(
            text(try parse(#"{"a":1,"b":2}"#).mergePatched(with: parse(#"{"a":null,"b":null}"#), keeping: ["a"]))
                == #"{"a":null}"#
        )
    }
}

@Suite("YAML as JSON")
struct JSONValueYAMLTests {
    @Test(
        "Plain scalars are those of JSON; what JSON does not have is a text",
        arguments: [
            ("1", 1), ("-0.50", .number("-0.50")), ("1e3", .number("1e3")), ("true", true), ("null", .null),
            ("~", .null),
            ("yes", "yes"), ("True", "True"), ("0x10", "0x10"), ("1_000", "1_000"), ("2030-01-05", "2030-01-05"),
            (".5", ".5"), ("=", "="), ("'1'", "1"), ("\"true\"", "true"), ("{a: [1, b]}", ["a": [1, "b"]]),
            ("x: &x [1]\ny: *x", ["x": [1], "y": [1]]), ("<<: 1", ["<<": 1]),
            ("&k a: {b: &c [*k]}\nd: *c", ["a": ["b": ["a"]], "d": ["a"]]),
            ("a: &k b\n*k : 1", ["a": "b", "b": 1]), ("[&x 1, &x 2, *x]", [1, 2, 2]),
            ("'*a': \"*b\"\nc*: x *y\nd: |\n  *z\n# *none", ["*a": "*b", "c*": "x *y", "d": "*z\n"]),
            ("\u{E000}: a*\u{301}", ["\u{E000}": "a*\u{301}"]),
        ] as [(String, JSONValue)]
    )
    func scalars(yaml: String, expected: JSONValue) throws { #expect(try JSONValue(yaml: yaml) == expected) }

    @Test("Values are the same whatever the order of members and the spelling of numbers")
    func same() throws {
        let value = try JSONValue(yaml: "{a: 1, b: [2.0, {c: null}]}")
        #expect(value.isSame(as: try JSONValue(yaml: "{b: [2, {c: ~}], a: 1.0}")))
        #expect(!value.isSame(as: try JSONValue(yaml: "{b: [2, {}], a: 1}")))
        #expect(value.value(at: "/b/1/c") == .some(.null) && value.value(at: "b") == .none)
    }

    @Test(
        "A text that is no YAML, or has what JSON has not, is refused with the line",
        arguments: [
            ("a: 1\na: 2", 1, "it has a twice"), ("- 1\n- *a", 2, "there is no &a before *a"),
            ("- &a [*a]", 1, "there is no &a before *a"), ("a: 1\n? [1]\n: 2", 2, "the name of a member is no text"),
            ("- *", 1, "there is no & before *"), ("", nil, "it is empty"),
            ("*a : 1\n*a : 2", 1, "it has *a twice"), ("&k a: 1\n*k : 2", 2, "it has a twice"),
        ] as [(String, Int?, String)]
    )
    func refused(yaml: String, line: Int?, reason: String) {
        #expect(Self.defect(yaml) == YAMLDefect(line: line, reason: reason))
    }

    private static func defect(_ yaml: String) -> YAMLDefect? {
        do throws(YAMLDefect) {
            _ = try JSONValue(yaml: yaml)
            return nil
        } catch {
            return error
        }
    }

    /// Ten times more values with each line.
    private static func lines(_ count: Int, _ value: (String) -> String) -> String {
        (1...count).reduce("l0: &l0 x\n") { text, level in "\(text)l\(level): &l\(level) \(value("*l\(level - 1)"))\n" }
    }

    @Test("Aliases that stand for more than the text has are refused after some thousand values")
    func bombs() {
        let lists = Self.lines(9) { "[\(Array(repeating: $0, count: 10).joined(separator: ", "))]" }
        let mappings = Self.lines(9) { name in "{\((0..<10).map { "m\($0): \(name)" }.joined(separator: ", "))}" }
        // Names are compared with those beside them, by all that they stand for.
        for bomb in [lists, mappings, lists + "? *l9\n: 1", lists + "m: {[*l9]: 1}"] {
            // Some milliseconds; a billion values would take minutes, and more memory than there is.
            #expect(Self.defect(bomb)?.reason == "its aliases stand for too many values")
        }
        // Aliases of an ordinary document are read.
        #expect(Self.defect(Self.lines(3) { "[\(Array(repeating: $0, count: 10).joined(separator: ", "))]" }) == nil)
    }

    @Test("Deep texts are refused, also if aliases make them deep")
    func depth() {
        let deep = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(Self.defect(deep(JSONParser.maximumDepth)) == nil)
        let blocks = { (count: Int) in String(repeating: "- ", count: count) + "x" }
        let indented = { (count: Int, word: String) in String(repeating: " ", count: count) + word }
        let members = { (count: Int) in (0..<count).map { indented($0, "a:\n") }.joined() + indented(count, "b") }
        for text in [
            deep(JSONParser.maximumDepth + 2), deep(100_000), String(repeating: "[", count: 100_000),
            String(repeating: "{a: ", count: 100_000), blocks(1000), blocks(100_000), members(1200),
            Self.lines(200) { "[\($0)]" }, Self.lines(9000) { "[\($0)]" },
        ] { #expect(Self.defect(text)?.reason == "it is nested deeper than 128") }
    }

    @Test("A defect names no more of a text than its beginning")
    func long() throws {
        let word = String(repeating: "x", count: 1 << 20)
        for text in ["{\(word): 1, \(word): 2}", "- *\(word)", "[\(word)", "\"\(word)", "%\(word)", "!<\(word)"] {
            #expect(try #require(Self.defect(text)).description.count < 300)
        }
        #expect(try JSONValue(yaml: word) == .string(word))
    }
}

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
