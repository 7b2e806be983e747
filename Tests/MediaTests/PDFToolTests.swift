import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PDFToolTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func source(
        _ scratch: Scratch,
        _ widths: [Int],
        _ name: String = "in.pdf",
        content: String = "",
        title: String? = nil
    ) throws -> URL {
        var pdf = PDFFixture(widths: widths, content: content)
        if let title {
            pdf.objects.append(Array("<< /Title (\(title)) >>".utf8))
            pdf.trailer += " /Info \(pdf.objects.count) 0 R"
        }
        return try scratch.write(pdf.bytes, to: name)
    }

    private func widths(_ summary: PDFDocumentSummary) -> [Double] { summary.pages.map(\.width) }

    @Test("a document's pages, sizes, rotations and title are returned") func inspect() async throws {
        let file = try source(scratch, [200, 300], title: "Of old")
        let summary = try await scratch.engine.documents.inspect(file)
        #expect(
            summary
                == PDFDocumentSummary(
                    pages: [
                        PDFPage(width: 200, height: 100, rotation: 0), PDFPage(width: 300, height: 100, rotation: 0),
                    ],
                    title: "Of old"
                )
        )
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("PDF-06 exactly the page that is deleted goes, and its content with it") func delete() async throws {
        var pdf = PDFFixture(widths: [200, 300, 400])
        for page in 0..<3 { pdf.objects[3 + 2 * page] = PDFFixture.stream(Array("% content of \(page)\n".utf8)) }
        // An outline that refers to the removed page: it must not keep it.
        pdf.objects[0] = Array(
            "<< /Type /Catalog /Pages 2 0 R /Outlines << /Count 1 /First 9 0 R /Last 9 0 R >> >>".utf8
        )
        pdf.objects.append(Array("<< /Title (x) /Dest [5 0 R /Fit] >>".utf8))
        let file = try scratch.write(pdf.bytes, to: "in.pdf")
        let summary = try await scratch.engine.documents.keep([1, 3], of: file, to: scratch.url("out.pdf"))
        #expect(widths(summary) == [200, 400])
        try await scratch.check(scratch.url("out.pdf"))
        let bytes = try Data(contentsOf: scratch.url("out.pdf"))
        #expect(bytes.range(of: Data("content of 0".utf8)) != nil)
        #expect(bytes.range(of: Data("content of 1".utf8)) == nil)
        #expect(try await scratch.engine.documents.inspect(file).pages.count == 3)
    }

    @Test("PDF-10 rotations add up, survive a merge, and are visible") func rotate() async throws {
        let picture = try await scratch.picture(.quadrants(), "a.jpg[Q=95]")
        _ = try await scratch.engine.documents.pages(of: [.file(picture)], to: scratch.url("a.pdf"))
        let once = try await scratch.engine.documents.compose(
            [ComposedPage(page: 1, rotateBy: 90)],
            of: [scratch.url("a.pdf")],
            to: scratch.url("b.pdf")
        )
        #expect(once.pages == [PDFPage(width: 64, height: 96, rotation: 90)])
        let drawn = try await scratch.drawn(scratch.url("b.pdf"))
        #expect((drawn.width, drawn.height) == (64, 96))
        #expect(drawn.at(0.2, 0.2).isNear(.blue, 20) && drawn.at(0.8, 0.2).isNear(.red, 20))
        let back = try await scratch.engine.documents.compose(
            [ComposedPage(page: 1, rotateBy: -450)],
            of: [scratch.url("b.pdf")],
            to: scratch.url("c.pdf")
        )
        #expect(back.pages[0].rotation == 0)
        let merged = try await scratch.engine.documents.merge(
            [scratch.url("b.pdf"), scratch.url("a.pdf")],
            to: scratch.url("d.pdf")
        )
        #expect(merged.pages.map(\.rotation) == [90, 0])
        try await scratch.check(scratch.url("d.pdf"))
    }

    @Test("PDF-11 pages come in any order, a page twice, turned differently") func reorder() async throws {
        let file = try source(scratch, [200, 300, 400])
        let pages = [ComposedPage(page: 3), ComposedPage(page: 1), ComposedPage(page: 3, rotateBy: 90)]
        let summary = try await scratch.engine.documents.compose(pages, of: [file], to: scratch.url("out.pdf"))
        #expect(
            summary.pages == [
                PDFPage(width: 400, height: 100, rotation: 0), PDFPage(width: 200, height: 100, rotation: 0),
                PDFPage(width: 100, height: 400, rotation: 90),
            ]
        )
        try await scratch.check(scratch.url("out.pdf"))
        #expect(try await scratch.engine.documents.inspect(scratch.url("out.pdf")).pages == summary.pages)
    }

    @Test("PDF-08 a merge has all pages of the first, then of the second, and leaves both alone") func merge()
        async throws
    {
        let first = try source(scratch, [200, 300], "a.pdf", title: "First")
        let second = try source(scratch, [400], "b.pdf", title: "Second")
        let before = try [Data(contentsOf: first), Data(contentsOf: second)]
        let summary = try await scratch.engine.documents.merge([first, second], to: scratch.url("out.pdf"))
        #expect(widths(summary) == [200, 300, 400])
        #expect(summary.title == "First")
        #expect(try [Data(contentsOf: first), Data(contentsOf: second)] == before)
        try await scratch.check(scratch.url("out.pdf"))
        let named = try await scratch.engine.documents.merge(
            [first, second],
            title: "Ёлки 🎄",
            to: scratch.url("out.pdf")
        )
        #expect(named.title == "Ёлки 🎄")
        #expect(try await scratch.engine.documents.inspect(scratch.url("out.pdf")).title == "Ёлки 🎄")
        let untitled = try await scratch.engine.documents.merge([first, second], title: "", to: scratch.url("out.pdf"))
        #expect(untitled.title == nil)
    }

    @Test("what a layer hides stays hidden; progress ends at the end") func layers() async throws {
        var pdf = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [5 0 R] /D << /OFF [5 0 R] /Order [5 0 R] >> >> >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R "
                + "/Resources << /Properties << /L 5 0 R >> >> >>",
        ])
        pdf.objects.append(PDFFixture.stream(Array("/OC /L BDC 0 0 100 100 re f EMC".utf8)))
        pdf.objects.append(Array("<< /Type /OCG /Name (Hidden) >>".utf8))
        let steps = ProgressLog()
        _ = try await scratch.engine.documents.importDocument(
            scratch.write(pdf.bytes, to: "in.pdf"),
            to: scratch.url("out.pdf")
        ) { steps.add($0) }
        try await scratch.check(scratch.url("out.pdf"))
        #expect(try await scratch.drawn(scratch.url("out.pdf")).at(0.5, 0.5).isNear(.white))
        #expect(steps.all.last == JobProgress(done: 100, total: 100))
        #expect(steps.all.map(\.done) == steps.all.map(\.done).sorted())
    }

    @Test("inherited boxes, turns and resources stay with their pages") func inherited() async throws {
        let pdf = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 222 111] /Rotate 90 "
                + "/Resources << /ProcSet [/PDF] >> >>",
            "<< /Type /Page /Parent 2 0 R >>",
            "<< /Type /Page /Parent 2 0 R /Rotate 0 /CropBox [0 0 50 50] >>",
        ])
        let summary = try await scratch.engine.documents.importDocument(
            scratch.write(pdf.bytes, to: "in.pdf"),
            to: scratch.url("out.pdf")
        )
        #expect(
            summary.pages == [
                PDFPage(width: 111, height: 222, rotation: 90), PDFPage(width: 50, height: 50, rotation: 0),
            ]
        )
        try await scratch.check(scratch.url("out.pdf"))
    }

    @Test("the same job gives the same bytes; a result is one of its own inputs when it is composed again")
    func deterministic() async throws {
        let file = try source(scratch, [200, 300])
        _ = try await scratch.engine.documents.importDocument(file, title: "T", to: scratch.url("a.pdf"))
        _ = try await scratch.engine.documents.importDocument(file, title: "T", to: scratch.url("b.pdf"))
        #expect(try Data(contentsOf: scratch.url("a.pdf")) == Data(contentsOf: scratch.url("b.pdf")))
        _ = try await scratch.engine.documents.keep([2], of: scratch.url("a.pdf"), to: scratch.url("a.pdf"))
        #expect(widths(try await scratch.engine.documents.inspect(scratch.url("a.pdf"))) == [300])
    }

    @Test("pages that are not there are named; what was at the destination stays") func noSuchPage() async throws {
        let file = try source(scratch, [200, 300])
        let destination = try scratch.write(Array("before".utf8), to: "out.pdf")
        await #expect(throws: MediaError.noSuchPage(3)) {
            try await scratch.engine.documents.keep([1, 3], of: file, to: destination)
        }
        await #expect(throws: MediaError.noSuchPage(0)) {
            try await scratch.engine.documents.keep([0], of: file, to: destination)
        }
        #expect(try Data(contentsOf: destination) == Data("before".utf8))
    }
}
