import Concurrency
import Foundation
import HTTP
import HTTPTypes
import JSONValues
import Media
import Screens
import Server
import Storage

/// Adds pages to a document: photos, pages of PDFs, and dictated text on pages of its own.
struct PageAddition: Sendable {
    let pdf: PDF

    /// `POST …/pages`: a form adds its files, JSON adds a text.
    @Sendable func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        let type = request.headerFields[.contentType]?.lowercased() ?? ""
        return type.hasPrefix("multipart/") ? try await addFiles(request) : try await addText(request)
    }

    /// The form has `files`, and `at` if they are not to be the last pages.
    private func addFiles(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let parameters = try PageParameters(request.query, pdf.options)
        // A problem of the document is reported before the files are read.
        _ = try await pdf.lookup.documentToChange(request, profile: profile)
        try pdf.options.quota(of: profile).checkPages(beside: try pdf.store.usage(profile: profile))
        let upload = try await UploadedFiles.read(request, pdf)
        let files = upload.files
        return try await add(request, titles: files.map(\.title), at: try InsertionPoint(upload.form)) {
            document,
            url,
            progress in
            let job = DocumentMaker.Job(files: files, title: document.name, options: parameters.pictures)
            let written = try await pdf.maker.write(job, to: url, progress)
            return AddedPages(pages: written.pages, notices: written.notices.map { FileNotice($0, files) })
        }
    }

    /// `{"text", "locale"?, "at"?}`: as many pages as the text needs.
    private func addText(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject(or: "multipart/form-data")
        let content = try TextContent(fields, maximumBytes: pdf.options.maximumTextBytes)
        try await pdf.store.catchUpToChange()
        try pdf.options.quota(of: profile).checkPages(beside: try pdf.store.usage(profile: profile))
        return try await add(request, at: content.place) { _, url, progress in
            let typeset = try await pdf.engine.textPages(content.text, content.locale, url) { progress($0.fraction) }
            let pages = typeset.pages.map { DocumentPage($0, kind: .text) }
            return AddedPages(pages: pages, missingCharacters: typeset.missingGlyphs)
        }
    }

    /// Makes pages in a file of their own, and inserts them into the document's.
    private func add(
        _ request: ScreenRequest,
        titles: [String] = [],
        at place: InsertionPoint,
        _ make:
            @escaping @Sendable (Document, _ output: URL, @escaping DocumentJobs.Progress) async throws -> AddedPages
    ) async throws -> ScreenResponse {
        try await pdf.editor.change(request, titles: titles, effect: .addition) { document in
            try place.position(in: document)
        } work: { document, position, progress in
            let output = pdf.scratch.place(".pdf")
            defer { withExtendedLifetime(output) {} }
            let url = URL(filePath: output.path)
            let new = try await make(document, url) { progress($0 / 2) }
            return try await pdf.arranger.insert(new, of: url, into: document, at: position) { progress(0.5 + $0 / 2) }
        }
    }
}

/// The body of a request that adds text, `{"text", "locale"?, "at"?}`.
struct TextContent: Sendable {
    let text: String
    /// A language tag (BCP 47).
    let locale: String?
    let place: InsertionPoint

    /// - Parameter maximumBytes: of the text, in UTF-8.
    /// - Throws: ``Problem``, 422 for a field that is not acceptable, 413 for a text that is too long.
    init(_ fields: JSONFields, maximumBytes: Int) throws {
        text = try Self.text(fields, maximumBytes: maximumBytes)
        locale = try Self.locale(fields)
        place = try InsertionPoint(fields)
    }

    private static func text(_ fields: JSONFields, maximumBytes: Int) throws -> String {
        // Joiners and marks of direction (Cf) show nothing by themselves either.
        guard let text = try fields.string("text"),
            text.unicodeScalars.contains(where: {
                !$0.properties.isWhitespace && ![.control, .format].contains($0.properties.generalCategory)
            })
        else {
            throw Problem.validation([.field("/text", "required", .nothingVisible)])
        }
        guard text.utf8.count <= maximumBytes else {
            let detail: Text = "text has \(text.utf8.count) bytes of UTF-8; \(maximumBytes) are the most."
            throw Problem(.tooLarge, detail, errors: [.field("/text", "too-large", detail)])
        }
        guard !text.unicodeScalars.contains("\0") else {
            throw Problem.validation([.field("/text", "invalid", "text must not contain U+0000.")])
        }
        return text
    }

    /// A tag by its form: parts of 1 to 8 letters or digits with hyphens between.
    private static func locale(_ fields: JSONFields) throws -> String? {
        guard let locale = try fields.string("locale") else { return nil }
        let parts = locale.split(separator: "-", omittingEmptySubsequences: false)
        let isTag =
            locale.utf8.count <= 35
            && parts.allSatisfy {
                (1...8).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
        guard isTag else {
            throw Problem.validation([.field("/locale", "invalid", .languageForm)])
        }
        return locale
    }
}

/// The position of new pages in a document: the field `at`, the number of the first of them.
struct InsertionPoint: Sendable, Equatable {
    /// Nil for the end.
    private let number: Int?

    /// Reads the field of a JSON object.
    ///
    /// - Throws: ``Problem``, 422 if it is not a whole number from 1 on.
    init(_ fields: JSONFields) throws {
        switch fields.values["at"] {
        case nil, .null: number = nil
        case let value?:
            guard let whole = value.int, whole >= 1 else { throw Self.invalid }
            number = whole
        }
    }

    /// Reads the field of a form.
    ///
    /// - Throws: ``Problem``, 422 if it is not a whole number from 1 on, or is there twice.
    init(_ form: UploadedForm) throws {
        let values = form.fields.filter { $0.name == "at" }.map(\.value)
        guard let text = values.first else {
            number = nil
            return
        }
        guard values.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let whole = Int(text), whole >= 1
        else { throw Self.invalid }
        number = whole
    }

    /// Returns the position of the first new page in a document, from 0.
    ///
    /// - Throws: ``Problem``, 422 if it is beyond the end of the document.
    func position(in document: Document) throws -> Int {
        let last = document.pages.count + 1
        guard let number else { return last - 1 }
        guard number <= last else {
            throw Problem.validation([.field("/at", "invalid", .numberOfNewPage(upTo: last))])
        }
        return number - 1
    }

    private static var invalid: Problem {
        .validation([.field("/at", "invalid", .numberOfPageForm)])
    }
}
