import Foundation
import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct PDFJobTests {
    @Test("jobs and messages survive their JSON") func roundTrip() throws {
        let jobs: [PDFJob] = [
            .pictures(
                .init(
                    files: [.init(path: "a \"b\" [c].jpg", origin: .client), .init(path: "b", origin: .decoder)],
                    layout: .a4,
                    title: "Ünïcode 😀",
                    output: "o.pdf"
                )
            ),
            .compose(
                .init(
                    sources: ["a", "b"],
                    pages: [ComposedPage(source: 1, page: 2, rotateBy: -90)],
                    title: nil,
                    output: "o",
                    maximumPages: 5000
                )
            ),
            .text(.init(text: "a\nb\u{0}", locale: "ja", title: nil, output: "o", maximumPages: 500)),
            .inspect(.init(file: "f", maximumPages: 1)),
            .glyphs(text: "x"),
        ]
        for job in jobs { #expect(try JSONDecoder().decode(PDFJob.self, from: JSONEncoder().encode(job)) == job) }
        let messages: [PDFWorkerMessage] = [
            .progress(done: 1, total: 2),
            .done(
                PDFDocumentSummary(
                    pages: [PDFPage(width: 1, height: 2.5, rotation: 90)],
                    title: "t\n",
                    wasEncrypted: true,
                    missingGlyphs: ["ᚠ"]
                )
            ),
            .failed(.damaged("x\ny"), input: 3), .failed(.encrypted, input: nil),
            .failed(.tooManyPages(limit: 1), input: nil),
            .failed(.noSuchPage(0), input: 0), .failed(.timedOut, input: 1),
        ]
        for message in messages {
            let line = try JSONEncoder().encode(message)
            #expect(!line.contains(0x0A))
            #expect(try JSONDecoder().decode(PDFWorkerMessage.self, from: line) == message)
        }
    }
}

@Suite struct JobErrorTests {
    @Test("an error names the file that it is about, unless the machine is at fault") func naming() {
        #expect(throws: JobError(.encrypted, input: 2)) { try JobError.naming(2) { throw JobError(.encrypted) } }
        #expect(throws: JobError(.encrypted, input: 1)) {
            try JobError.naming(2) { throw JobError(.encrypted, input: 1) }
        }
        #expect(throws: JobError(.other("disk"))) { try JobError.naming(2) { throw JobError(.other("disk")) } }
        #expect(throws: JobError(.damaged("the picture ends too early"), input: 0)) {
            try JobError.naming(0) { throw PictureHeaderError.truncated }
        }
    }
}
