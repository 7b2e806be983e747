import Foundation
import JSONValues
import TestKit
import Testing

@testable import Screens

/// JSON as RFC 8259 has it, and nothing that two readers read in two ways.
struct JSONGrammarTests {
    @Test(
        "What RFC 8259 allows is read",
        arguments: [
            #"{"mode":"guest"}"#, " \t\r\n{ \"mode\" : \"guest\" } \n",
            #"{"a":[],"b":{},"c":[1,-0.5e+3,true,false,null]}"#, #"{"a":{"x":1},"b":{"x":2}}"#,
            #"{"":1,"\u0061":2,"b":3}"#, "\u{FEFF}{\"mode\":\"guest\"}",
            #"{"𝄞\uD834\uDD1E\"\\\/":1}"#,
        ]
    )
    func valid(text: String) throws {
        _ = try JSONFields(Data(text.utf8))
    }

    @Test(
        "SRV-06 What RFC 8259 does not allow is 400, although JSONDecoder takes some of it",
        arguments: [
            #"{"mode":"guest",}"#, #"{"a":[1,]}"#, #"{,"a":1}"#, #"{"a":[,1]}"#, #"{"a":1,,"b":2}"#,
            #"{"a" 1}"#, #"{"a":}"#, "{'a':1}", "{a:1}", #"{"a":1"#, #"{"a":1}}"#, #"{"a":1} x"#, #"{"a":1}//x"#,
            #"{"a":"\x41"}"#, #"{"a":"\u00zz"}"#, #"{"a":"\u12"#, #"{"a":"\"#, "{\"a\":\"\u{1}\"}", #"{"a":01}"#,
            #"{"a":NaN}"#, #"{"a":0x1}"#, #"{"a":TRUE}"#, "\u{FEFF}\u{FEFF}{}", "\u{A0}{}", #"{"a":"\uD834"}"#,
            #"{"a":-}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":+1}"#, #"{"a":1-2}"#, #"{"a":nul}"#, "",
        ]
    )
    func malformed(text: String) {
        let problem = #expect(throws: Problem.self) { try JSONFields(Data(text.utf8)) }
        #expect(problem?.code == .malformedJSON)
        let detail = problem?.detail.english ?? ""
        #expect(text.isEmpty || detail.hasPrefix("The body is not valid JSON: line 1, column "))
    }

    @Test(
        "SRV-06 The place of what is wrong is named, by line, column and JSON pointer, and nothing of the content",
        arguments: [
            (#"{"mode":"guest",}"#, 1, 17, ""), ("{\n  \"mode\": guest\n}", 2, 11, "/mode"),
            ("\u{FEFF}{\"Ж\":\"Ж\" 1}", 1, 10, ""), (#"{"a":[{"b/c":1},{"b/c":tru}]}"#, 1, 24, "/a/1/b~1c"),
            ("{\r\n\"a\":[1,2\r\n", 3, 1, "/a"), ("{", 1, 2, ""), ("secret", 1, 1, ""),
        ]
    )
    func place(text: String, line: Int, column: Int, pointer: String) {
        let problem = #expect(throws: Problem.self) { try JSONFields(Data(text.utf8)) }
        #expect(problem?.detail == "The body is not valid JSON: line \(line), column \(column).")
        #expect(problem?.errors.map(\.pointer) == (pointer.isEmpty ? [] : [pointer]))
    }

    @Test("SRV-06 A number that no double has is refused by its place")
    func number() {
        let problem = #expect(throws: Problem.self) { try JSONFields(Data(#"{"a":[1e308,1e309]}"#.utf8)) }
        #expect(problem?.detail == "A number of the body is too large: line 1, column 13.")
        #expect(problem?.errors.map(\.pointer) == ["/a/1"])
    }

    @Test("SRV-06 Bytes that are not UTF-8 are refused")
    func bytes() {
        let body = Data(Array("{\"a\":\"".utf8) + [0xFF, 0x22, 0x7D])
        let problem = #expect(throws: Problem.self) { try JSONFields(body) }
        #expect(problem?.detail == "The body is not valid JSON: line 1, column 7.")
    }

    @Test(
        "SRV-06 Only UTF-8 is read",
        arguments: [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian]
    )
    func encodings(encoding: String.Encoding) throws {
        let bytes = try #require(#"{"mode":"guest"}"#.data(using: encoding))
        #expect(throws: Problem.self) { try JSONFields(bytes) }
    }

    @Test(
        "SRV-06 Two members of one name are 400 that names them, however they are spelt and wherever they are",
        arguments: [
            (#"{"mode":"guest","mode":"login"}"#, "mode"), (#"{"mode":"guest","m\u006fde":"login"}"#, "mode"),
            (#"{"a":[{"b":{"c":1,"d":2,"c":3}}]}"#, "c"), (#"{"\uD834\uDD1E":1,"𝄞":2}"#, "𝄞"),
        ]
    )
    func repeated(text: String, name: String) {
        let problem = #expect(throws: Problem.self) { try JSONFields(Data(text.utf8)) }
        #expect(problem?.code == .malformedJSON)
        let detail = problem?.detail.english ?? ""
        #expect(detail.hasPrefix("An object of the body has two members named \(name): line 1, column "))
        #expect(problem?.errors.map(\.code) == ["duplicate"])
    }

    @Test("Nesting has a bound, so that no text takes all of the stack")
    func depth() throws {
        func nested(_ depth: Int) -> Data {
            Data((#"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        _ = try JSONFields(nested(JSONParser.maximumDepth - 1))
        #expect(throws: Problem.self) { try JSONFields(nested(JSONParser.maximumDepth + 1)) }
        #expect(throws: Problem.self) { try JSONFields(Data(String(repeating: "[", count: 500_000).utf8)) }
    }
}
