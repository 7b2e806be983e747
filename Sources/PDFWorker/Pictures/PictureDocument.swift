import Foundation
import MediaFormats

/// A document of pictures, one on each page.
struct PictureDocument {
    /// Bytes of pictures that are in memory at a time. A document of more is written in parts, which are then joined.
    static let bytesAtATime = 192 << 20

    let job: PDFJob.Pictures

    func make() throws -> PDFDocumentSummary {
        guard !job.files.isEmpty else { throw JobError(.other("a document must have a page")) }
        let sizes = job.files.map { (try? FileBytes(URL(filePath: $0.path)).count) ?? 0 }
        let parts = Self.parts(sizes)
        guard parts.count > 1 else {
            let document = try write(job.files.indices, to: job.output, title: job.title)
            return try document.summary()
        }
        var paths: [String] = []
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        for (number, part) in parts.enumerated() {
            let path = "\(job.output).part\(number)"
            paths.append(path)
            _ = try write(part, to: path, title: nil)
        }
        let whole = PDFJob.Compose(
            sources: paths,
            pages: nil,
            title: job.title,
            output: job.output,
            maximumPages: job.files.count,
            // What was to be removed is removed.
            keepsMetadata: true
        )
        return try ComposedDocument(job: whole).make()
    }

    /// Returns ranges of files of about so many bytes, at least one file each.
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
    private func write(_ files: Range<Int>, to path: String, title: String?) throws -> PDFFile {
        let work = PictureWork(files.map { job.files[$0] }, secondsPerPicture: job.secondsPerPicture)
        for index in files {
            // Of several broken pictures the first is reported.
            _ = try JobError.naming(index) { try work.result(index - files.lowerBound) }
            if job.files[index].origin != .encoder {
                Messages.send(.progress(done: index + 1, total: job.files.count))
            }
        }
        let document = try PDFFile()
        for index in files {
            try JobError.naming(index) {
                try document.addPage(with: picture(index, work, files), layout: job.layout)
            }
        }
        try document.setTitle(title)
        try document.write(to: path) { _ in }
        return document
    }

    private func picture(_ index: Int, _ work: PictureWork, _ files: Range<Int>) throws -> EmbeddedPicture {
        guard job.files[index].origin == .decoder else {
            return try EmbeddedPicture(file: job.files[index].path, keepsMetadata: job.keepsMetadata)
        }
        guard let picture = try work.result(index - files.lowerBound) else {
            throw JobError(.other("a picture without a result"))
        }
        return picture
    }
}

extension PDFFile {
    /// Adds a page that shows a picture.
    func addPage(with picture: EmbeddedPicture, layout: PageLayout) throws {
        let placement = PicturePlacement(width: picture.shownWidth, height: picture.shownHeight, layout: layout)
        var entries: [(String, Object)] = [
            ("/Type", try object("/XObject")),
            ("/Subtype", try object("/Image")),
            ("/Width", try object("\(picture.width)")),
            ("/Height", try object("\(picture.height)")),
            ("/BitsPerComponent", try object("\(picture.bitsPerComponent)")),
            ("/ColorSpace", try colorSpace(of: picture)),
        ]
        if picture.isInverted { entries.append(("/Decode", try object("[1 0 1 0 1 0 1 0]"))) }
        let image = try stream(
            picture.data,
            dictionary: entries,
            filter: picture.filter,
            parameters: picture.filterParameters
        )
        let content = try stream(Data(placement.content(picture.orientation).utf8))
        let page = try object("<< /Type /Page /MediaBox \(placement.box) /Resources << /XObject << >> >> >>")
        try set("/Contents", of: page, to: content)
        try set("/Picture", of: try entry("/XObject", of: try entry("/Resources", of: page)), to: image)
        try add(page, of: self)
    }

    /// Returns the colour space of the profile, if there is one; readers without profiles use the alternate of the
    /// device.
    private func colorSpace(of picture: EmbeddedPicture) throws -> Object {
        var base = try object(picture.deviceColorSpace)
        if let profile = picture.profile {
            let components = try object("\(picture.components)")
            let stream = try stream(profile.bytes, dictionary: [("/N", components), ("/Alternate", base)])
            base = try array([try object("/ICCBased"), stream])
        }
        guard let palette = picture.palette else { return base }
        let colors = palette.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return try array([
            try object("/Indexed"), base, try object("\(palette.count / 3 - 1)"), try object("<\(colors)>"),
        ])
    }
}
