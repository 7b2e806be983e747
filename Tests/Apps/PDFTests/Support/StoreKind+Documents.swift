import Cluster
import Foundation
import Screens
import Storage
import TestKit

@testable import PDF

extension ClusterAccess {
    /// Opens a store for servers of the PDF app.
    static func documents(on server: RunningPostgres? = nil) async throws -> ClusterAccess {
        try await temporary(Journal.storeMigrations, on: server)
    }

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
        case .postgresql: try await .documents()
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
