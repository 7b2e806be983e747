import Foundation
import TestKit
import Testing

@testable import Media

/// PDF-12: a hostile document can neither crash the server nor hold it past its limits.
@Suite(.timeLimit(.minutes(10))) struct PDFToolHostileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func failure(_ scratch: Scratch, _ bytes: [UInt8]) async throws -> MediaError? {
        let file = try scratch.write(bytes, to: "hostile.pdf")
        do {
            _ = try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
            return nil
        } catch let error as MediaError {
            #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
            #expect(scratch.leftovers.isEmpty)
            return error
        }
    }

    private func isDamaged(_ error: MediaError?) -> Bool {
        if case .damaged = error { true } else { false }
    }

    @Test("PDF-12 documents with a password are encrypted; with an empty one they open, and the result is plain")
    func encrypted() async throws {
        let plain = try scratch.write(PDFFixture(widths: [200]).bytes, to: "plain.pdf")
        for options in [["256"], ["128", "--use-aes=y"], ["40"]] {
            let weak = options == ["256"] ? [] : ["--allow-weak-crypto"]
            try await scratch.tool(
                "qpdf",
                weak + ["--encrypt", "secret", "owner"] + options + ["--", plain.path, scratch.url("locked.pdf").path]
            )
            #expect(try await failure(scratch, Array(Data(contentsOf: scratch.url("locked.pdf")))) == .encrypted)
        }
        try await scratch.tool(
            "qpdf",
            ["--encrypt", "", "owner", "256", "--", plain.path, scratch.url("open.pdf").path]
        )
        let summary = try await scratch.engine.documents.importDocument(
            scratch.url("open.pdf"),
            to: scratch.url("out.pdf")
        )
        #expect(summary.wasEncrypted)
        #expect(summary.pages.count == 1)
        #expect(try await !scratch.engine.documents.inspect(scratch.url("out.pdf")).wasEncrypted)
    }

    @Test("PDF-23 with their password documents of every kind of encryption open, with a wrong one they do not")
    func password() async throws {
        let plain = try scratch.write(PDFFixture(widths: [200]).bytes, to: "plain.pdf")
        for options in [["256"], ["128", "--use-aes=y"], ["40"]] {
            let weak = options == ["256"] ? [] : ["--allow-weak-crypto"]
            let (locked, out) = (scratch.url("locked.pdf"), scratch.url("out.pdf"))
            try await scratch.tool(
                "qpdf",
                weak + ["--encrypt", "пароль 1", "owner"] + options + ["--", plain.path, locked.path]
            )
            for password in ["пароль 1", "owner"] {
                let summary = try await scratch.engine.documents.compose(
                    nil,
                    of: [locked],
                    isImport: true,
                    password: password,
                    to: out
                )
                #expect(summary.pages.count == 1, "\(options)")
                #expect(try await !scratch.engine.documents.inspect(out).wasEncrypted)
            }
            await #expect(throws: MediaError.encrypted) {
                _ = try await scratch.engine.documents.compose(nil, of: [locked], password: "wrong", to: out)
            }
        }
    }

    @Test("PDF-12 cut, empty and foreign files", arguments: [0, 4, 20, 300, 5000]) func cut(length: Int) async throws {
        let whole = PDFFixture(widths: Array(repeating: 200, count: 100)).bytes
        let error = try await failure(scratch, Array(whole.prefix(length)))
        #expect(
            length < 5 ? error == .unsupported("a file that does not begin as a PDF does") : isDamaged(error),
            "\(String(describing: error))"
        )
    }

    @Test("PDF-12 a file that is something else as well is rewritten, so that nothing else is left in it")
    func polyglots() async throws {
        let pdf = PDFFixture(widths: [200]).bytes
        for (before, after) in [
            ("<html><script>alert(0)</script>", ""), ("", "PK\u{3}\u{4}<script>alert(1)</script>"),
        ] {
            let file = try scratch.write(Array(before.utf8) + pdf + Array(after.utf8), to: "both.pdf")
            _ = try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
            let bytes = try Data(contentsOf: scratch.url("out.pdf"))
            #expect(bytes.starts(with: Data("%PDF-".utf8)) && bytes.range(of: Data("<script>".utf8)) == nil)
        }
    }

    @Test("PDF-12 page lists that run in circles, nest without end, or lie") func pageTrees() async throws {
        let circle = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Pages /Kids [2 0 R] /Parent 2 0 R /Count 1 >>",
        ])
        #expect(isDamaged(try await failure(scratch, circle.bytes)))
        var doubling = ["<< /Type /Catalog /Pages 2 0 R >>"]
        for level in 2..<40 { doubling.append("<< /Type /Pages /Kids [\(level + 1) 0 R \(level + 1) 0 R] /Count 2 >>") }
        doubling.append("<< /Type /Page /MediaBox [0 0 10 10] >>")
        let error = try await failure(scratch, PDFFixture(doubling).bytes)
        #expect(error != nil, "2³⁸ pages")
        let lie = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>",
        ])
        let file = try scratch.write(lie.bytes, to: "lie.pdf")
        #expect(try await scratch.engine.documents.inspect(file).pages.count == 1)
        let none = PDFFixture(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"])
        #expect(try await failure(scratch, none.bytes) == .damaged("the document has no pages"))
        var deep = ["<< /Type /Catalog /Pages 2 0 R >>"]
        for level in 2..<3000 { deep.append("<< /Type /Pages /Kids [\(level + 1) 0 R] /Count 1 >>") }
        deep.append("<< /Type /Page /MediaBox [0 0 10 10] >>")
        _ = try await failure(scratch, PDFFixture(deep).bytes)
    }

    @Test("PDF-12 a million pages are counted, not read") func million() async throws {
        let pdf = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [\(String(repeating: "3 0 R ", count: 1_000_000))] /Count 1000000 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>",
        ])
        let error = try await failure(scratch, pdf.bytes)
        #expect(error == .tooManyPages(limit: 5000), "\(String(describing: error))")
    }

    @Test("PDF-12 the limit of pages is that of settings, and holds for what is composed") func pages() async throws {
        var limits = MediaLimits()
        limits.pdfPages = 3
        let scratch = try Scratch(limits: limits)
        #expect(try await failure(scratch, PDFFixture(widths: [1, 2, 3, 4]).bytes) == .tooManyPages(limit: 3))
        let file = try scratch.write(PDFFixture(widths: [10, 20]).bytes, to: "two.pdf")
        await #expect(throws: MediaError.tooManyPages(limit: 3)) {
            try await scratch.engine.documents.merge([file, file], to: scratch.url("out.pdf"))
        }
        await #expect(throws: MediaError.tooManyPages(limit: 3)) {
            try await scratch.engine.documents.keep([1, 1, 1, 1], of: file, to: scratch.url("out.pdf"))
        }
    }

    @Test("PDF-12 a Flate bomb ends at a limit") func flateBomb() async throws {
        var limits = MediaLimits()
        limits.pdfWorker.processor = .seconds(2)
        let scratch = try Scratch(limits: limits)
        // Three times compressed: 1 GB of spaces in some kilobytes.
        let once = PictureFixtures.deflated([UInt8](repeating: 0x20, count: 1 << 28))
        let bomb = PictureFixtures.deflated(PictureFixtures.deflated(once + once))
        var pdf = PDFFixture(widths: [200])
        pdf.objects[3] = PDFFixture.stream(bomb, "/Filter [/FlateDecode /FlateDecode /FlateDecode]")
        let error = try await failure(scratch, pdf.bytes)
        #expect(
            error == .timedOut(.pdfWorker) || error == .tooLarge(.memory(limit: limits.pdfWorker.memory)),
            "\(String(describing: error))"
        )
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("PDF-12 a page that is never done drawing is a time-out") func operatorBomb() async throws {
        var limits = MediaLimits()
        limits.pdftoppm.processor = .seconds(1)
        let scratch = try Scratch(limits: limits)
        // Forms that draw the next one ten times: 10¹² fills of a page.
        var objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"]
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 500 500] /Contents 4 0 R "
                + "/Resources << /XObject << /F 5 0 R >> >> >>"
        )
        var pdf = PDFFixture(objects)
        pdf.objects.append(PDFFixture.stream(Array("/F Do".utf8)))
        for level in 0..<12 {
            let content = level == 11 ? "0 0 500 500 re f" : String(repeating: "/F Do ", count: 10)
            let next = level == 11 ? "" : "/Resources << /XObject << /F \(6 + level) 0 R >> >>"
            pdf.objects.append(
                PDFFixture.stream(Array(content.utf8), "/Type /XObject /Subtype /Form /BBox [0 0 500 500] \(next)")
            )
        }
        let file = try scratch.write(pdf.bytes, to: "bomb.pdf")
        #expect(try await scratch.engine.documents.inspect(file).pages.count == 1)
        await #expect(throws: MediaError.timedOut(.pdftoppm)) {
            try await scratch.engine.pages.picture(of: 1, in: file, width: 500)
        }
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("PDF-12 a cross-reference stream that swells ends at a limit, with a typed error") func crossReferenceBomb()
        async throws
    {
        var limits = MediaLimits()
        limits.pdfWorker.memory = 512 << 20
        let scratch = try Scratch(limits: limits)
        let once = PictureFixtures.deflated([UInt8](repeating: 0, count: 1 << 28))
        let bomb = PictureFixtures.deflated(once + once + once + once)
        var file = Array("%PDF-1.7\n".utf8)
        let start = file.count
        let entries = "/Type /XRef /Size 178956970 /W [1 4 1] /Root 1 0 R /Filter [/FlateDecode /FlateDecode]"
        file +=
            Array("9 0 obj\n".utf8) + PDFFixture.stream(bomb, entries)
            + Array("\nendobj\nstartxref\n\(start)\n%%EOF\n".utf8)
        let error = try #require(try await failure(scratch, file))
        switch error {
        case .tooLarge(.memory), .damaged, .timedOut, .crashed: break
        default: Issue.record("\(error)")
        }
    }

    @Test("PDF-12 deeply nested objects, senseless boxes, endless strings") func odds() async throws {
        var pdf = PDFFixture(widths: [200])
        pdf.objects.append(
            Array((String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)).utf8)
        )
        pdf.trailer += " /Info 5 0 R"
        _ = try await failure(scratch, pdf.bytes)
        func odd(_ box: String) throws -> URL {
            let odd = PDFFixture([
                "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                "<< /Type /Page /Parent 2 0 R /MediaBox \(box) >>",
            ])
            return try scratch.write(odd.bytes, to: "odd.pdf")
        }
        // The library reads an object with a number of more than 64 bits as null, so that there is no page.
        let lost = try odd("[99999999999999999999 0 10 10]")
        await #expect(throws: MediaError.damaged("a page is missing")) {
            try await scratch.engine.documents.inspect(lost)
        }
        for box in ["[0 0 0 0]", "[0 0 1e400 10]", "[nan 0 10 10]", "[0 0 -10]", "(box)"] {
            let file = try odd(box)
            let page = try await scratch.engine.documents.inspect(file).pages[0]
            #expect(page.width > 0 && page.height > 0 && page.width.isFinite, "\(box)")
        }
        let titled = PDFFixture(widths: [200])
        var long = titled
        long.objects.append(Array("<< /Title (\(String(repeating: "t", count: 1_000_000))\u{0}\u{7}) >>".utf8))
        long.trailer += " /Info 5 0 R"
        let summary = try await scratch.engine.documents.inspect(scratch.write(long.bytes, to: "long.pdf"))
        #expect(summary.title?.count == 1000)
    }

    @Test("PDF-12 no mutated document does more than fail with a type") func mutations() async throws {
        let whole = PDFFixture(widths: [200, 300], content: "0 0 10 10 re f").bytes
        var random = SeededRandom(seed: 42)
        for _ in 0..<25 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                bytes[Int.random(in: 5..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let file = try scratch.write(bytes, to: "mutated.pdf")
            do { _ = try await scratch.engine.documents.importDocument(file, to: scratch.url("m.pdf")) } catch let error
                as MediaError
            {
                switch error {
                case .damaged, .encrypted, .tooLarge, .tooManyPages: break
                default: Issue.record("\(error)")
                }
            }
        }
    }
}
