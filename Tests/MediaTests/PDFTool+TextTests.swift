import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PDFToolTextTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns pdftotext's output without white space and direction marks. Positions of letters are compared as
    /// pictures, if at all.
    private func extracted(_ scratch: Scratch, _ pdf: URL, page: Int? = nil) async throws -> String {
        let pages = page.map { ["-f", "\($0)", "-l", "\($0)"] } ?? []
        let text = try await scratch.text(of: "pdftotext", pages + ["-enc", "UTF-8", pdf.path, "-"])
        return Self.bare(text)
    }

    private static func bare(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    !$0.properties.isWhitespace && $0.properties.generalCategory != .format && $0 != "\u{0C}"
                }
            )
        )
    }

    @Test(
        "PDF-09 text of many scripts is found again",
        arguments: [
            "The quick brown fox jumps over the lazy dog – ßäöüéñçł.",
            "Съешь же ещё этих мягких французских булок, да выпей чаю. Ґґ Її Єє Ўў.",
            "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
            "我能吞下玻璃而不伤身体。", "いろはにほへと ちりぬるを カタカナ", "나는 유리를 먹을 수 있어요. 그래도 아프지 않아요",
        ]
    )
    func scripts(text: String) async throws {
        let summary = try await scratch.engine.documents.textPages(text, title: "Text", to: scratch.url("out.pdf"))
        #expect(summary.pages == [PDFPage(width: 595.276, height: 841.89, rotation: 0)])
        #expect(summary.missingGlyphs == [])
        #expect(summary.title == "Text")
        try await scratch.check(scratch.url("out.pdf"))
        #expect(try await extracted(scratch, scratch.url("out.pdf")) == Self.bare(text))
    }

    @Test("TRUST-09 Without pango text cannot be set, and all that needs no text works")
    func withoutPango() async throws {
        let worker = try scratch.tools.path(of: .pdfWorker)
        // Found before the system's, and no library.
        let script =
            "#!/bin/sh\n: >\"$HOME/libpangocairo-1.0.so.0\"; LD_LIBRARY_PATH=\"$HOME\" exec '\(worker)' \"$@\"\n"
        let wrapper = try scratch.write(script.utf8, to: "worker")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: wrapper.path)
        var paths = scratch.tools.paths
        paths[.pdfWorker] = wrapper.path
        let engine = try MediaEngine(tools: MediaTools(paths: paths), folder: scratch.url("work"))
        for work in [
            { _ = try await engine.documents.textPages("Text", to: scratch.url("out.pdf")) },
            { _ = try await engine.documents.missingGlyphs(in: "Text") },
        ] as [@Sendable () async throws -> Void] {
            await #expect {
                try await work()
            } throws: { error in
                guard case MediaError.unavailable(let reason) = error else { return false }
                return reason.contains("libpangocairo-1.0.so.0")
            }
        }
        let picture = try await scratch.picture(.quadrants(), "a.png")
        let summary = try await engine.documents.pages(of: [.file(picture)], to: scratch.url("out.pdf"))
        #expect(summary.pages.count == 1)
    }

    @Test("PDF-09 right-to-left text is found again, and is aligned right", arguments: ["שלום עולם", "مرحبا بالعالم"])
    func rightToLeft(text: String) async throws {
        let summary = try await scratch.engine.documents.textPages(text, to: scratch.url("out.pdf"))
        #expect(summary.missingGlyphs == [])
        let found = try await extracted(scratch, scratch.url("out.pdf")).precomposedStringWithCompatibilityMapping
        #expect(found.unicodeScalars.sorted() == Self.bare(text).unicodeScalars.sorted(), "\(found)")
        let drawn = try await scratch.drawn(scratch.url("out.pdf"))
        func isInked(_ columns: Range<Int>) -> Bool {
            columns.contains { x in (0..<120).contains { !drawn[x, $0].isNear(.white, 60) } }
        }
        #expect(isInked(drawn.width / 2..<drawn.width))
        #expect(!isInked(0..<drawn.width / 2))
        // At the margin, not beyond it.
        #expect(!isInked((drawn.width - 54)..<drawn.width))
    }

    @Test(
        "PDF-23 words of Arabic, Hebrew and Persian are found whole, in the order in which they are read",
        arguments: [
            "שלום עולם, זה טקסט 123 abc ארוך.\nסעיף 3.14 (א) עולם", "مرحبا بالعالم، هذا نص عربي 456 طويل.",
            "السلام عليكم ورحمة الله — لا إله\nالآن الأول الإسلام",
            "Hello שלום office مرحبا 12.", "شناسنامه، کارت ملی و گذرنامه", "دليل",
        ]
    )
    func words(text: String) async throws {
        _ = try await scratch.engine.documents.textPages(text, to: scratch.url("out.pdf"))
        let printed = try await scratch.text(of: "pdftotext", ["-enc", "UTF-8", scratch.url("out.pdf").path, "-"])
        // Marks of direction stand where it changes, between words.
        let plain = String(String.UnicodeScalarView(printed.unicodeScalars.map { Self.isDirection($0) ? " " : $0 }))
        let found = Set(Self.words(of: plain.precomposedStringWithCompatibilityMapping))
        for word in Self.words(of: text) { #expect(found.contains(word), "\(word) in \(plain)") }

        let document = try await ReadDocument(scratch.url("out.pdf"), scratch)
        let read = document.pages.map { document.text(of: $0) }.joined().precomposedStringWithCompatibilityMapping
        #expect(Self.words(of: read).joined() == Self.words(of: text).joined())
    }

    private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x200E...0x200F).contains(scalar.value)
    }

    private static func words(of text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map { String($0) }
    }

    @Test("PDF-09 emoji are drawn, in colour and as large as the text") func emoji() async throws {
        let summary = try await scratch.engine.documents.textPages("😀😀 12", to: scratch.url("out.pdf"))
        #expect(summary.missingGlyphs == [])
        try await scratch.check(scratch.url("out.pdf"))
        let drawn = try await scratch.drawn(scratch.url("out.pdf"), resolution: 144)
        let yellow = (0..<drawn.width).contains { x in
            (0..<300).contains { y in drawn[x, y].red > 200 && drawn[x, y].green > 150 && drawn[x, y].blue < 120 }
        }
        #expect(yellow)
        #expect(try await extracted(scratch, scratch.url("out.pdf")).contains("12"))
    }

    @Test(
        "PDF-09 long text wraps and overflows to further pages without loss, also half a megabyte and an endless word",
        arguments: [
            (1...6000).map { "слово\($0)" }, (1...40_000).map { "слово\($0)" },
            [String(repeating: "x", count: 100_000)],
        ]
    )
    func overflow(words: [String]) async throws {
        let summary = try await scratch.engine.documents.textPages(
            words.joined(separator: " "),
            to: scratch.url("out.pdf")
        )
        #expect(summary.pages.count > 5)
        #expect(try await extracted(scratch, scratch.url("out.pdf")) == words.joined())
        let drawn = try await scratch.drawn(scratch.url("out.pdf"), page: 2)
        for y in 0..<drawn.height {
            for x in Array(0..<50) + Array((drawn.width - 50)..<drawn.width) where !drawn[x, y].isNear(.white) {
                Issue.record("ink at \(x), \(y)")
            }
        }
    }

    @Test("a word longer than a line, paragraphs, page breaks") func breaks() async throws {
        let long = String(repeating: "x", count: 500)
        let text = "\(long)\n\nsecond\r\nthird\u{0C}on page two\n\n"
        let summary = try await scratch.engine.documents.textPages(text, to: scratch.url("out.pdf"))
        #expect(summary.pages.count == 2)
        #expect(try await extracted(scratch, scratch.url("out.pdf"), page: 1) == "\(long)secondthird")
        #expect(try await extracted(scratch, scratch.url("out.pdf"), page: 2) == "onpagetwo")
    }

    @Test("characters that no font has are listed and left out") func missing() async throws {
        // A noncharacter's neighbour in the last private plane: no font has it.
        let summary = try await scratch.engine.documents.textPages(
            "A\u{10FFF0}B\u{10FFF1}\u{10FFF0}C",
            to: scratch.url("out.pdf")
        )
        #expect(summary.missingGlyphs == ["\u{10FFF0}", "\u{10FFF1}"])
        #expect(try await extracted(scratch, scratch.url("out.pdf")).filter { $0.isASCII } == "ABC")
        #expect(try await scratch.engine.documents.missingGlyphs(in: "abc") == [])
        await #expect(throws: MediaError.noGlyphs) {
            try await scratch.engine.documents.textPages("\u{10FFF0}", to: scratch.url("none.pdf"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("none.pdf").path))
    }

    @Test("the same text gives the same bytes") func deterministic() async throws {
        for name in ["a.pdf", "b.pdf"] {
            _ = try await scratch.engine.documents.textPages("Hello мир 你好 😀", locale: "ja", to: scratch.url(name))
        }
        #expect(try Data(contentsOf: scratch.url("a.pdf")) == Data(contentsOf: scratch.url("b.pdf")))
    }

    @Test("too long a text, too many pages") func limits() async throws {
        var limits = MediaLimits()
        limits.textBytes = 20_000
        limits.textPages = 2
        let scratch = try Scratch(limits: limits)
        await #expect(throws: MediaError.tooLarge(.text(limit: 20_000))) {
            try await scratch.engine.documents.textPages(
                String(repeating: "x", count: 20_001),
                to: scratch.url("out.pdf")
            )
        }
        await #expect(throws: MediaError.tooManyPages(limit: 2)) {
            try await scratch.engine.documents.textPages(
                String(repeating: "x\n", count: 1000),
                to: scratch.url("out.pdf")
            )
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
    }
}
