import Foundation
import Synchronization
import TestKit
import Testing

@testable import Upstream

@Suite(.serialized) struct TolerantListTests {
    /// An element that counts how many were decoded.
    private struct Counted: Decodable, Sendable {
        static let count = Atomic(0)
        let number: Int

        init(from decoder: any Decoder) throws {
            Self.count.add(1, ordering: .relaxed)
            number = try decoder.singleValueContainer().decode(Int.self)
        }
    }

    private func decode(_ json: String) throws -> TolerantList<Counted> {
        Counted.count.store(0, ordering: .relaxed)
        return try JSONDecoder().decode(TolerantList<Counted>.self, from: Data(json.utf8))
    }

    @Test("TRUST-19 Of a list of 10⁵ elements only so many are decoded as are written within a quarter of a second")
    func long() throws {
        let list = try decode("[\(String(repeating: "1,", count: 99_999))1]")
        #expect(list.values.count == 10_000 && list.isTruncated)
        #expect(Counted.count.load(ordering: .relaxed) == 10_000)
        let allowed = try decode("[\(String(repeating: "1,", count: 9_999))1]")
        #expect(allowed.values.count == 10_000 && !allowed.isTruncated)
    }

    @Test("One unusable element does not affect the others; no list is an error")
    func elements() throws {
        #expect(try decode(#"[1,"x",null,{},[],2]"#).values.map { $0?.number } == [1, nil, nil, nil, nil, 2])
        #expect(try decode("[]").values.isEmpty)
        for json in ["{}", "null", "1", "[1", ""] {
            #expect(throws: DecodingError.self, "\(json)") { try decode(json) }
        }
    }
}

struct BoundedTextTests {
    @Test("TRUST-19 A text of an upstream is cut, whatever its characters are made of")
    func length() {
        #expect("Каша".rowText(longest: 4) == "Каша" && "Каша!".rowText(longest: 4) == "Каша")
        let marks = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(marks.count == 1 && marks.rowText(longest: 5)?.unicodeScalars.count == 20)
        #expect("👩‍👩‍👧‍👦👩‍👩‍👧‍👦".rowText(longest: 2) == "👩‍👩‍👧‍👦👩")
    }

    @Test("A text has no NUL, and is none if it is blank")
    func blank() {
        #expect("a\0b".rowText(longest: 10) == "ab" && "\0 \n".rowText(longest: 10) == nil)
        #expect("".rowText(longest: 10) == nil)
    }

    @Test(
        "ONE-11 A text has no characters that are not seen, and no outer white space; emoji, marks and joiners stay",
        arguments: [
            ("\u{202E}lamp\u{202C}\u{2066}s\u{2069}", "lamps"), ("\u{FEFF} la\u{200B}mp\u{7}\u{AD} \u{A0}", "lamp"),
            ("a\r\nb\tc\u{2028}d\u{85}e", "a b c d e"), ("a  b", "a  b"), ("l\u{200D}a\u{200C}mp", "lamp"),
            ("\u{200B}\u{2060}\u{3164}", nil), ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("ക്\u{200D}", "ക്\u{200D}"),
            ("👩🏽\u{200D}🚀 ❤️\u{200D}🔥", "👩🏽\u{200D}🚀 ❤️\u{200D}🔥"), ("و\u{200C}\u{200C}ب \u{200D}x", "و\u{200C}ب x"),
            (
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
            ),
            ("x\u{E0061}y", "xy"), ("\u{FFF9}a\u{FFFA}b\u{FFFB}c\u{34F}", "abc"), ("\u{FE0F}\u{34F} \u{FE0E}", nil),
            ("ל\u{5B7}\u{34F}\u{5B4}ם", "ל\u{5B7}\u{34F}\u{5B4}ם"), ("e\u{301}\u{34F}", "e\u{301}"),
            ("\u{34F}e\u{301}\u{34F} x\u{34F}\u{301}", "e\u{301} x\u{301}"),
            ("e\u{301}\u{34F}\u{34F}\u{327}", "e\u{301}\u{34F}\u{327}"),
            ("Ёлка — «й»", "Ёлка — «й»"), ("1\u{200D}2\u{FE0F}\u{20E3}", "12\u{FE0F}\u{20E3}"),
        ] as [(String, String?)]
    )
    func unseen(text: String, expected: String?) {
        #expect(text.rowText(longest: 40) == expected)
        #expect(expected == nil || text.rowText(longest: 40)?.rowText(longest: 40) == expected)
    }

