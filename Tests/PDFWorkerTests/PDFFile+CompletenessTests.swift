import Foundation
import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct PDFFileCompletenessTests {
    /// Calls the body with a document of some 80 KB that libqpdf has written.
    private func withDocument(_ body: (String, Data) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString).pdf"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let document = try PDFFile()
        try document.setTitle(String(repeating: "title ", count: 13_000))
        try document.write(to: path) { _ in }
        try body(path, try Data(contentsOf: URL(filePath: path)))
    }

    @Test("PDF-13 TRUST-02 a document that a full disk cuts is an error, though libqpdf reports none") func full() {
        #expect(throws: JobError.self) { try PDFFile().write(to: "/dev/full") { _ in } }
    }

    @Test("PDF-13 TRUST-02 a document that lacks its end is not taken for a whole one") func cut() throws {
        try withDocument { path, whole in
            try PDFFile.requireComplete(path)
            for length in [0, 1, 4096, whole.count / 2, whole.count - 300, whole.count - 20, whole.count - 1] {
                try whole.prefix(length).write(to: URL(filePath: path))
                #expect(throws: JobError.self, "\(length) of \(whole.count) bytes") {
                    try PDFFile.requireComplete(path)
                }
            }
        }
    }

    @Test("PDF-13 TRUST-02 a document that lacks a part within is not taken for a whole one") func hole() throws {
        try withDocument { path, whole in
            let table = try #require(whole.range(of: Data("xref\n0".utf8))?.lowerBound)
            for (start, count) in [(0, 4096), (4096, 4096), (table - 8, 1), (table + 20, 20), (table + 30, 7)] {
                try (whole.prefix(start) + whole.dropFirst(start + count)).write(to: URL(filePath: path))
                #expect(throws: JobError.self, "without \(count) bytes at \(start)") {
                    try PDFFile.requireComplete(path)
                }
            }
        }
    }
}
