import Foundation
import TestKit
import Testing

@testable import Upstream

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
        // UTF-16 may be cut anywhere, but stays what is no JSON in UTF-8.
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
