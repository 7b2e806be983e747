import Database
import Foundation
import HTTPTypes
import Screens

/// Adds photos, and pages of PDFs, to a document.
struct PhotoPages: Sendable {
    let editor: DocumentEditor
    let maker: DocumentMaker
    let arranger: PageArranger
    let text: TextPages
    let options: PDFApp.Options

    /// `POST …/pages`: a form adds its files, JSON adds a text.
    @Sendable func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        let type = request.headerFields[.contentType]?.lowercased() ?? ""
        return type.hasPrefix("multipart/") ? try await addFiles(request) : try await text.add(request)
    }

    /// The form has `files`, and `at` if they are not to be the last pages.
    private func addFiles(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let parameters = try PageParameters(request.query, options)
        // A problem of the document is reported before the files are read.
        _ = try await editor.lookup.documentToChange(request, profile: profile)
        let quota = options.quota(of: profile)
        try quota.checkRoom(beside: try await editor.lookup.store.usage(profile: profile))
        let upload = try await UploadedFiles.read(request, maker, options)
        let place = try PagePlace(upload.form)
        return try await editor.change(request, titles: upload.files.map(\.title), quota: quota) { document in
            try place.position(in: document)
        } work: { document, position, progress in
            try await add(upload.files, parameters, to: document, at: position, progress)
        } response: { document, added in
            try .changed(document, as: DocumentAdditionScreen(document, added), "pdf.reader")
        }
    }

    private func add(
        _ files: [SourceFile],
        _ parameters: PageParameters,
        to document: Document,
        at position: Int,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> DocumentEditor.Change<AddedPages> {
        let output = maker.scratch.place(".pdf")
        defer { withExtendedLifetime(output) {} }
        let url = URL(filePath: output.path)
        let job = DocumentMaker.Job(files: files, title: document.name, options: parameters.pictures)
        let written = try await maker.write(job, to: url) { progress($0 / 2) }
        let inserted = try await arranger.insert(
            written.pages,
            of: url,
            into: document,
            at: position,
            maximumPages: options.maximumPages
        ) { progress(0.5 + $0 / 2) }
        let notices = written.notices.map { FileNotice($0, files) }
        let added = AddedPages(ids: written.pages.map(\.id), notices: notices)
        return DocumentEditor.Change(file: inserted.file, pages: inserted.pages, detail: added)
    }
}
