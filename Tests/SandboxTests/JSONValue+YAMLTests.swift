import JSONValues
import Testing

@testable import Sandbox

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
