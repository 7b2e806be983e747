import Concurrency
import Foundation
import JSONValues
import Media
package import Screens
import Storage

extension PDFApp {
    /// Saved documents: `{"name", "text" | "file", "profile"?, "created"?}`; `file` is a PDF or a picture in base64.
    package var seeding: Seeding {
        Seeding(members: ["documents": DocumentSeeding(pdf: pdf).document])
    }
}

/// Reads the documents of a test's document.
struct DocumentSeeding: Sendable {
    let pdf: PDF

    @Sendable func document(_ fields: JSONFields) async throws -> SeedStep {
        try fields.requireOnly("name", "text", "file", "profile", "created")
        let name = try DocumentName.accepted(try fields.string("name") ?? "")
        let profile = try fields.profile()
        let created = try fields.time("created") ?? pdf.clock.now()
        guard (fields.values["text"] == nil) != (fields.values["file"] == nil) else {
            throw Problem.validation([.field("/text", "required", "A document has either text or file.")])
        }
        let new = try await fields.values["file"] == nil ? typeset(fields, name) : made(fields, name)
        return SeedStep { [store = pdf.store] db in
            try store.seed(new, profile: profile, created: created, db)
        } stored: {
            pdf.store.changes[profile].bump()
        } discarded: {
            pdf.store.discard(new.file)
        }
    }

    private func typeset(_ fields: JSONFields, _ name: String) async throws -> DocumentStore.New {
        let content = try TextContent(fields, maximumBytes: pdf.options.maximumTextBytes)
        let output = pdf.scratch.place(".pdf")
        let typeset = try await pdf.engine.textPages(content.text, nil, URL(filePath: output.path)) { _ in }
        return DocumentStore.New(
            name: name,
            file: try pdf.store.stage(output),
            pages: typeset.pages.map { DocumentPage($0, kind: .text) }
        )
    }

    private func made(_ fields: JSONFields, _ name: String) async throws -> DocumentStore.New {
        let refused = Problem.validation([.field("/file", "invalid", "file must be a PDF or a picture in base64.")])
        guard let bytes = try fields.string("file").flatMap({ Data(base64Encoded: $0) }),
            let format = SourceFormat(signature: bytes)
        else { throw refused }
        let file = try pdf.scratch.file()
        try file.append(bytes)
        let source = SourceFile(title: name, fileName: nil, format: format, place: file.place)
        let options = try PageParameters(QueryItems(nil), pdf.options).pictures
        do {
            return try await pdf.maker.make(.init(files: [source], title: name, options: options)) { _ in }.document
        } catch is MediaError.OfInput {
            throw refused
        }
    }
}
