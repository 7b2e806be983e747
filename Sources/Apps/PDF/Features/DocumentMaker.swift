import Foundation
import Media
import Storage

/// Makes one PDF of pictures and PDFs in any order: neighbouring pictures at once, then all parts together.
struct DocumentMaker: Sendable {
    let pdf: PDF

    /// The contents of a new file.
    struct Written: Sendable {
        var pages: [DocumentPage]
        /// `input` is the position of the file in the request.
        var notices: [InputNotice]
    }

    /// A document that is not stored yet.
    struct Made: Sendable {
        var document: DocumentStore.New
        var notices: [InputNotice]
    }

    struct Job: Sendable {
        /// The files that the pages are made of, at least one.
        var files: [SourceFile]
        /// Files of the request that belong to earlier documents: errors name positions in the request.
        var before = 0
        var title: String
        var options: PictureOptions
    }

    /// Neighbours among the files that are worked on at once.
    private struct Part {
        var first: Int
        var files: [SourceFile]
        var isPictures: Bool { files[0].format != .pdf }
    }

    /// Makes a document.
    ///
    /// - Returns: the document to insert; the caller discards its file otherwise.
    /// - Throws: the errors of ``write(_:to:_:)``.
    func make(_ job: Job, _ progress: @escaping DocumentJobs.Progress) async throws -> Made {
        let output = pdf.scratch.place(".pdf")
        let written = try await write(job, to: URL(filePath: output.path), progress)
        let file = try pdf.store.stage(output)
        return Made(
            document: DocumentStore.New(name: job.title, file: file, pages: written.pages),
            notices: written.notices
        )
    }

    /// Writes a PDF of the files.
    ///
    /// - Throws: ``MediaError``; ``MediaError/OfInput`` with the position of the file in the request.
    func write(_ job: Job, to output: URL, _ progress: @escaping DocumentJobs.Progress) async throws -> Written {
        var written = try await MediaError.OfInput.naming(job.before, of: job.files.count) {
            let written = try await writeParts(of: job, to: output, progress)
            guard written.pages.count <= pdf.options.maximumPages else {
                throw MediaError.tooManyPages(limit: pdf.options.maximumPages)
            }
            return written
        }
        guard !written.pages.isEmpty else {
            throw MediaError.OfInput(index: job.before, error: .damaged("a document without a page"))
        }
        for index in written.notices.indices { written.notices[index].input += job.before }
        return written
    }

    private func writeParts(of job: Job, to output: URL, _ progress: @escaping DocumentJobs.Progress) async throws
        -> Written
    {
        let parts = Self.parts(of: job.files)
        if parts.count == 1 { return try await write(parts[0], of: job, to: output, progress) }
        var places: [TemporaryPath] = []
        var whole = Written(pages: [], notices: [])
        for (index, part) in parts.enumerated() {
            let place = pdf.scratch.place(".pdf")
            let share = { @Sendable (value: Double) in progress((Double(index) + value) / Double(parts.count + 1)) }
            let written = try await write(part, of: job, to: URL(filePath: place.path), share)
            whole.pages += written.pages
            whole.notices += written.notices
            places.append(place)
        }
        defer { withExtendedLifetime(places) {} }
        let all = DocumentEngine.Composition(sources: places.map { URL(filePath: $0.path) }, title: job.title)
        do {
            let summary = try await pdf.engine.compose(all, output) { _ in }
            whole.pages = zip(summary.pages, whole.pages).map { DocumentPage($0, kind: $1.kind) }
            return whole
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
        of job: Job,
        to output: URL,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> Written {
        try await MediaError.OfInput.naming(part.first, of: part.files.count) {
            let urls = part.files.map(\.url)
            let report: DocumentEngine.Progress = { progress($0.fraction) }
            let imported = DocumentEngine.Composition(
                sources: urls,
                title: job.title,
                isImport: true,
                password: part.files[0].password
            )
            let summary =
                part.isPictures
                ? try await pdf.engine.pages(urls.map { .file($0) }, job.options, job.title, output, report)
                : try await pdf.engine.compose(imported, output, report)
            return Written(
                pages: summary.pages.map { DocumentPage($0, kind: part.isPictures ? .image : .imported) },
                notices: summary.notices.map { InputNotice(input: part.first + $0.input, kind: $0.kind) }
            )
        }
    }
}

extension DocumentPage {
    /// A page that was just made, with identities of its own.
    ///
    /// Media gives the size of a page after rotation. The orientation of a photo is not one of the user's rotations and
    /// is ignored.
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
