import Foundation
import TestKit
import Testing

@testable import Screens

struct QueryItemsTests {
    @Test("A value is decoded: percent, plus, UTF-8; a name too")
    func decoding() throws {
        let query = QueryItems("a=b%20c+d&%D0%BF=%D1%84&empty=&bare&x=1=2&plus=%2B")
        #expect(try query.string("a") == "b c d")
        #expect(try query.string("п") == "ф")
        #expect(
            try query.string("empty") == "" && query.string("bare") == "" && query.string("x") == "1=2"
                && query.string("plus") == "+"
        )
        #expect(
            try query.string("missing") == nil && QueryItems(nil).string("a") == nil
                && QueryItems("&&").string("") == nil
        )
    }

    @Test("Broken percent encoding stays as it is")
    func brokenEncoding() throws {
        #expect(try QueryItems("a=%zz").string("a") == "%zz")
        #expect(try QueryItems("a=%FF").string("a") == "%FF")
    }

    @Test("A parameter given twice is a problem that names it")
    func twice() {
        let problem = #expect(throws: Problem.self) { try QueryItems("limit=1&limit=1").integer("limit", in: 1...9) }
        #expect(problem?.code == .invalidParameter)
        #expect(problem?.errors.first?.parameter == "limit")
    }

    @Test("Integers within the range", arguments: ["1", "100", "007"])
    func integers(text: String) throws {
        #expect(try QueryItems("n=\(text)").integer("n", in: 1...100) == Int(text))
    }

    @Test(
        "SRV-06 What is no integer or out of range is a problem",
        arguments: [
            "0", "-1", "101", "", "1.5", "1e2", "+5", "%2B5", " 5", "5 ", "0x10", "five", "%D9%A3",
            "99999999999999999999", "1_0",
        ]
    )
    func badIntegers(text: String) {
        #expect(throws: Problem.self) { try QueryItems("n=\(text)").integer("n", in: 1...100) }
    }

    @Test("Switches")
    func flags() throws {
        for text in ["refresh=1", "refresh=true", "refresh", "refresh="] {
            #expect(try QueryItems(text).flag("refresh"))
        }
        for text in ["refresh=0", "refresh=false", ""] { #expect(try !QueryItems(text).flag("refresh")) }
        #expect(throws: Problem.self) { try QueryItems("refresh=yes").flag("refresh") }
    }

    @Test("SRV-06 Paging has defaults and limits")
    func page() throws {
        #expect(try QueryItems("").page() == PageRequest(limit: 100, offset: 0))
        #expect(try QueryItems("limit=500&offset=7").page(maximumLimit: 500) == PageRequest(limit: 500, offset: 7))
        for text in ["limit=0", "limit=101", "offset=-1", "limit=x", "offset="] {
            #expect(throws: Problem.self) { try QueryItems(text).page() }
        }
    }
}

@Suite struct QueryItemsTimeZoneTests {
    @Test(
        "tz takes IANA names, and is optional",
        arguments: ["Europe/Paris", "America/Argentina/Ushuaia", "UTC", "GMT"]
    )
    func names(name: String) throws {
        #expect(try QueryItems("tz=\(name)").timeZone()?.identifier == (name == "UTC" ? "GMT" : name))
        #expect(try QueryItems("limit=1").timeZone() == nil)
    }

    @Test(
        "tz refuses abbreviations, names that do not exist, and everything that is not a name",
        arguments: ["PST", "EDT", "Mars/Base", "../../etc/passwd", "Europe/", "%00", "", "a/b/c/d"]
    )
    func others(name: String) {
        #expect(throws: Problem.self) { try QueryItems("tz=\(name)").timeZone() }
    }
}
