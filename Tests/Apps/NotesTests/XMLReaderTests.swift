import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Reading XML")
struct XMLReaderTests {
    private func events(_ text: String) throws -> [XMLReader.Event] { try events(Array(text.utf8)) }

    private func events(_ bytes: [UInt8]) throws -> [XMLReader.Event] {
        var reader = try XMLReader(bytes)
        var events: [XMLReader.Event] = []
        while let event = try reader.next() { events.append(event) }
        return events
    }

    @Test("NOTE-16 Elements, attributes, character data, references, comments and instructions are read")
    func document() throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="utf-8"?>
            <!-- <no> -->
            <a:b x='1 &lt; "2"' y="&#x44F;&#68;"><c/>\t&amp;<![CDATA[<d>&e;]]><?f g?></a:b >

            """
        #expect(
            try events(text) == [
                .start("a:b", ["x": "1 < \"2\"", "y": "яD"]), .start("c", [:]), .end("c"), .text("\t&"),
                .text("<d>&e;"), .end("a:b"),
            ]
        )
        #expect(try events("<a>1\r\n2\r3&#13;</a>") == [.start("a", [:]), .text("1\n2\n3\r"), .end("a")])
    }

    @Test(
        "NOTE-16 What is no XML document, or declares a document type, is named with its line",
        arguments: [
            ("", Text.endsEarly, 1), ("<a>\n<b>", .endsEarly, 2), ("<a>\n</b>", .isNotWellFormed, 2),
            ("<a/>\n\n<b/>", .isNotWellFormed, 3), ("x<a/>", .isNotWellFormed, 1), ("<a\nb></a>", .isNotWellFormed, 2),
            ("<a b='1' b='2'/>", .isNotWellFormed, 1), ("<a b='<'/>", .isNotWellFormed, 1),
            ("<1/>", .isNotWellFormed, 1),
            ("<a>\n\u{1}</a>", .isNotWellFormed, 2), ("<a>&#0;</a>", .isNotWellFormed, 1),
            ("<a>&#xD800;</a>", .isNotWellFormed, 1), ("<a>\n&lol;</a>", .hasUnknownEntity, 2),
            ("<a><!-- ", .endsEarly, 1), ("<a b=\"", .isNotWellFormed, 1),
            ("<?xml version=\"1.0\" encoding=\"windows-1251\"?>\n<a/>", .isNotUTF8, 1),
            ("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>", .hasDeclaration, 1),
        ]
    )
    func defects(text: String, reason: Text, line: Int) {
        #expect(throws: XMLDefect(line: line, reason: reason)) { try events(text) }
    }

    @Test("NOTE-16 Bytes that are not UTF-8, and elements without end, are refused")
    func hostile() {
        #expect(throws: XMLDefect(line: 1, reason: .isNotUTF8)) { try events([0x3C, 0x61, 0xFF, 0x3E]) }
        #expect(throws: XMLDefect.self) { try events(String(repeating: "<a>", count: 100_000)) }
    }

    @Test("NOTE-16 Whatever bytes there are, reading them ends, and text that is escaped comes back")
    func anything() throws {
        var chance = SeededRandom(seed: 16)
        let pieces = [
            "<", ">", "</", "a", "=", "\"", "'", "&", ";", "#", "x", "<!--", "-->", "]]>", "<![CDATA[", "?", "\n", "я",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...20, using: &chance)).map { _ in
                pieces.randomElement(using: &chance) ?? ""
            }
            _ = try? events(text.joined())
        }
        for _ in 0..<500 {
            let text = String.random(using: &chance)
            guard text.isOfXML, !text.isEmpty else { continue }
            let read = try events("<a>\(text.xmlEscaped)</a>").compactMap {
                if case .text(let text) = $0 { text } else { nil }
            }
            #expect(read.joined() == text)
        }
    }
}