    @Test("ONE-11 A letter has thirty marks at most, and the text behind them stays")
    func marks() {
        let marks = String(repeating: "\u{351}", count: 5000)
        #expect("Z\(marks)a".rowText(longest: 4000) == "Z\(String(repeating: "\u{351}", count: 30))a")
        let hidden = String(repeating: "\u{20E3}\u{200B}", count: 5000)
        #expect("1\(hidden)".rowText(longest: 4000)?.unicodeScalars.count == 31)
        #expect("e\u{301}\u{327}".rowText(longest: 40) == "e\u{301}\u{327}")
        for joiner in ["\u{200C}", "\u{200D}"] {
            let joined = String(repeating: "\u{64B}\(joiner)", count: 5000)
            #expect("ب\(joined)".rowText(longest: 4000)?.unicodeScalars.count == 61)
        }
        let ordered = String(repeating: "\u{5B7}\u{34F}", count: 5000)
        #expect("ל\(ordered)".rowText(longest: 4000)?.unicodeScalars.count == 30)
    }

    @Test("ONE-11 A text of several lines keeps its line breaks")
    func lines() {
        #expect("\n a\r\n\r\nb\u{2029}\tc\u{0}\n".rowText(longest: 40, keepsLines: true) == "a\n\nb\n c")
        #expect(String(repeating: "\u{200B}", count: 100_000).rowText(longest: 40) == nil)
    }
}

@Suite struct JSONPrefixTests {
    private func prefix(_ json: String, _ count: Int) -> String? {
        JSONPrefix.ofArray(Data(json.utf8), elements: count).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("TRUST-19 an array is cut behind its first elements, whatever they are")
    func cut() {
        #expect(prefix("[1,2,3]", 1) == "[1]" && prefix("[1,2,3]", 2) == "[1,2]")
        #expect(prefix("\n [ 1 , 2 ] ", 1) == "\n [ 1 ]")
        let elements = [
            "{}", "[]", #"{"a":[1,{"b":","}],"c":2}"#, "[[1,2],[3,4]]", #""a,b""#, #""\"],[{""#, #""\\""#, #""\\\",""#,
            "-1.5e3", "null", #""шар,🚢""#, "{\n}",
        ]
        for count in 1..<elements.count {
            let wanted = "[" + elements.prefix(count).joined(separator: ",") + "]"
            #expect(prefix("[" + elements.joined(separator: ",") + "]", count) == wanted)
        }
    }

    @Test("What has no further elements, or is no array, is decoded as it is")
    func whole() {
        for json in [
            "", " ", "[]", "[1,2]", "{}", #"{"a":[1,2,3,4]}"#, "null", "1,2,3", #""[1,2,3,4]""#, "[1", "[\"1,2,3", "[{",
            "[\"\\", "\u{FEFF}[1,2,3,4]", "[[1,2,3,4],5]", "[1,2, ]", "[1,2,", "[1,2, ",
        ] {
            #expect(prefix(json, 2) == nil, "\(json)")
        }
        // UTF-16 may be cut anywhere, but its bytes are never valid JSON in UTF-8.
        let wide = "[1,2,3,4]".data(using: .utf16LittleEndian) ?? Data()
        #expect(JSONPrefix.ofArray(wide, elements: 2)?.last == UInt8(ascii: "]"))
    }

    @Test("Of any list the first elements are those of the whole; what is no JSON up to there is none")
    func random() throws {
        var random = SeededRandom(seed: 1)
        let elements = [
            "1", "-2", "[1,[2,3]]", "{}", #"{"a":{"b":[1,","]}}"#, #""\",]""#, #""é""#, "null", " 7 ", "[]",
        ]
        var compared = 0
        for _ in 0..<5000 {
            let count = Int.random(in: 0...6, using: &random)
            let inner = (0..<count).compactMap { _ in elements.randomElement(using: &random) }.joined(separator: ",")
            var json = Data("[\(inner)]".utf8)
            if Bool.random(using: &random) { json.remove(at: Int.random(in: 0..<json.count, using: &random)) }
            guard let whole = try? JSONDecoder().decode(TolerantList<Int>.self, from: json) else { continue }
            let first = try TolerantList<Int>(json: json, maximum: 2)
            #expect(first.values == Array(whole.values.prefix(2)))
            #expect(first.isTruncated == (whole.values.count > 2))
            compared += 1
        }
        #expect(compared > 2000)
    }
}

struct JSONSizeTests {
    @Test("TRUST-19 A response of 10⁷ numbers is not decoded; one of 10⁴ rows with long texts is")
    func numbers() {
        let numbers = Array("[\(String(repeating: "1,", count: 10_000_000))1]".utf8)
        #expect(!JSONSize.isAcceptable(numbers))
        #expect(!JSONSize.isAcceptable(Array(" \n".utf8) + numbers))
        let text = String(repeating: "Seven words, and then as many more. ", count: 40)
        let members = (0..<10).map { #""member\#($0)":\#($0)"# }.joined(separator: ",")
        let row = #"{"text":"\#(text)",\#(members)},"#
        let rows = Array("[\(String(repeating: row, count: 9999)){}]".utf8)
        #expect(rows.count > 14 << 20 && JSONSize.isAcceptable(rows))
        #expect(JSONSize.isAcceptable(Array("\u{89}PNG".utf8) + numbers), "a picture")
        #expect(JSONSize.isAcceptable([]) && JSONSize.isAcceptable(Array("[]".utf8)))
    }
}
