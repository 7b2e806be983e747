import Foundation
import MediaFormats

/// A document of pictures, one on each page.
struct PictureDocument {
    /// Bytes of pictures that are worked on together: what a decoder has made is in memory until it is written.
    static let bytesAtATime = 192 << 20

    let job: PDFJob.Pictures

    func make() throws -> PDFDocumentSummary {
        guard !job.files.isEmpty else { throw JobError(.other("a document must have a page")) }
        let sizes = job.files.map { (try? FileBytes(URL(filePath: $0.path)).count) ?? 0 }
        let file = try PictureDocumentFile(path: job.output)
        var pages: [PDFPage] = []
        for part in Self.parts(sizes) { pages += try write(part, to: file) }
        try file.finish(title: job.title)
        return PDFDocumentSummary(pages: pages, title: job.title.flatMap(PDFFile.shownTitle))
    }

    /// Returns ranges of files of about this many bytes, at least one file each.
    static func parts(_ sizes: [Int], atMost limit: Int = bytesAtATime) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, bytes) = (0, 0)
        for (index, size) in sizes.enumerated() {
            if index > start, bytes + size > limit {
                parts.append(start..<index)
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        return parts + [start..<sizes.count]
    }

    /// Writes a part of the document after its pictures were checked.
    private func write(_ files: Range<Int>, to file: PictureDocumentFile) throws -> [PDFPage] {
        let work = PictureWork(
            files.map { job.files[$0] },
            keepsMetadata: job.keepsMetadata,
            secondsPerPicture: job.secondsPerPicture
        )
        // Of several broken pictures the first is reported.
        let pictures = try files.map { index in
            let picture = try JobError.naming(index) { try work.result(index - files.lowerBound) }
            if job.files[index].origin != .encoder {
                Messages.send(.progress(done: index + 1, total: job.files.count))
            }
            return picture
        }
        return try pictures.map { try file.addPage(with: $0, layout: job.layout) }
    }
}
