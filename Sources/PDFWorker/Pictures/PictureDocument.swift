import CZlib
import Dispatch
import Foundation
import MediaFormats
import Synchronization

/// A document of pictures, one on each page.
struct PictureDocument {
    /// Bytes of pictures that are processed together. The results of decoders are in memory until they are written.
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
        // If several pictures are damaged, the first one is reported.
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

/// Prepares pictures for writing, on all cores. It checks the pictures of clients, encodes those of a decoder, and
/// finds the parts of each picture's data that are kept.
final class PictureWork: Sendable {
    private let outcomes: Mutex<[Int: Result<EmbeddedPicture, any Error>]> = Mutex([:])
    private let files: [PDFJob.Picture]
    private let keepsMetadata: Bool
    private let secondsPerPicture: Int

    /// Starts the work on some pictures. After a damaged one no further picture is started.
    init(_ files: [PDFJob.Picture], keepsMetadata: Bool, secondsPerPicture: Int) {
        (self.files, self.keepsMetadata, self.secondsPerPicture) = (files, keepsMetadata, secondsPerPicture)
        let firstBroken = Mutex(Int.max)
        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            guard firstBroken.withLock({ index < $0 }) else { return }
            let outcome = Result { try work(on: files[index]) }
            if case .failure = outcome { firstBroken.withLock { $0 = min($0, index) } }
            outcomes.withLock { $0[index] = outcome }
        }
    }

    /// Returns the picture to embed.
    ///
    /// - Throws: ``JobError``, `PictureHeaderError`.
    func result(_ index: Int) throws -> EmbeddedPicture {
        guard let outcome = outcomes.withLock({ $0[index] }) else {
            throw JobError(.other("a picture without a result"))
        }
        return try outcome.get()
    }

    private func work(on file: PDFJob.Picture) throws -> EmbeddedPicture {
        if file.origin == .client { try PictureCheck.run(file.path, seconds: secondsPerPicture) }
        var picture =
            file.origin == .decoder
            ? try EmbeddedPicture.lossless(file.path)
            : try EmbeddedPicture(file: file.path, keepsMetadata: keepsMetadata)
        if let path = file.reduced {
            let reduced = try EmbeddedPicture(file: path, keepsMetadata: keepsMetadata)
            // Lossless encoding keeps lines and letters sharp, so it may need more bytes.
            let most = picture.filter == "/DCTDecode" ? picture.bytes : picture.bytes / 4 * 3
            if reduced.bytes < most { picture = reduced }
        }
        if picture.profile == nil { picture.profile = file.gamma.flatMap { picture.profile(gamma: $0) } }
        picture.pixelAspect = file.pixelAspect
        picture.checksum = picture.data.reduce(0) { sum, part in
            part.withUnsafeBytes { PictureDocumentFile.checksum(of: $0, after: sum) }
        }
        return picture
    }
}

/// Writes a PDF of pictures sequentially (ISO 32000-1 7.5). The data of a picture are copied from its file to the
/// document without a copy in memory. All other documents are written by libqpdf.
final class PictureDocumentFile {
    private static let (catalog, pageTree, information) = (1, 2, 3)

    private let descriptor: Int32
    /// Bytes that were written.
    private var length = 0
    /// The offset of each object; 0 for one that is not written yet.
    private var offsets: [Int]
    private var pages: [Int] = []
    /// Whether the document is PDF/A-2b.
    private var isArchival = true
    /// Checksums of the structure and of the pictures, from which the identity of the document is made.
    private var checksums: (structure: UInt, pictures: UInt) = (0, 0)

    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        offsets = Array(repeating: 0, count: Self.information + 1)
        guard descriptor >= 0 else { throw Self.failure() }
        // The comment marks the file as binary. Samples of 16 bits require this version.
        try write("%PDF-1.5\n%\u{BF}\u{F7}\u{A2}\u{FE}\n")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds a page that shows a picture.
    ///
    /// - Returns: the page with its size after rotation.
    func addPage(with picture: EmbeddedPicture, layout: PageLayout) throws -> PDFPage {
        let placement = PicturePlacement(
            width: picture.shownWidth,
            height: picture.shownHeight,
            pixelAspect: picture.pixelAspect,
            layout: layout
        )
        var entries = "/Type /XObject /Subtype /Image /Width \(picture.width) /Height \(picture.height) "
        entries += "/BitsPerComponent \(picture.bitsPerComponent) /ColorSpace \(try colorSpace(of: picture)) "
        entries += "/Filter \(picture.filter)"
        if let parameters = picture.filterParameters { entries += " /DecodeParms \(parameters)" }
        if picture.isInverted { entries += " /Decode [1 0 1 0 1 0 1 0]" }
        if !picture.isArchival { isArchival = false }
        let image = try stream(entries, picture.data)
        checksums.pictures = [picture.checksum].withUnsafeBytes { Self.checksum(of: $0, after: checksums.pictures) }
        let content = try stream("", [Data(placement.content(picture.orientation).utf8)])
        let resources = "<< /XObject << /Picture \(image) 0 R >> >>"
        pages.append(
            try object(
                "<< /Type /Page /Parent \(Self.pageTree) 0 R /MediaBox \(placement.box) /Resources \(resources) "
                    + "/Contents \(content) 0 R >>"
            )
        )
        let box = [0, 0, placement.pageWidth, placement.pageHeight]
        return PageGeometry(mediaBox: box, cropBox: nil, rotate: 0, userUnit: 1).shown
    }

