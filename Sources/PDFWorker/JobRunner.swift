import Foundation
import MediaFormats

/// Runs a job.
struct JobRunner {
    let job: PDFJob

    func run() throws -> PDFDocumentSummary {
        switch job {
        case .pictures(let job): try PictureDocument(job: job).make()
        case .compose(let job): try ComposedDocument(job: job).make()
        case .text(let job): try text(job)
        case .inspect(let job): try PDFFile(reading: job.file, maximumPages: job.maximumPages).summary()
        case .glyphs(let text): PDFDocumentSummary(pages: [], missingGlyphs: try TextPages.missingCharacters(of: text))
        }
    }

    private func text(_ job: PDFJob.Text) throws -> PDFDocumentSummary {
        let drawn = job.output + ".drawn"
        defer { try? FileManager.default.removeItem(atPath: drawn) }
        let missing = try TextPages(text: job.text, locale: job.locale, maximumPages: job.maximumPages).draw(to: drawn)
        // qpdf writes it again: cairo writes some resources twice, and a creation date, by which each result would be
        // different.
        let clean = PDFJob.Compose(
            sources: [drawn],
            pages: nil,
            title: job.title ?? "",
            output: job.output,
            maximumPages: job.maximumPages
        )
        var summary = try ComposedDocument(job: clean).make()
        summary.missingGlyphs = missing
        return summary
    }
}
