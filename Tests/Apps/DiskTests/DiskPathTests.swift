import Foundation
import Testing

@testable import Disk

@Suite("Paths on the Disk")
struct DiskPathTests {
    @Test(
        "a path has one spelling, with or without scheme and slash at its end",
        arguments: [
            ("disk:/", "disk:/"), ("/", "disk:/"), ("disk:/a", "disk:/a"), ("/a/", "disk:/a"),
            ("disk:/Загрузки/", "disk:/Загрузки"),
            ("/notes:123.vb", "disk:/notes:123.vb"), ("disk:/a b/c+d #%&?.txt", "disk:/a b/c+d #%&?.txt"),
            ("/👩‍👩‍👧/x", "disk:/👩‍👩‍👧/x"), ("/disk:/x", "disk:/disk:/x"),
        ]
    )
    func normal(text: String, expected: String) throws {
        #expect(try #require(DiskPath(text)).text == expected)
    }

    @Test(
        "what is no path is refused",
        arguments: [
            "", "a", "disk:", "disk:a", "trash:/a", "app:/a", "http://x/", "//", "/a//b", "/a//", "/./a", "/..",
            "/a/../b", "/a\0b",
            "/" + String(repeating: "x", count: 256),
        ]
    )
    func none(text: String) {
        #expect(DiskPath(text) == nil)
    }

    @Test("name, parent and what is below")
    func parts() throws {
        let path = try #require(DiskPath("/docs/2024/a.pdf"))
        #expect(path.name == "a.pdf")
        #expect(path.parent?.text == "disk:/docs/2024")
        #expect(path.parent?.parent?.parent == .root)
        #expect(DiskPath.root.parent == nil)
        #expect(DiskPath.root.name == "")
        #expect(try #require(DiskPath("/docs")).contains(path))
        #expect(try #require(DiskPath("/doc")).contains(path) == false)
        #expect(DiskPath.root.contains(path))
        #expect(!path.contains(path))
        #expect(DiskPath.root.child("x").text == "disk:/x")
    }

    @Test("everything but unreserved characters is percent-encoded, a plus first of all")
    func encoding() throws {
        #expect(try #require(DiskPath("/a+b #%&?.txt")).queryValue == "disk%3A%2Fa%2Bb%20%23%25%26%3F.txt")
        #expect(try #require(DiskPath("/é")).queryValue == "disk%3A%2F%C3%A9")
    }

    @Test("composed and decomposed letters are two names")
    func normalization() throws {
        let (composed, decomposed) = (try #require(DiskPath("/\u{E9}")), try #require(DiskPath("/e\u{301}")))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}
