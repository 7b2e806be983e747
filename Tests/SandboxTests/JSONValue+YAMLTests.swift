import Testing

@testable import Sandbox

@Suite("YAML as JSON")
struct JSONValueYAMLTests {
    @Test(
        "Plain scalars are those of JSON; what JSON does not have is a text",
        arguments: [
            ("1", 1), ("-0.50", .number("-0.50")), ("1e3", .number("1e3")), ("true", true), ("null", nil), ("~", nil),
            ("yes", "yes"), ("True", "True"), ("0x10", "0x10"), ("1_000", "1_000"), ("2030-01-05", "2030-01-05"),
            (".5", ".5"), ("=", "="), ("'1'", "1"), ("\"true\"", "true"), ("{a: [1, b]}", ["a": [1, "b"]]),
            ("x: &x [1]\ny: *x", ["x": [1], "y": [1]]), ("<<: 1", ["<<": 1]),
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
        for bomb in [lists, mappings] {
            let begin = ContinuousClock.now
            #expect(Self.defect(bomb)?.reason == "its aliases stand for too many values")
            // Some milliseconds; a billion values would take minutes, and more memory than there is.
            #expect(ContinuousClock.now - begin < .seconds(10))
        }
        // Aliases of an ordinary document are read.
        #expect(Self.defect(Self.lines(3) { "[\(Array(repeating: $0, count: 10).joined(separator: ", "))]" }) == nil)
    }

    @Test("Deep texts are refused, also if aliases make them deep")
    func depth() {
        let deep = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(Self.defect(deep(JSONParser.maximumDepth)) == nil)
        #expect(Self.defect(deep(JSONParser.maximumDepth + 2))?.reason == "nested deeper than 128")
        #expect(Self.defect(Self.lines(200) { "[\($0)]" })?.reason == "nested deeper than 128")
    }
}
