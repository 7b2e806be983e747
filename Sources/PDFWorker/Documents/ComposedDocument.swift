import Foundation
import MediaFormats

/// A document made of pages of others.
struct ComposedDocument {
    let job: PDFJob.Compose
    /// Whether the sources are text that cairo has drawn.
    var isTypeset = false

    func make() throws -> PDFDocumentSummary {
        let password = ProcessInfo.processInfo.environment[PDFJob.passwordVariable]
        var sources: [PDFFile] = []
        for (index, path) in job.sources.enumerated() {
            try JobError.naming(index) {
                let source = try PDFFile(reading: path, maximumPages: job.maximumPages, password: password)
                sources.append(source)
            }
        }
        let (drawings, losses) = try drawFields(of: sources)
        let pages = try job.pages ?? all(of: sources)
        guard pages.count <= job.maximumPages else { throw JobError(.tooManyPages(limit: job.maximumPages)) }
        guard !pages.isEmpty else { throw JobError(.other("a document must have a page")) }
        let result = try PDFFile()
        let filters = try sources.enumerated().map { index, source in
            try JobError.naming(index) {
                try PageFilter(source, keepsMetadata: job.keepsMetadata, isTypeset: isTypeset)
            }
        }
        try copy(pages, of: sources, filters, to: result)
        if let layered = sources.indices.first(where: { sources[$0].hasLayers }) {
            try result.takeLayers(of: sources[layered], filters[layered])
        }
        let title = job.title ?? sources[0].title()
        try result.setTitle(title)
        let isArchival = try isTypeset || !job.isChecked && sources.allSatisfy { try $0.isArchival() }
        if isArchival { try result.makeArchival(title: title) }
        // The library reads the streams of the sources here, so the drawings must exist until then.
        try withExtendedLifetime(drawings) {
            try result.write(to: job.output) { Messages.send(.progress(done: 50 + $0 / 2, total: 100)) }
        }
        if job.isChecked { try JobError.naming(0) { try DocumentCheck.run(job.output) } }
        var summary = try result.summary()
        summary.wasEncrypted = sources.contains { $0.isEncrypted }
        summary.notices = sources.indices.filter { sources[$0].isRestricted }.map {
            InputNotice(input: $0, kind: .restrictionsRemoved)
        }
        summary.notices += losses
        return summary
    }

    /// Draws the fields of forms in clients' documents. Larder's own documents have none.
    ///
    /// - Returns: The drawings, which must exist until the result is written; the losses of the documents.
    private func drawFields(of sources: [PDFFile]) throws -> (drawings: [PDFFile], losses: [InputNotice]) {
        var (drawings, losses): ([PDFFile], [InputNotice]) = ([], [])
        guard job.isChecked else { return ([], []) }
        for (index, source) in sources.enumerated() {
            try JobError.naming(index) {
                losses += try source.losses().map { InputNotice(input: index, kind: $0) }
                guard let fields = try FormFields(source)?.draw(to: "\(job.output).fields\(index)") else { return }
                if fields.isChanged { losses.append(InputNotice(input: index, kind: .fieldsDrawn)) }
                if let drawing = fields.drawing { drawings.append(drawing) }
            }
        }
        return (drawings, losses)
    }

    private func all(of sources: [PDFFile]) throws -> [ComposedPage] {
        try sources.enumerated().flatMap { index, source in
            try (0..<source.pageCount()).map { ComposedPage(source: index, page: $0 + 1) }
        }
    }

    private func copy(_ pages: [ComposedPage], of sources: [PDFFile], _ filters: [PageFilter], to result: PDFFile)
        throws
    {
        for (position, page) in pages.enumerated() {
            guard sources.indices.contains(page.source) else {
                throw JobError(.other("there is no source \(page.source)"))
            }
            try JobError.naming(page.source) {
                try copy(page, of: sources[page.source], filters[page.source], to: result, at: position)
            }
            if position % 64 == 63 { Messages.send(.progress(done: (position + 1) * 50 / pages.count, total: 100)) }
        }
    }

    private func copy(
        _ page: ComposedPage,
        of source: PDFFile,
        _ filter: PageFilter,
        to result: PDFFile,
        at position: Int
    ) throws {
        guard page.page >= 1, try page.page <= source.pageCount() else { throw JobError(.noSuchPage(page.page)) }
        let original = try source.page(page.page - 1)
        defer { source.release(original) }
        try filter.clean(original)
        try result.add(original, of: source)
        guard PageGeometry.normalized(page.rotateBy) != 0 else { return }
        // The copy is rotated: the same page may be requested twice with different rotations.
        let copy = try result.page(position)
        defer { result.release(copy) }
        try result.rotate(copy, by: page.rotateBy)
    }
}
