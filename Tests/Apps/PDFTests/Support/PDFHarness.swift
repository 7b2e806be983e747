import AppInterface
import AppTestKit
import Database
import Foundation
import Freshness
import HTTPTypes
import Logging
import ResponseStore
import Screens
import TestKit
import Testing

@testable import PDF

/// The real routes of the app over an engine of paper, a temporary database and a clock that a test moves.
struct PDFHarness: Sendable {
    let routes: RoutedApp
    let app: PDFApp
    let paper: StubDocumentEngine
    let clock: ManualWallClock
    let events: EventStream
    let database: LarderDatabase
    let sessions: SessionStore

    static func run(
        directory: DataDirectory? = nil,
        clock: ManualWallClock = ManualWallClock(),
        paper: StubDocumentEngine = StubDocumentEngine(),
        engine: DocumentEngine? = nil,
        disk: AccountFiles? = nil,
        options: PDFApp.Options = .init(),
        _ test: @Sendable (PDFHarness) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try LarderDatabase.withCacheTables(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + DocumentStore.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let scratch = try ScratchFolder("uploads", in: database.directory)
        let app = PDFApp(
            store: DocumentStore(database),
            engine: engine ?? paper.engine,
            events: events,
            scratch: scratch,
            disk: disk,
            options: options,
            clock: clock.wallClock,
            logger: logger
        )
        let sessions = SessionStore(database)
        try await RoutedApp.run(RouteTable(app.routes), sessions: sessions) { routes in
            try await test(
                PDFHarness(
                    routes: routes,
                    app: app,
                    paper: paper,
                    clock: clock,
                    events: events,
                    database: database,
                    sessions: sessions
                )
            )
        }
        // Whatever a test did, nothing of an upload stays behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
        try database.close()
    }

    /// A photo that the engine of paper takes.
    static func photo(_ text: String, name: String? = nil) -> Upload {
        Upload(name ?? "\(text).jpg", Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data("|\(text)".utf8))
    }

    /// A PDF that the engine of paper takes.
    static func pdf(_ lines: [String], name: String) -> Upload {
        Upload(name, Data((StubDocumentEngine.header + lines.joined(separator: "\n")).utf8))
    }

    /// A file of a form.
    struct Upload: Sendable {
        var head: String
        var bytes: Data

        init(_ name: String, _ bytes: Data) {
            head =
                "Content-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\nContent-Type: application/octet-stream"
            self.bytes = bytes
        }

        init(head: String, _ bytes: Data) {
            self.head = head
            self.bytes = bytes
        }
    }

    func create(_ uploads: [Upload], query: String = "", _ fields: HTTPFields = [:]) async throws -> Exchanged {
        let boundary = "limit"
        var body = Data()
        for upload in uploads {
            body += Data("--\(boundary)\r\n\(upload.head)\r\n\r\n".utf8) + upload.bytes + Data("\r\n".utf8)
        }
        body += Data("--\(boundary)--\r\n".utf8)
        var headerFields = fields
        headerFields[.contentType] = "multipart/form-data; boundary=\(boundary)"
        return try await routes.ask(.post, "/v1/pdf/documents\(query)", headerFields, body: body)
    }

    /// A draft of these photos; its address.
    func draft(_ photos: String..., profile: String? = nil) async throws -> String {
        try await draft(of: photos, profile: profile)
    }

    func draft(of photos: [String], profile: String? = nil) async throws -> String {
        let response = try await create(photos.map { Self.photo($0) }, profile.map { [.larderProfile: $0] } ?? [:])
        #expect(response.status == 201, "\(response.text)")
        return try response.string("data.href")
    }

    /// A saved document of these photos; its address.
    func saved(_ photos: String..., name: String? = nil) async throws -> String {
        let href = try await draft(of: photos)
        let response = try await routes.ask(.post, "\(href)/save", json: name.map { #"{"name":"\#($0)"}"# } ?? "{}")
        #expect(response.status == 200, "\(response.text)")
        return href
    }

    /// The pages in a document's file, as the engine of paper wrote them.
    func paper(_ href: String, _ fields: HTTPFields = [:]) async throws -> [String] {
        let response = try await routes.get("\(href)/file", fields)
        #expect(response.status == 200, "\(response.text)")
        return response.text.dropFirst(StubDocumentEngine.header.count).split(separator: "\n").map(String.init)
    }

    /// Ids of a document's pages.
    func pages(_ href: String) async throws -> [String] { try await routes.get(href).strings("id", in: "data.pages") }

    /// Ids of the saved documents, as they are listed.
    func listed(_ fields: HTTPFields = [:]) async throws -> [String] {
        try await routes.get("/v1/pdf/documents", fields).strings("id", in: "data.items")
    }

    /// Files of blobs on the disk.
    var blobFiles: Int { get throws { try database.blobs.fileNames().count } }

    /// `data` of the job events so far.
    var jobs: [String] { events.published.filter { $0.kind == "job" }.map(\.json) }
}

extension Exchanged {
    struct NoText: Error { let path: String, response: String }

    func string(_ path: String) throws -> String {
        guard case .string(let text) = self[path] else { throw NoText(path: path, response: text) }
        return text
    }

    func strings(_ name: String, in path: String) -> [String] {
        all(name, in: path).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// That this is a screen of the app: local, by profile.
    func expectPDF(_ name: String, status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        #expect(headerFields[.contentType] == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(headerFields[.cacheControl] == "private, no-cache", sourceLocation: sourceLocation)
        #expect(headerFields[.vary] == "Authorization, Accept-Encoding, Larder-Profile", sourceLocation: sourceLocation)
        #expect(cacheStatus == nil && age == nil, sourceLocation: sourceLocation)
        #expect(self["meta.screen"] == .string(name), sourceLocation: sourceLocation)
        #expect(self["meta.source"] == "local", sourceLocation: sourceLocation)
        #expect(self["meta.offline"] == false && self["meta.stale"] == false, sourceLocation: sourceLocation)
        #expect(names(in: "") == ["data", "meta", "links"], sourceLocation: sourceLocation)
    }
}
