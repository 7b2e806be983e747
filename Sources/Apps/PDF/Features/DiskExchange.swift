import Concurrency
import Foundation
import HTTP
import Screens
import Storage

/// Documents from the Disk, and to it.
struct DiskExchange: Sendable {
    let disk: AccountFiles
    let lookup: DocumentLookup
    let creation: DocumentCreation
    let jobs: DocumentJobs

    /// `POST /v1/pdf/documents/from-disk {"path"}`: a photo or PDF of the Disk becomes a draft.
    @Sendable func importFile(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let profile = try request.profile()
        let parameters = try PageParameters(request.query, creation.options)
        try await creation.checkRoom(request, profile: profile)
        let path = try Self.path(try await request.jsonObject())
        let fetched = try await Self.ofField {
            try await disk.fetch(path, session, creation.maker.scratch, creation.options.maximumFileBytes)
        }
        let file = try SourceFile(
            title: fetched.name,
            fileName: fetched.name,
            length: fetched.file.length,
            place: fetched.file.place,
            index: 0,
            pointer: "/path"
        )
        return try await creation.create([[file]], parameters, request, profile: profile)
    }

    /// `POST …/save-to-disk {"path"}`: the file of a document is uploaded to the Disk.
    @Sendable func exportFile(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let profile = try request.profile()
        let path = try Self.path(try await request.jsonObject())
        let document = try await lookup.documentToChange(request, profile: profile)
        let file = try await lookup.store.content(of: document)
        // Before the upload: after it a failure would be untrue.
        let usage = try lookup.store.usage(profile: profile)
        let written = try await jobs.run(request) { _ in
            try await Self.ofField { try await disk.store(path, session, file) }
        }
        let screen = DocumentScreen(document, lookup.conditions(beside: usage, profile))
        return try .pdf(
            DocumentExportScreen(document: screen, diskPath: written),
            "pdf.reader",
            links: Links(self: DocumentProperties.href(document.id))
        )
    }

    /// The Disk app takes a path as a parameter; here it is a field of the body, and an error in it is 422
    /// (docs/contract.md, "Problems").
    private static func ofField<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let problem as Problem where problem.code == .invalidParameter && !problem.errors.isEmpty {
            throw Problem.validation(problem.errors.map { .field("/path", $0.code, "path \($0.detail).") })
        }
    }

    private static func path(_ fields: JSONFields) throws -> String {
        guard let path = try fields.string("path"), !path.isEmpty, path.utf8.count <= 32_760,
            !path.unicodeScalars.contains("\0")
        else {
            throw Problem.validation([.field("/path", "required", "path must be the path of a file on the Disk.")])
        }
        return path
    }
}
