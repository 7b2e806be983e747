import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Media
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

extension MediaLimits {
    /// Documents of few pages, and short texts.
    static func pages(_ count: Int, textBytes: Int = MediaLimits().textBytes) -> MediaLimits {
        var limits = MediaLimits()
        (limits.pdfPages, limits.textBytes) = (count, textBytes)
        return limits
    }
}

/// The PDF app over an engine of paper.
typealias PDFHarness = AppHarness<PDFApp, StubDocumentEngine>

extension AppHarness<PDFApp, StubDocumentEngine> {
    /// Runs a test against the app.
    ///
    /// - Parameter shared: the store of several servers; nil for a server by itself.
    static func run(
        directory: DataDirectory? = nil,
        clock: ManualClock = ManualClock(),
        paper: StubDocumentEngine = StubDocumentEngine(),
        engine: DocumentEngine? = nil,
        disk: AccountFiles? = nil,
        settings: SettingValues = .standard,
        limits: MediaLimits = MediaLimits(),
        shared: ClusterAccess? = nil,
        _ test: @Sendable (PDFHarness) async throws -> Void
    ) async throws {
        try await run(
            PDFApp.self,
            fixture: paper,
            AppSurroundings(clock: clock, directory: directory, shared: shared),
            make: { context in
                let pdf = PDF(
                    store: DocumentStore(context.users),
                    thumbnails: ThumbnailStore(database: context.database),
                    engine: engine ?? paper.engine,
                    events: context.events,
                    scratch: context.scratch,
                    disk: disk,
                    options: PDFOptions(settings, limits),
                    clock: context.retention.clock
                )
                return PDFApp(context, pdf)
            },
            test
        )
    }

    var paper: StubDocumentEngine { fixture }
    var documents: DocumentStore { app.pdf.store }

    /// A photo that the engine of paper takes.
    static func photo(_ text: String, name: String? = nil) -> Upload {
        Upload(name ?? "\(text).jpg", Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data("|\(text)".utf8))
    }

    /// A PDF that the engine of paper takes.
    static func pdf(_ lines: [String], name: String) -> Upload {
        Upload(name, Data((StubDocumentEngine.header + lines.joined(separator: "\n")).utf8))
    }

    typealias Upload = FormFile

    func create(_ uploads: [Upload], query: String = "", _ fields: HTTPFields = [:]) async throws -> Exchanged {
        let form = MultipartForm(uploads)
        var headerFields = fields
        headerFields[.contentType] = form.contentType
        return try await ask(.post, "/v1/pdf/documents\(query)", headerFields, body: form.body)
    }

    /// A draft of these photos; the path of its address.
    func draft(_ photos: String..., profile: String? = nil) async throws -> String {
        try await draft(of: photos, profile: profile)
    }

    func draft(of photos: [String], profile: String? = nil) async throws -> String {
        let response = try await create(photos.map { Self.photo($0) }, profile.map { [.larderProfile: $0] } ?? [:])
        #expect(response.status == 201, "\(response.text)")
        return String(try response.string("data.href").prefix { $0 != "?" })
    }

    /// A saved document of these photos; its address.
    func saved(_ photos: String..., name: String? = nil) async throws -> String {
        let href = try await draft(of: photos)
        let response = try await ask(.post, "\(href)/save", json: name.map { #"{"name":"\#($0)"}"# } ?? "{}")
        #expect(response.status == 200, "\(response.text)")
        return href
    }

    /// The pages in a document's file, as the engine of paper wrote them.
    func paper(_ href: String, _ fields: HTTPFields = [:]) async throws -> [String] {
        let response = try await get("\(href)/file", fields)
        #expect(response.status == 200, "\(response.text)")
        return response.text.dropFirst(StubDocumentEngine.header.count).split(separator: "\n").filter {
            !$0.hasPrefix("%")
        }
        .map(String.init)
    }

    /// Ids of a document's pages.
    func pages(_ href: String) async throws -> [String] { try await get(href).strings("id", in: "data.pages") }

    /// Ids of the saved documents, in the order of the list.
    func listed(_ fields: HTTPFields = [:]) async throws -> [String] {
        try await get("/v1/pdf/documents", fields).strings("id", in: "data.items")
    }

    /// The history of a change of the standard profile.
    func history(quota: StorageQuota = .unlimited) -> DocumentStore.History {
        DocumentStore.History(profile: "local", now: clock.now, quota: quota, isKept: true)
    }

    /// Files of blobs on the disk.
    var blobFiles: Int { get throws { try database.blobs.fileNames().count } }

    /// `data` of the job events so far.
    var jobs: [String] { events.published.filter { $0.kind == "job" }.map(\.json) }
}

extension Exchanged {
    /// That this is a screen of the app: local, by profile.
    func expectPDF(_ name: String, status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        #expect(headerFields[.contentType] == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(headerFields[.cacheControl] == "private, no-cache", sourceLocation: sourceLocation)
        #expect(headerFields[.contentLanguage] == "en", sourceLocation: sourceLocation)
        #expect(
            headerFields[.vary] == "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile",
            sourceLocation: sourceLocation
        )
        #expect(cacheStatus == nil && age == nil, sourceLocation: sourceLocation)
        #expect(self["meta.screen"] == .string(name), sourceLocation: sourceLocation)
        #expect(self["meta.source"] == "local", sourceLocation: sourceLocation)
        #expect(self["meta.offline"] == false && self["meta.stale"] == false, sourceLocation: sourceLocation)
        #expect(names(in: "") == ["data", "meta", "links"], sourceLocation: sourceLocation)
    }
}

extension ClusterAccess {
    /// Numbers of files in PostgreSQL, and of their parts.
    func contentCounts() async throws -> [Int] {
        let tables = ["content", "content_part"]
        let counts = tables.map { "(SELECT count(*) FROM \($0)) AS \($0)" }.joined(separator: ", ")
        let rows = try await database.rows("SELECT \(counts)") { row in
            try tables.map { try row.value($0) as Int }
        }
        return rows.first ?? []
    }

    /// Runs statements, one after the other.
    func execute(_ statements: String...) async throws {
        try await database.write(locks: ["test"]) { transaction in
            for statement in statements { try transaction.execute(statement) }
        }
    }
}

extension StoreKind {
    /// Returns a new store that servers share; nil for documents of a server by itself.
    func documents() async throws -> ClusterAccess? {
        switch self {
        case .sqlite: nil
        case .postgresql: try await .temporary()
        }
    }
}

extension PDFHarness {
    /// Inserts a saved document of these bytes, past the engine.
    func insert(_ bytes: Data, name: String, pages: Int = 1, profile: String = "local") async throws -> Document {
        let new = DocumentStore.New(
            name: name,
            file: try stage(bytes),
            pages: (0..<pages).map { number in
                DocumentPage(
                    id: DocumentIdentity.random(),
                    kind: .imported,
                    width: 595.3 + Double(number),
                    height: 1e7 / 3,
                    rotation: 90,
                    content: DocumentIdentity.random()
                )
            }
        )
        let inserted = try await documents.insert(
            [new],
            profile: profile,
            created: clock.now,
            draftUntil: nil,
            quota: .unlimited
        )
        return inserted[0].document
    }

    /// Returns a finished file of these bytes.
    func stage(_ bytes: Data) throws -> Blob {
        let file = try app.pdf.scratch.file(".pdf")
        try file.append(bytes)
        return try documents.stage(file.place)
    }

    /// The address of a document.
    func href(_ document: Document) -> String { "/v1/pdf/documents/\(document.id)" }
}
