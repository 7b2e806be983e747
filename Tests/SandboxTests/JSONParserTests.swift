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
