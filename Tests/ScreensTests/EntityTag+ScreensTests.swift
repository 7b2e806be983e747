import Foundation
import HTTPSemantics
import Testing

@testable import Screens

@Suite struct EntityTagScreensTests {
    @Test("A tag is quoted, the same for the same bytes, another for others and for another encoding")
    func tags() {
        let tag = EntityTag.strong(for: Data("a".utf8))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && !tag.dropFirst().dropLast().contains("\""))
        #expect(tag == EntityTag.strong(for: Data("a".utf8)))
        #expect(
            tag != EntityTag.strong(for: Data("b".utf8))
                && tag != EntityTag.strong(for: Data("a".utf8), variant: "gzip")
        )
    }

    @Test("A version precedes the digest, and If-Match finds it in every form of the tag, but not in weak ones")
    func versions() {
        let bytes = Data("a".utf8)
        let tag = EntityTag.strong(for: bytes, version: "12")
        #expect(tag.hasPrefix("\"12.") && tag.dropFirst(4) == EntityTag.strong(for: bytes).dropFirst())
        let zipped = EntityTag.strong(for: bytes, version: "12", variant: "gzip")
        #expect(zipped != tag && zipped.hasSuffix("-gzip\""))
        #expect(
            EntityTag.versions(in: [tag]) == [12]
                && EntityTag.versions(in: ["\"12\", \(zipped)", EntityTag.strong(for: bytes, version: "3")]) == [12, 3]
        )
        #expect(
            EntityTag.versions(in: [
                "W/\(tag)", "12", "\"\"", "\"-1\"", "\"x12\"", "\"99999999999999999999\"", EntityTag.strong(for: bytes),
                "\"",
            ]) == []
        )
        #expect(EntityTag.versions(in: ["\"1\", *"]) == nil && EntityTag.versions(in: []) == [])
    }

    @Test("A comma or an asterisk within a tag is part of it: `\"a,*,b\"` is one tag, and not `*`")
    func commas() {
        let field = ["\"a,*,b\""]
        #expect(EntityTag.versions(in: field) == [] && EntityTag.versions(in: ["\"a,*,b\", \"7\""]) == [7])
        #expect(
            !EntityTag.matches(field, "\"x\"") && EntityTag.matches(field, "\"a,*,b\"")
                && !EntityTag.matches(field, "\"a\"")
        )
    }

    @Test(
        "If-None-Match compares weakly, in lists and over lines",
        arguments: [["\"x\""], ["W/\"x\""], ["\"a\", \"x\""], ["\"a\"", "W/\"b\",\"x\""], ["*"], [" \"x\" "]]
    )
    func matches(lines: [String]) {
        #expect(EntityTag.matches(lines, "\"x\""))
    }

    @Test(
        "What is not the tag does not match",
        arguments: [[], [""], ["x"], ["\"X\""], ["\"xx\""], ["w/\"x\""], ["\"a\", \"b\""]]
    )
    func others(lines: [String]) {
        #expect(!EntityTag.matches(lines, "\"x\""))
    }
}
