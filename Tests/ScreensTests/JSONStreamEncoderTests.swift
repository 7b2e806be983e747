import Foundation
import HTTP
import JSONValues
import TestKit
import Testing

@testable import Screens

/// `JSONEncoder` is the judge: the encoder is there for its speed and for the order of members.
@Suite struct JSONStreamEncoderTests {
    private func expected(_ value: some Encodable) throws -> String { try JSONEncoder.wire.text(value) }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try WireFormat.encode(value), as: UTF8.self)
    }

    /// Expects the same JSON as from `JSONEncoder`, in any order of members.
    private func expectSame(_ value: some Encodable) throws {
        let (own, judged) = (try WireFormat.encode(value), try JSONEncoder.wire.encode(value))
        let read = try JSONSerialization.jsonObject(with: own, options: .fragmentsAllowed) as? NSObject
        #expect(try read == JSONSerialization.jsonObject(with: judged, options: .fragmentsAllowed) as? NSObject)
        #expect(own.count == judged.count, "\(String(decoding: own, as: UTF8.self))")
    }

    private struct Everything: Encodable {
        struct Inner: Encodable {
            var homePort: String?
            var none: Int?
        }
        enum Kind: String, Encodable { case first, second }
        enum Level: Int, Encodable {
            case low = -1
            case high = 1
        }
        enum Choice: Encodable {
            case plain
            case held(maxSpeed: Int)
            case unnamed(String)
        }

        var imageURL = "/v1/ships?a=1&b=<2>"
        var imageURLText = "x"
        var isOK = true
        var weightKg = 12.5
        var small: Int8 = .min
        var signed: [Int64] = [.min, -1, 0, .max]
        var unsigned: [UInt64] = [0, .max]
        var bytes: [UInt8] = [0, 255]
        var short: UInt16 = .max
        var float: Float = 0.1
        var whole = 3.0
        var kind = Kind.second
        var levels = [Level.low, .high]
        var choices = [Choice.plain, .held(maxSpeed: 3), .unnamed("u")]
        var date = Date(timeIntervalSince1970: 1_767_607_200)
        var dates = ["when": Date(timeIntervalSince1970: 0)]
        var url = URL(string: "https://example.org/a/b?c=d")
        var data = Data("blob?>".utf8)
        var inner = Inner(homePort: "Port", none: nil)
        var inners = [Inner(), Inner(homePort: "", none: 1)]
        var optionals: [String?] = ["a", nil]
        var nested = [[1, 2], [], [3]]
        var empty: [Inner] = []
        var byKey = ["keyOfData": 1, "Z": 2, "a b": 3, "": 4]
        var emptyDictionary: [String: Int] = [:]
        var byNumber = [7: "seven"]
    }

    @Test("SRV-06 Every kind of value is written as JSONEncoder writes it")
    func everything() throws {
        try expectSame(Everything())
    }

    @Test(
        "SRV-06 Every character is written as JSONEncoder writes it",
        arguments: [
            String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init))),
            "\u{2028}\u{2029}\u{FEFF}\u{FFFF}", "e\u{301}é🚢👩‍👩‍👧", "", "\"", "\\/",
        ]
    )
    func characters(all: String) throws {
        #expect(try text([all]) == expected([all]))
    }

    @Test(
        "SRV-06 Every number is written as JSONEncoder writes it",
        arguments: [
            0, -0.0, 1, -1.5, 0.1, 1e15, 1e16, 123_456_789_012_345_680, 1e21, 1e-5, .pi, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude,
        ]
    )
    func numbers(number: Double) throws {
        #expect(try text([number]) == expected([number]))
    }

    @Test(
        "SRV-06 Decimals are numbers, digit for digit",
        arguments: ["0", "48", "29.97", "-0.1", "59.5", "12345678901234567890.123456789"]
    )
    func decimals(digits: String) throws {
        let decimal = try #require(Decimal(string: digits))
        #expect(try text([decimal]) == "[\(digits)]")
        #expect(throws: EncodingError.self) { try text([Decimal.nan]) }
    }

    @Test("SRV-06 What JSON has no number for is an error", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(number: Double) {
        #expect(throws: EncodingError.self) { try WireFormat.encode(["x": number]) }
        #expect(throws: EncodingError.self) { try WireFormat.encode([Float(number)]) }
    }

    /// Containers one after the other, nested and continued, as hand-written encoding may use them.
    private final class Base: Encodable {
        func encode(to encoder: any Encoder) throws {
            var first = encoder.container(keyedBy: Name.self)
            var inner = first.nestedContainer(keyedBy: Name.self, forKey: "innerObject")
            try inner.encode(1, forKey: "someName")
            try inner.encode(2, forKey: "another")
            var list = first.nestedUnkeyedContainer(forKey: "aList")
            try list.encode("x")
            var row = list.nestedContainer(keyedBy: Name.self)
            try row.encode(true, forKey: "isRow")
            var rows = list.nestedUnkeyedContainer()
            try rows.encodeNil()
            try Leaf().encode(to: list.superEncoder())
            var second = encoder.container(keyedBy: Name.self)
            try second.encodeNil(forKey: "nothingHere")
            try Leaf().encode(to: first.superEncoder())
            try Leaf().encode(to: first.superEncoder(forKey: "ownSuper"))
            try first.encode("end", forKey: "last")
            #expect(list.count == 4)
        }
    }

    private struct Leaf: Encodable {
        var someValue = 1
    }

    private struct Name: CodingKey, ExpressibleByStringLiteral {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringLiteral value: String) { stringValue = value }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test("SRV-06 Nested containers are written as JSONEncoder writes them")
    func containers() throws {
        try expectSame(Base())
    }

    @Test("SRV-06 Members of a flattened value are members of its object, wherever it is; in a list it is an object")
    func flattened() throws {
        struct Outer: Encodable {
            var first = 1
            @Flattened var inner: Inner
            var last = [Flattened(wrappedValue: Leaf())]
        }
        struct Inner: Encodable {
            @Flattened var leaf = Leaf()
            @Nullable var nothing: Int?
        }
        #expect(
            try text(Outer(inner: Inner(nothing: nil)))
                == #"{"first":1,"some_value":1,"nothing":null,"last":[{"some_value":1}]}"#
        )
    }

    @Test("SRV-06 Members are in the order in which they are encoded; the keys of a dictionary are sorted, unchanged")
    func order() throws {
        struct Ordered: Encodable {
            var zeta = 1
            var alphaBeta = ["keyOfData": 1, "Z": 2]
            var empty = Empty()
            var beta: [Int] = []
        }
        struct Empty: Encodable {}
        #expect(try text(Ordered()) == #"{"zeta":1,"alpha_beta":{"Z":2,"keyOfData":1},"empty":{},"beta":[]}"#)
    }

    @Test("SRV-06 A container that is filled after the next one has begun is an error, and never wrong JSON")
    func ended() throws {
        struct Late: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Name.self)
                var inner = outer.nestedContainer(keyedBy: Name.self, forKey: "inner")
                var list = outer.nestedUnkeyedContainer(forKey: "list")
                try list.encode(1)
                try inner.encode(2, forKey: "late")
            }
        }
        #expect(throws: EncodingError.self) { try WireFormat.encode(Late()) }
    }

    @Test(
        "SRV-06 Names are written as JSONEncoder writes them",
        arguments: [
            "id", "homePort", "imageURL", "imageURLText", "aB", "afterS", "page2Text", "x1", "already_snake", "eTag",
            "isOK",
        ]
    )
    func names(name: String) throws {
        struct One: Encodable {
            let name: Name
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                try container.encode(1, forKey: name)
            }
        }
        #expect(try text(One(name: Name(stringValue: name))) == expected(One(name: Name(stringValue: name))))
    }
}

