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
