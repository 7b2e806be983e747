import Foundation
import TestKit
import Testing

@testable import Screens

@Suite("Cursors")
struct PagedListTests {
    private let ships = PagedList("ships.list", by: "name", filter: "tug", key: [.text, .integer])

    private static func base64URL(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    @Test(
        "SRV-06 A cursor names the key it was made of, byte for byte, and needs no encoding in a URL",
        arguments: [
            "", "Alma", "a\u{0}b", "\"\\/\u{8}\u{1F}", "ёжик", "e\u{301}", "é", "👩‍👩‍👧", "\u{FFFF}\u{10FFFF}\u{202E}",
            String(repeating: "ж", count: 200), "null", "[1]",
        ] as [String],
        [0, -1, .max, .min, 9_007_199_254_740_993] as [Int64]
    )
    func roundTrip(text: String, number: Int64) throws {
        let cursor = ships.cursor(after: [.text(text), .integer(number)])
        #expect(cursor.utf8.allSatisfy { UInt8(ascii: "-") == $0 || UInt8(ascii: "_") == $0 || $0.isLetterOrDigit })
        let key = try ships.key(of: cursor)
        #expect(key[1] == .integer(number) && key.count == 2)
        guard case .text(let read) = key[0] else { return #expect(Bool(false), "\(key)") }
        #expect(Array(read.utf8) == Array(text.utf8), "equal texts of other bytes are other keys")
        #expect(cursor == ships.cursor(after: key))
    }

    @Test("SRV-06 A cursor of another list, order, filter or version is refused, and the reason is named")
    func foreign() throws {
        let key: [CursorValue] = [.text("a"), .integer(1)]
        func refusal(_ list: PagedList) -> String? {
            #expect(throws: Problem.self) {
                try QueryItems("cursor=\(list.cursor(after: key))").page(of: ships)
            }?.detail.english
        }
        let kinds: [CursorValue.Kind] = [.text, .integer]
        let notes = PagedList("notes.list", by: "name", filter: "tug", key: kinds)
        #expect(refusal(notes)?.contains("another list") == true)
        for order in ["-name", "", nil] {
            let other = PagedList("ships.list", by: order, filter: "tug", key: kinds)
            #expect(refusal(other)?.contains("another order") == true)
        }
        for filter in ["tu", "", nil] {
            let other = PagedList("ships.list", by: "name", filter: filter, key: kinds)
            #expect(refusal(other)?.contains("other filters") == true)
        }
        let newer = Self.base64URL(#"{"v":2,"k":{"anything":true}}"#)
        let problem = #expect(throws: Problem.self) { try QueryItems("cursor=\(newer)").page(of: ships) }
        #expect(problem?.detail.english.contains("another version") == true && problem?.code == .invalidParameter)
        #expect(problem?.errors.first?.parameter == "cursor")
    }

    @Test(
        "SRV-06 What is no cursor is a problem that names the parameter",
        arguments: [
            "", "x", "=", "eyJ", "%00", "%F0%9F%98%80", "+", "a%20b", "e30", "e30=", "bnVsbA", "null", "0",
            base64URL(#"{"k":["a",1],"l":"ships.list","o":"name","v":1"#),
            base64URL(#"{"k":["a",1.5],"l":"ships.list","o":"name","v":1}"#),
            base64URL(#"{"k":["a",true],"l":"ships.list","o":"name","v":1}"#),
            base64URL(#"{"k":["a",9223372036854775808],"l":"ships.list","o":"name","v":1}"#),
            base64URL(#"{"k":"a","l":"ships.list","o":"name","v":1}"#), base64URL(#"{"v":"1"}"#),
            base64URL(String(repeating: "[", count: 5000)), String(repeating: "A", count: 6000),
        ]
    )
    func malformed(text: String) {
        let problem = #expect(throws: Problem.self) { try QueryItems("cursor=\(text)").page(of: ships) }
        #expect(problem?.code == .invalidParameter && problem?.errors.first?.parameter == "cursor")
    }

    @Test(
        "SRV-06 A key of other types, or of more or fewer values, is refused",
        arguments: [[], [1], [1, 1], [1, 2, 3]] as [[Int64]]
    )
    func shape(numbers: [Int64]) throws {
        let list = PagedList("a.b", key: [.integer, .text])
        let forged = PagedList("a.b", key: []).cursor(after: numbers.map { .integer($0) })
        #expect(throws: PagedList.CursorError.malformed) { try list.key(of: forged) }
    }

    @Test("SRV-06 Any change of a cursor is refused, or begins elsewhere in the same list")
    func mutations() throws {
        var random = SeededRandom(seed: 89)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let cursor = Array(ships.cursor(after: [.text("Alma"), .integer(7)]).utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = cursor
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = alphabet[Int.random(in: alphabet.indices, using: &random)]
                case 1: bytes.remove(at: index)
                default: bytes.insert(alphabet[Int.random(in: alphabet.indices, using: &random)], at: index)
                }
            }
            guard let key = try? ships.key(of: String(decoding: bytes, as: UTF8.self)) else { continue }
            accepted += 1
            #expect(key.count == 2 && key[1].integer != nil && key[0].integer == nil)
        }
        #expect(accepted > 0, "some changes hit the key")
    }

    @Test("SRV-06 A cursor that names a position is an offset; one before the first row is refused")
    func positions() throws {
        let list = PagedList(positionsOf: "disk.files", by: "name", filter: "disk:/")
        let page = try QueryItems("limit=3&cursor=\(list.cursor(at: 40))").page(of: list)
        #expect(page.offset == 40 && page.limit == 3 && !page.isFirst)
        let shown = Page(page, count: 3, total: 50, hasMore: true)
        #expect(shown.offset == nil && shown.nextOffset == nil && shown.hasMore)
        #expect(throws: PagedList.CursorError.malformed) { try list.key(of: list.cursor(at: -1)) }
        #expect(try QueryItems("cursor=\(list.cursor(at: .max))").page(of: list).offset == .max)
    }

    @Test("SRV-06 HARN-36 Without a cursor a list begins at its offset; both are refused, but 0 with a cursor is none")
    func offset() throws {
        #expect(try QueryItems("offset=7").page(of: ships) == PageRequest(limit: 100, offset: 7))
        #expect(try QueryItems("").page(of: ships).isFirst)
        let cursor = ships.cursor(after: [.text("a"), .integer(1)])
        #expect(throws: Problem.self) { try QueryItems("cursor=\(cursor)&offset=1").page(of: ships) }
        #expect(throws: Problem.self) { try QueryItems("cursor=\(cursor)&offset=x").page(of: ships) }
        #expect(try QueryItems("cursor=\(cursor)&offset=0").page(of: ships).key == [.text("a"), .integer(1)])
        #expect(throws: Problem.self) { try QueryItems("cursor=\(cursor)&cursor=\(cursor)").page(of: ships) }
        #expect(try QueryItems("cursor=\(cursor)&limit=9").page(of: ships).key == [.text("a"), .integer(1)])
    }

    @Test("A text that rows are ordered by is cut between characters of Unicode, to what fits in a URL")
    func cutting() {
        #expect("Alma".cutToKey == "Alma")
        let long = String(repeating: "👍🏽", count: 300).cutToKey
        #expect(long.unicodeScalars.count == 200 && long.utf8.count == 800)
        #expect(ships.cursor(after: [.text(long), .integer(.min)]).utf8.count < 1300)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