/// `JSONEncoder` is the judge of the parts that all screens have.
@Suite struct ScreenPartsTests {
    private func expectSame(_ value: some Encodable) throws {
        let (own, judged) = (try WireFormat.encode(value), try JSONEncoder.wire.encode(value))
        let read = try JSONSerialization.jsonObject(with: own) as? NSDictionary
        #expect(try read == JSONSerialization.jsonObject(with: judged) as? NSDictionary)
    }

    private static let provenances = [
        Provenance.local,
        Provenance(source: .upstream, offline: true, validatedAt: Date(timeIntervalSince1970: 1_767_607_200.7)),
        Provenance(source: .bundled, stale: true, validatedAt: Date(timeIntervalSince1970: 0)),
    ]

    @Test("SRV-06 meta is written as JSONEncoder writes it", arguments: provenances)
    func meta(provenance: Provenance) throws {
        let page = Page(PageRequest(limit: 2, offset: 4), count: 2, total: 9)
        let banners: [Banner?] = [
            nil, Banner(code: "offline", text: "No “internet”\n", dismissal: .online),
            Banner(code: "x", text: "", dismissal: .after(seconds: 3)),
        ]
        for banner in banners {
            try expectSame(Meta(screen: "a.b", provenance: provenance, banner: banner))
            try expectSame(
                Meta(
                    screen: "a.b",
                    state: .empty,
                    provenance: provenance,
                    revision: -1,
                    partial: true,
                    banner: banner,
                    page: page
                )
            )
        }
    }

    @Test("SRV-06 pages, links, actions and empty states are written as JSONEncoder writes them")
    func parts() throws {
        try expectSame(Page(PageRequest(limit: 1), count: 0, total: nil))
        try expectSame(Page(PageRequest(limit: 1), count: 1, total: 2))
        let behind = PageRequest(limit: 1, after: [.text("a")])
        try expectSame(Page(behind, count: 1, total: nil, totalAtLeast: 2, hasMore: true))
        try expectSame(Links(self: "/v1?a=\"b\""))
        try expectSame(Links(self: "/v1", next: "/v1?offset=1"))
        try expectSame(EmptyState(title: "a\\", text: "\u{1}\u{1F}\t", button: ""))
        let body: [String: Action.Constant] = ["z": .integer(-1), "a": .text("é\n"), "b c": .integer(3)]
        try expectSame(Action(id: "a", title: "b", method: "PUT", href: "/c", body: body))
        let fields = [Action.Field("name", .text, "a", value: "a\"b"), Action.Field("at", .integer, "b")]
        try expectSame(Action(id: "a", title: "b", method: "PUT", href: "/c", fields: fields))
        try expectSame(
            Action(
                id: "a",
                title: "b",
                method: "PUT",
                href: "/c",
                body: [:],
                disabled: "not now",
                confirm: .init(message: "?", buttons: ["yes", "no"])
            )
        )
    }

    @Test("SRV-06 times are written as Foundation writes them")
    func times() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let date = Date(timeIntervalSince1970: .random(in: -70_000_000_000...260_000_000_000, using: &random))
            #expect(WireFormat.timestamp(date) == date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)))
        }
        for second in [0, -1, 951_782_399, 951_782_400, 4_107_542_399, 4_107_542_400, 253_402_300_799, 253_402_300_800]
        {
            let date = Date(timeIntervalSince1970: Double(second))
            #expect(WireFormat.timestamp(date) == date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)))
        }
    }
}

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
