import Foundation
import Testing

@testable import Server

@Suite("multipart/form-data as its bytes arrive")
struct MultipartParserTests {
    /// A parsed part, with its data in one piece.
    struct Part: Equatable {
        var head: MultipartPartHead
        var content = ""
        var isWhole = false
    }

    static func parts(_ body: String, boundary: String = "b", chunk: Int = .max) throws -> [Part] {
        var parser = MultipartParser(
            try MultipartBoundary(contentType: "multipart/form-data; boundary=\"\(boundary)\"")
        )
        var parts: [Part] = []
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(chunk, max(1, bytes.count))) {
            for event in try parser.consume(bytes[start..<min(bytes.count, start + min(chunk, bytes.count))]) {
                switch event {
                case .part(let head): parts.append(Part(head: head))
                case .data(let data): parts[parts.count - 1].content += String(decoding: data, as: UTF8.self)
                case .partEnd: parts[parts.count - 1].isWhole = true
                }
            }
        }
        try parser.finish()
        return parts
    }

    static func head(_ name: String) -> String { "Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n" }

    static let form =
        "for old readers\r\n--b  \t\r\n"
        + "Content-Disposition: form-data; name=\"a\"; filename=\"x.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
        + "one\r\n--\r\n-b\r\n--\r\nb\r\r\n--a" + "\r\n--b\r\n" + head("empty") + "\r\n--b\r\n"
        + "content-DISPOSITION:form-data;\r\n name=c\r\n\r\n\r\n\r\n"
        + "\r\n--b--\r\nand what follows\r\n--b\r\n"

    @Test("PDF-02 A form is the same in chunks of any size", arguments: Array(1...40) + [1000])
    func chunks(chunk: Int) throws {
        let expected = [
            Part(
                head: .init(name: "a", fileName: "x.jpg", contentType: "image/jpeg"),
                content: "one\r\n--\r\n-b\r\n--\r\nb\r\r\n--a",
                isWhole: true
            ),
            Part(head: .init(name: "empty"), content: "", isWhole: true),
            Part(head: .init(name: "c"), content: "\r\n\r\n", isWhole: true),
        ]
        #expect(try Self.parts(Self.form, chunk: chunk) == expected)
    }

    @Test("A form that ends anywhere before its last boundary is truncated, wherever its bytes are cut")
    func truncation() throws {
        let end = try #require(Self.form.range(of: "--b--"))
        for length in 0..<Self.form[..<end.upperBound].utf8.count {
            let cut = String(decoding: Array(Self.form.utf8.prefix(length)), as: UTF8.self)
            #expect(throws: MultipartError.truncated, "\(length)") { try Self.parts(cut) }
        }
        #expect(try Self.parts(String(Self.form[..<end.upperBound])).count == 3)
    }

    @Test("No data is held back but what may be the beginning of a boundary")
    func prompt() throws {
        var parser = MultipartParser(try MultipartBoundary(contentType: "multipart/form-data; boundary=bound"))
        _ = try parser.consume(Array("--bound\r\n\(Self.head("a"))".utf8))
        #expect(try parser.consume(Array("abc\r\n--bo".utf8)) == [.data(ArraySlice("abc".utf8))])
        #expect(try parser.consume(Array("x".utf8)) == [.data(ArraySlice("\r\n--box".utf8))])
        #expect(try parser.consume(Array("\r\n--bound--".utf8)) == [.partEnd])
    }

    @Test("A form without parts, and an empty form, as browsers write them")
    func noParts() throws {
        #expect(try Self.parts("--b--\r\n") == [])
        #expect(try Self.parts("\r\n--b--") == [])
        #expect(throws: MultipartError.truncated) { try Self.parts("") }
    }

    @Test(
        "What follows a boundary is a line end or the end",
        arguments: [
            "--bX\r\n", "--b\n", "--b-\r\n", "--b --\r\n", "--b\r\r\n", "--b\(String(repeating: " ", count: 300))\r\n",
        ]
    )
    func delimiters(start: String) {
        #expect(throws: MultipartError.malformedDelimiter) { try Self.parts(start + Self.head("a") + "x\r\n--b--") }
        #expect(throws: MultipartError.malformedDelimiter) {
            try Self.parts(start + Self.head("a") + "x\r\n--b--", chunk: 1)
        }
    }

    @Test(
        "A part's header that cannot be read is refused",
        arguments: [
            "", "Content-Type: image/png", "Content-Disposition: form-data",
            "Content-Disposition: attachment; name=\"a\"",
            "Content-Disposition: form-data; name=\"a", "Content-Disposition: form-data; name", "no colon", ": no name",
            "Content Disposition: form-data; name=a",
            "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
            "Content-Disposition: form-data; name=a\u{0}",
            "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
            "Content-Disposition: form-data; name=\"a\" x",
        ]
    )
    func headers(lines: String) throws {
        let body = "--b\r\n\(lines)\(lines.isEmpty ? "" : "\r\n")\r\nx\r\n--b--"
        var kinds: Set<String> = []
        for chunk in [1, 7, 1000] {
            do {
                _ = try Self.parts(body, chunk: chunk)
                Issue.record("accepted: \(lines)")
            } catch MultipartError.malformedHeader(let fault) { kinds.insert(fault) }
        }
        #expect(kinds.count == 1)
    }

    @Test("A header is bounded, also one that never ends")
    func headerLimit() throws {
        let padding = String(repeating: "x", count: MultipartParser.headerLimit)
        #expect(throws: MultipartError.headerTooLarge(limit: MultipartParser.headerLimit)) {
            try Self.parts("--b\r\nX: \(padding)", chunk: 1000)
        }
        let whole = "--b\r\nX: \(padding)\r\n\(Self.head("a"))x\r\n--b--"
        #expect(throws: MultipartError.headerTooLarge(limit: MultipartParser.headerLimit)) { try Self.parts(whole) }
        let fits = "--b\r\nX: \(padding.dropLast(80))\r\n\(Self.head("a"))x\r\n--b--"
        #expect(try Self.parts(fits).count == 1)
    }

    @Test("Names of files in every form that clients write them")
    func fileNames() throws {
        let names: [(String, String?)] = [
            (#"filename="a b.jpg""#, "a b.jpg"), ("filename=plain.jpg", "plain.jpg"),
            (#"filename="say \"cheese\".jpg""#, #"say "cheese".jpg"#),
            (#"filename="say %22cheese%22.jpg""#, #"say "cheese".jpg"#), (#"filename="C:\photos\1.jpg""#, "1.jpg"),
            (#"filename="../../etc/passwd""#, "passwd"),
            (#"filename="отпуск 🏝.jpg""#, "отпуск 🏝.jpg"),
            ("filename=\"x.jpg\"; filename*=UTF-8''%D0%B4%D0%B0%20%22.jpg", "да \".jpg"),
            ("filename*=iso-8859-1'de'M%FCnchen.jpg", "München.jpg"),
            ("filename=\"y.jpg\"; filename*=utf-8''%ff%fe", "y.jpg"),
            ("filename=\"y.jpg\"; filename*=koi8-r''%ff", "y.jpg"),
            ("filename=\"y.jpg\"; filename*=UTF-8''%4", "y.jpg"), ("filename=\"\"", ""),
            (#"filename="semi;colon.jpg""#, "semi;colon.jpg"), ("filename=\"tab\t.jpg\" ;", "tab\t.jpg"),
            ("size=3", nil),
            (#"FileName="case.jpg""#, "case.jpg"),
            (#"filename="100%.jpg""#, "100%.jpg"), (#"filename="first.jpg"; filename="second.jpg""#, "first.jpg"),
            (#"filename="folder/""#, ""),
        ]
        for (parameter, expected) in names {
            let parts = try Self.parts(
                "--b\r\nContent-Disposition: form-data; name=\"a\"; \(parameter)\r\n\r\nx\r\n--b--"
            )
            #expect(parts.first?.head.fileName == expected, "\(parameter)")
        }
    }

    @Test("A boundary has 1 to 70 characters of those that RFC 2046 allows")
    func boundaries() throws {
        let longest = String(repeating: "x", count: 70)
        for boundary in ["x", longest, "'()+_,-./:=?", "a b", "----WebKitFormBoundary7MA4YWxkTrZu0gW"] {
            #expect(
                try MultipartBoundary(contentType: "multipart/form-data; boundary=\"\(boundary)\"").bytes
                    == Array(boundary.utf8)
            )
            let part = try Self.parts(
                "--\(boundary)\r\n\(Self.head("a"))x\r\n--\(boundary)--",
                boundary: boundary,
                chunk: 3
            )
            #expect(part.first?.content == "x")
        }
        for type in [
            "", "; boundary=", "; boundary=\"\"", "; boundary=\(longest)x", "; boundary=\"a \"", "; boundary=\"ä\"",
            "; boundary=a\u{1}", "; charset=utf-8",
        ] {
            #expect(throws: MultipartError.badBoundary, "\(type)") {
                try MultipartBoundary(contentType: "multipart/form-data\(type)")
            }
        }
        #expect(throws: MultipartError.otherType("image/jpeg")) {
            try MultipartBoundary(contentType: "image/jpeg; boundary=x")
        }
        #expect(throws: MultipartError.otherType("multipart/mixed")) {
            try MultipartBoundary(contentType: "multipart/mixed; boundary=x")
        }
        #expect(throws: MultipartError.otherType("")) { try MultipartBoundary(contentType: nil) }
        #expect(
            try MultipartBoundary(contentType: "Multipart/Form-Data;BOUNDARY=x; charset=utf-8").bytes == Array("x".utf8)
        )
    }

    @Test("Bytes that are no text come through unchanged")
    func binary() throws {
        var content: [UInt8] = (0..<70_000).map { (index: Int) -> UInt8 in
            UInt8(truncatingIfNeeded: index &* 31 &+ (index >> 8))
        }
        content += [0x0D, 0x0D, 0x0A, 0x2D, 0x2D] as [UInt8]
        var parser = MultipartParser(try MultipartBoundary(contentType: "multipart/form-data; boundary=b"))
        var received: [UInt8] = []
        var body: [UInt8] = Array("--b\r\n\(Self.head("a"))".utf8)
        body += content
        body += Array("\r\n--b--".utf8)
        for start in stride(from: 0, to: body.count, by: 4093) {
            for case .data(let data) in try parser.consume(body[start..<min(body.count, start + 4093)]) {
                received += data
            }
        }
        #expect(received == content)
    }
}