    /// Writes the common parts of all pages, and the table of objects. The same pictures and title give the same bytes.
    func finish(title: String?) throws {
        let archival = isArchival ? try archivalEntries(title) : ""
        try object("<< /Type /Catalog /Pages \(Self.pageTree) 0 R\(archival) >>", number: Self.catalog)
        let kids = pages.map { "\($0) 0 R" }.joined(separator: " ")
        try object("<< /Type /Pages /Count \(pages.count) /Kids [\(kids)] >>", number: Self.pageTree)
        let name = title.flatMap { $0.isEmpty ? nil : "/Title \(Self.notation($0)) " } ?? ""
        try object("<< \(name)/Producer (Larder) >>", number: Self.information)
        let start = length
        try write("xref\n0 \(offsets.count)\n0000000000 65535 f \n")
        try write(offsets.dropFirst().map { "\(Self.digits($0, 10, radix: 10)) 00000 n \n" }.joined())
        let identity =
            Self.digits(Int(checksums.structure), 8, radix: 16) + Self.digits(Int(checksums.pictures), 8, radix: 16)
            + Self.digits(start, 16, radix: 16)
        let trailer = "/Size \(offsets.count) /Root \(Self.catalog) 0 R /Info \(Self.information) 0 R"
        try write("trailer\n<< \(trailer) /ID [<\(identity)> <\(identity)>] >>\nstartxref\n\(start)\n%%EOF\n")
    }

    private func archivalEntries(_ title: String?) throws -> String {
        guard let sRGB = ICCProfile.sRGB else { return "" }
        let metadata = try stream(ArchivalDocument.metadataEntries, [ArchivalDocument.metadata(title: title)])
        let profile = try stream("/N 3", [sRGB.bytes])
        let intent = "<< \(ArchivalDocument.outputIntent) /DestOutputProfile \(profile) 0 R >>"
        return " /Metadata \(metadata) 0 R /OutputIntents [\(intent)]"
    }

    /// Returns the colour space of the profile, if there is one. Readers without profiles use the alternate space of
    /// the device.
    private func colorSpace(of picture: EmbeddedPicture) throws -> String {
        var base = picture.deviceColorSpace
        if let profile = picture.profile {
            base = "[/ICCBased \(try stream("/N \(picture.components) /Alternate \(base)", [profile.bytes])) 0 R]"
        }
        guard let palette = picture.palette else { return base }
        let colors = palette.map { Self.digits(Int($0), 2, radix: 16) }.joined()
        return "[/Indexed \(base) \(palette.count / 3 - 1) <\(colors)>]"
    }

    /// Writes a stream, and returns its number.
    private func stream(_ entries: String, _ data: [Data]) throws -> Int {
        let number = try begin()
        let length = data.reduce(0) { $0 + $1.count }
        try write("<< \(entries) /Length \(length) >>\nstream\n")
        for part in data { try part.withUnsafeBytes { try write($0) } }
        try write("\nendstream\nendobj\n")
        return number
    }

    /// Writes an object, and returns its number.
    @discardableResult
    private func object(_ content: String, number: Int? = nil) throws -> Int {
        let number = try begin(number)
        try write("\(content)\nendobj\n")
        return number
    }

    private func begin(_ known: Int? = nil) throws -> Int {
        let number = known ?? offsets.count
        if known == nil { offsets.append(0) }
        offsets[number] = length
        try write("\(number) 0 obj\n")
        return number
    }
}

extension PictureDocumentFile {
    /// Writes a part of the structure, one byte per character. All characters are at most U+00FF.
    private func write(_ text: String) throws {
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        try bytes.withUnsafeBytes {
            checksums.structure = Self.checksum(of: $0, after: checksums.structure)
            try write($0)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure() }
            rest = rest.dropFirst(count)
        }
        length += bytes.count
    }

    /// Returns the CRC-32 of bytes that follow others.
    static func checksum(of bytes: UnsafeRawBufferPointer, after previous: UInt = 0) -> UInt {
        crc32_z(previous, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
    }

    /// Returns a text string in PDF notation: UTF-16 with its byte order mark, in hexadecimal digits.
    private static func notation(_ text: String) -> String {
        "<FEFF\(text.utf16.map { digits(Int($0), 4, radix: 16) }.joined())>"
    }

    private static func digits(_ value: Int, _ count: Int, radix: Int) -> String {
        let digits = String(value, radix: radix)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Returns the error of the last system call.
    private static func failure() -> JobError { JobError.machine(String(cString: strerror(errno))) }
}
