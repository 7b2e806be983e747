import Database
import Foundation
import Media

/// Makes one PDF of pictures and PDFs in any order: neighbouring pictures at once, then all parts together.
struct DocumentMaker: Sendable {
    let engine: DocumentEngine
    let store: DocumentStore
    let scratch: ScratchFolder
    let maximumPages: Int

    /// Neighbours among the files that are worked on at once.
    private struct Part {
        var first: Int
        var files: [SourceFile]
        var isPictures: Bool { files[0].format != .pdf }
    }

    /// Makes a document.
    ///
    /// - Parameters:
    ///   - files: the files that its pages are made of, at least one.
    ///   - before: files of the request that belong to earlier documents: errors name positions in the request.
    /// - Returns: what the store inserts; the blob is discarded by the caller if it does not.
    /// - Throws: ``MediaError``; ``MediaError/OfInput`` with the position of the file in the request.
    func make(
        _ files: [SourceFile],
        before: Int,
        name: String,
        layout: PageLayout,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentStore.New {
        let output = scratch.place(".pdf")
        let pages = try await MediaError.OfInput.naming(before, of: files.count) {
            let pages = try await write(files, to: URL(filePath: output.path), layout: layout, progress)
            guard pages.count <= maximumPages else { throw MediaError.tooManyPages(limit: maximumPages) }
            return pages
        }
        guard !pages.isEmpty else {
            throw MediaError.OfInput(index: before, error: .damaged("a document without a page"))
        }
        return .init(name: name, blob: try store.database.blobs.adopt(output), pages: pages)
    }

    private func write(
        _ files: [SourceFile],
        to output: URL,
        layout: PageLayout,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> [DocumentPage] {
        let parts = Self.parts(of: files)
        if parts.count == 1 { return try await write(parts[0], to: output, layout: layout, progress) }
        var places: [TemporaryPath] = []
        var kinds: [DocumentPage.Kind] = []
        for (index, part) in parts.enumerated() {
            let place = scratch.place(".pdf")
            let share = { @Sendable (value: Double) in progress((Double(index) + value) / Double(parts.count + 1)) }
            kinds += try await write(part, to: URL(filePath: place.path), layout: layout, share).map(\.kind)
            places.append(place)
        }
        defer { withExtendedLifetime(places) {} }
        do {
            let summary = try await engine.compose(nil, places.map { URL(filePath: $0.path) }, output) { _ in }
            return zip(summary.pages, kinds).map { DocumentPage($0, kind: $1) }
        } catch let error as MediaError.OfInput {
            // The input is a part that Larder has made, none of the client's files.
            throw error.error
        }
    }

    private static func parts(of files: [SourceFile]) -> [Part] {
        files.enumerated().reduce(into: []) { parts, file in
            if file.element.format != .pdf, let last = parts.last, last.isPictures {
                parts[parts.count - 1].files.append(file.element)
            } else {
                parts.append(Part(first: file.offset, files: [file.element]))
            }
        }
    }

    private func write(
        _ part: Part,
        to output: URL,
        layout: PageLayout,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> [DocumentPage] {
        try await MediaError.OfInput.naming(part.first, of: part.files.count) {
            let urls = part.files.map(\.url)
            let report: DocumentEngine.Progress = { progress($0.fraction) }
            let summary =
                part.isPictures
                ? try await engine.pages(urls.map { .file($0) }, layout, output, report)
                : try await engine.compose(nil, urls, output, report)
            return summary.pages.map { DocumentPage($0, kind: part.isPictures ? .image : .imported) }
        }
    }
}

extension DocumentPage {
    /// A page that was just made, with identities of its own.
    ///
    /// Media describes a page as it is shown. The orientation of a photo is not one of the user's rotations, so that it
    /// counts as none.
    init(_ page: PDFPage, kind: Kind) {
        let isTurned = kind != .image && page.rotation % 180 != 0
        self.init(
            id: DocumentIdentity.random(),
            kind: kind,
            width: isTurned ? page.height : page.width,
            height: isTurned ? page.width : page.height,
            rotation: kind == .image ? 0 : page.rotation,
            content: DocumentIdentity.random()
        )
    }
}
