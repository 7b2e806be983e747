import Foundation
import Media
import Screens
import TestKit
import Testing

@testable import PDF

@Suite("Limits of a new document") struct DocumentLimitsTests {
    @Test("PDF-04 a file or an upload that is too large is 413; the file is named")
    func largeFiles() async throws {
        let settings: SettingValues = .standard.with(PDFApp.uploadBytes, 1000)
        var limits = MediaLimits()
        (limits.pictureBytes, limits.pdfBytes) = (100, 100)
        try await PDFHarness.run(settings: settings, limits: limits) { app in
            let large = try await app.create([
                PDFHarness.photo("a"), PDFHarness.photo(String(repeating: "x", count: 100), name: "large.jpg"),
            ])
            large.expectProblem("too-large", 413)
            #expect(try large.string("detail").contains("large.jpg"))
            #expect(large["errors.0.pointer"] == "/files/1")
            let exact = PDFHarness.Upload("exact.jpg", PDFHarness.photo(String(repeating: "x", count: 95)).bytes)
            #expect(exact.bytes.count == 100)
            #expect(try await app.create([exact]).status == 201)
            try await app.create(Array(repeating: exact, count: 10)).expectProblem("too-large", 413)
        }
    }

    @Test("PDF-04 too many files or fields of a form are 413, and nothing is kept")
    func manyParts() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.files, 3)) { app in
            for count in [4, 300] {
                let many = try await app.create((1...count).map { PDFHarness.photo("\($0)") })
                many.expectProblem("too-large", 413)
                #expect(many["detail"] == "One request may contain at most 3 files.")
            }
            let field = PDFHarness.Upload(head: "Content-Disposition: form-data; name=\"files\"", Data())
            let response = try await app.create(Array(repeating: field, count: 30))
            response.expectProblem("too-large", 413)
            #expect(response["detail"] == "The form may have 16 fields beside its files at most.")
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("PDF-04 a file with too many pages is 413 and is named, and nothing is kept")
    func manyPages() async throws {
        try await PDFHarness.run(limits: .pages(2)) { app in
            let many = try await app.create([PDFHarness.pdf(["a 0", "b 0", "c 0"], name: "long.pdf")])
            many.expectProblem("too-many-pages", 413)
            #expect(try many.string("detail").contains("long.pdf"))
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("PDF-04 a field that is too large is 413 and is named")
    func largeField() async throws {
        try await PDFHarness.run { app in
            let huge = PDFHarness.Upload(
                head: "Content-Disposition: form-data; name=\"files\"",
                Data(repeating: 0x61, count: 70_000)
            )
            let response = try await app.create([huge, PDFHarness.photo("a")])
            response.expectProblem("too-large", 413)
            #expect(try response.string("detail").contains("Field files has"))
        }
    }
}
