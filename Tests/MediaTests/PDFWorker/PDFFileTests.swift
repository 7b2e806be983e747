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

@Suite struct PageGeometryTests {
    private func page(_ media: [Double]?, crop: [Double]? = nil, rotate: Int = 0, unit: Double = 1) -> PDFPage {
        PageGeometry(mediaBox: media, cropBox: crop, rotate: rotate, userUnit: unit).shown
    }

    @Test("the crop box is what is shown, as far as it lies within the media box") func boxes() {
        #expect(page([0, 0, 595, 842]) == PDFPage(width: 595, height: 842, rotation: 0))
        #expect(page([0, 0, 595, 842], crop: [100, 100, 300, 200]) == PDFPage(width: 200, height: 100, rotation: 0))
        #expect(page([0, 0, 100, 100], crop: [-50, 50, 500, 500]) == PDFPage(width: 100, height: 50, rotation: 0))
        #expect(page([0, 0, 100, 100], crop: [200, 200, 300, 300]) == PDFPage(width: 100, height: 100, rotation: 0))
        #expect(page([10, 20, 110, 220]) == PDFPage(width: 100, height: 200, rotation: 0))
    }

    @Test("corners may be given in any order") func corners() {
        #expect(page([595, 842, 0, 0]) == PDFPage(width: 595, height: 842, rotation: 0))
        #expect(page([0, 842, 595, 0]) == PDFPage(width: 595, height: 842, rotation: 0))
    }

    @Test(
        "an unusable size is US Letter",
        arguments: [nil, [0, 0, 0, 0], [0, 0, .nan, 5], [0, 0, .infinity, 5], [0, 0, 1e9, 5], [1, 2, 3]] as [[Double]?]
    )
    func unusable(box: [Double]?) {
        #expect(page(box) == PDFPage(width: 612, height: 792, rotation: 0))
    }

    @Test("turned pages are as wide as they were high") func turned() {
        #expect(page([0, 0, 100, 200], rotate: 90) == PDFPage(width: 200, height: 100, rotation: 90))
        #expect(page([0, 0, 100, 200], rotate: -90) == PDFPage(width: 200, height: 100, rotation: 270))
        #expect(page([0, 0, 100, 200], rotate: 540) == PDFPage(width: 100, height: 200, rotation: 180))
        #expect(page([0, 0, 100, 200], rotate: 45) == PDFPage(width: 100, height: 200, rotation: 0))
    }

    @Test("turns add up modulo 360") func adding() {
        #expect([0, 90, 360, 450, -90, -450, 37].map(PageGeometry.normalized) == [0, 90, 0, 90, 270, 270, 0])
        #expect(PageGeometry.normalized(Int.min) == 0)
    }

    @Test("user units enlarge; senseless ones do not count") func units() {
        #expect(page([0, 0, 100, 200], unit: 2) == PDFPage(width: 200, height: 400, rotation: 0))
        #expect(page([0, 0, 100, 200], unit: -1) == PDFPage(width: 100, height: 200, rotation: 0))
        #expect(page([0, 0, 100, 200], unit: .nan) == PDFPage(width: 100, height: 200, rotation: 0))
    }
}
