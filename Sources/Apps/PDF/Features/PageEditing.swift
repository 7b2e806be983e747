import Concurrency
import Foundation
import HTTP
import JSONValues
import Media
import Screens
import Storage

/// Deletes, rotates and reorders the pages of a document.
struct PageEditing: Sendable {
    let pdf: PDF

    /// A page of the changed document: its position before the change, and its rotation by the change, in degrees
    /// clockwise.
    private struct Step: Sendable, Equatable {
        var page: Int
        var rotation = 0
    }

    /// `DELETE …/pages/{page_id}`, with `?permanently` also of earlier versions. That of a document with one page is
    /// 409.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        let effect: DocumentStore.Effect = try request.query.flag("permanently") ? .erasure : .change
        return try await delete(request, effect: effect) { [try $0.index(of: id)] }
    }

    /// `POST …/pages/delete {"pages"}`: these pages by one change, but not all.
    @Sendable func deleteSome(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let wanted = try PageList(try await request.jsonObject())
        return try await delete(request, wanted.indices(in:))
    }

    private func delete(
        _ request: ScreenRequest,
        effect: DocumentStore.Effect = .change,
        _ choose: @escaping @Sendable (Document) throws -> [Int]
    ) async throws -> ScreenResponse {
        try await change(request, effect: effect) { document in
            let deleted = Set(try choose(document))
            guard deleted.count < document.pages.count else {
                let href = DocumentProperties.href(document.id)
                throw Problem(.lastPage, "A document keeps at least one page; DELETE \(href) deletes the document.")
            }
            return document.pages.indices.filter { !deleted.contains($0) }.map { Step(page: $0) }
        }
    }

    /// `PATCH …/pages/{page_id} {"rotate_by"}`: clockwise, added to the page's rotation.
    @Sendable func rotate(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        _ = try request.profile()
        guard let degrees = try await request.jsonObject().values["rotate_by"]?.int, degrees % 90 == 0
        else {
            throw Problem.validation([
                .field("/rotate_by", "invalid", "rotate_by must be a multiple of 90, in degrees clockwise.")
            ])
        }
        let rotation = ((degrees % 360) + 360) % 360
        return try await change(request) { document in
            let index = try document.index(of: id)
            return document.pages.indices.map { Step(page: $0, rotation: $0 == index ? rotation : 0) }
        }
    }

    /// `PUT …/pages/order {"pages"}`: all pages, each once.
    @Sendable func reorder(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let wanted = try PageList(try await request.jsonObject())
        return try await change(request) { document in
            let indices = try wanted.indices(in: document)
            guard indices.count == document.pages.count else {
                let missing = document.pages.count - indices.count
                let detail: Text =
                    "pages must name all \(document.pages.count) pages of the document; \(missing) are missing."
                throw Problem.validation([.field("/pages", "incomplete", detail)])
            }
            return indices.map { Step(page: $0) }
        }
    }

    private func change(
        _ request: ScreenRequest,
        effect: DocumentStore.Effect = .change,
        _ plan: @escaping @Sendable (Document) throws -> [Step]
    ) async throws -> ScreenResponse {
        try await pdf.editor.change(request, effect: effect) { document in
            let steps = try plan(document)
            // No new file if the order is not changed.
            return steps == document.pages.indices.map { Step(page: $0) } ? nil : steps
        } work: { document, steps, progress in
            let pages = steps.map { ComposedPage(page: $0.page + 1, rotateBy: $0.rotation) }
            return DocumentEditor.Change(
                file: try await pdf.arranger.write(pages, of: [document], title: document.name, progress),
                pages: steps.map { document.pages[$0.page].turned(by: $0.rotation) }
            )
        }
    }
}

/// Writes pages of documents to a new file.
struct PageArranger: Sendable {
    let pdf: PDF

    /// Writes a file of these pages, for a document that is changed or made next.
    ///
    /// - Parameters:
    ///   - pages: `source` is a position among the files.
    ///   - files: the files of documents, and new pages.
    ///   - title: the title of the PDF.
    /// - Throws: ``MediaError``.
    func write(
        _ pages: [ComposedPage],
        of files: [URL],
        title: String,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> Blob {
        let output = pdf.scratch.place(".pdf")
        let composition = DocumentEngine.Composition(pages: pages, sources: files, title: title)
        _ = try await pdf.engine.compose(composition, URL(filePath: output.path)) { progress($0.fraction) }
        return try pdf.store.stage(output)
    }

    /// Writes a file of pages of these documents.
    ///
    /// - Throws: ``MediaError``; `DocumentStore.Gone` if one of them has another file by now.
    func write(
        _ pages: [ComposedPage],
        of documents: [Document],
        title: String,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> Blob {
        var files: [TemporaryPath] = []
        for document in documents { files.append(try await pdf.store.file(of: document, in: pdf.scratch)) }
        defer { withExtendedLifetime(files) {} }
        return try await write(pages, of: files.map { URL(filePath: $0.path) }, title: title, progress)
    }

    /// - Parameter position: of the first of them in the document, from 0.
    /// - Throws: ``MediaError``; `DocumentStore.Gone` if the document has another file by now.
    func insert(
        _ new: AddedPages,
        of file: URL,
        into document: Document,
        at position: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentEditor.Change {
        guard document.pages.count + new.pages.count <= pdf.options.maximumPages else {
            throw MediaError.tooManyPages(limit: pdf.options.maximumPages)
        }
        var sources = document.pages.indices.map { ComposedPage(page: $0 + 1) }
        sources.insert(contentsOf: new.pages.indices.map { ComposedPage(source: 1, page: $0 + 1) }, at: position)
        var pages = document.pages
        pages.insert(contentsOf: new.pages, at: position)
        let old = try await pdf.store.file(of: document, in: pdf.scratch)
        defer { withExtendedLifetime(old) {} }
        let files = [URL(filePath: old.path), file]
        let written = try await write(sources, of: files, title: document.name, progress)
        return DocumentEditor.Change(file: written, pages: pages, added: new)
    }
}

/// The pages that the body of a request names by their ids, `{"pages": […]}`.
struct PageList: Sendable {
    private let ids: [String]

    /// Reads the field `pages`.
    ///
    /// - Throws: ``Problem``, 422 if it is not a list of at least one id.
    init(_ fields: JSONFields) throws {
        guard let ids = try fields.strings("pages"), !ids.isEmpty else {
            throw Problem.validation([.field("/pages", "required", .choosePages)])
        }
        self.ids = ids
    }

    /// Returns the positions of the pages in a document, from 0, in the order of the list.
    ///
    /// - Throws: ``Problem``, 422 that names each id that is unknown or there twice, at most 20.
    func indices(in document: Document) throws -> [Int] {
        let places = Dictionary(document.pages.enumerated().map { ($1.id, $0) }) { first, _ in first }
        var seen: Set<String> = []
        var errors: [Problem.FieldError] = []
        var indices: [Int] = []
        for (position, id) in ids.enumerated() {
            guard let index = places[id] else {
                errors.append(.field("/pages/\(position)", "unknown", .pageIsGone))
                continue
            }
            if !seen.insert(id).inserted {
                errors.append(.field("/pages/\(position)", "duplicate", "pages[\(position)] is there twice."))
            }
            indices.append(index)
        }
        guard errors.isEmpty else { throw Problem.validation(Array(errors.prefix(20))) }
        return indices
    }
}
