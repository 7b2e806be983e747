import Foundation
import TestKit
import Testing

@testable import Screens

/// `JSONEncoder` is the judge: the encoder is there for its speed, not for another form.
@Suite struct WireEncoderTests {
    private func expected(_ value: some Encodable) throws -> String { try JSONEncoder.wire.text(value) }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try WireFormat.encode(value), as: UTF8.self)
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
        #expect(try text(Everything()) == expected(Everything()))
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

    /// Containers in every order, as hand-written encoding may use them.
    private final class Base: Encodable {
        func encode(to encoder: any Encoder) throws {
            var first = encoder.container(keyedBy: Name.self)
            var inner = first.nestedContainer(keyedBy: Name.self, forKey: "innerObject")
            var list = first.nestedUnkeyedContainer(forKey: "aList")
            try inner.encode(1, forKey: "lateName")
            try list.encode("x")
            var second = encoder.container(keyedBy: Name.self)
            try second.encodeNil(forKey: "nothingHere")
            try inner.encode(2, forKey: "early")
            var row = list.nestedContainer(keyedBy: Name.self)
            try row.encode(true, forKey: "isRow")
            var rows = list.nestedUnkeyedContainer()
            try rows.encodeNil()
            try Leaf().encode(to: list.superEncoder())
            try Leaf().encode(to: first.superEncoder())
            try Leaf().encode(to: first.superEncoder(forKey: "ownSuper"))
            try first.encode("old", forKey: "twice")
            try first.encode("new", forKey: "twice")
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

    @Test("SRV-06 Containers may be filled in any order")
    func containers() throws {
        #expect(try text(Base()) == expected(Base()))
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
