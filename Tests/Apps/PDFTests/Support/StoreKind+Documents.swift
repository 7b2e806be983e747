import AppInterface
import Database
import Foundation
import Screens
import SharedStore
import TestKit

@testable import PDF

extension StoreKind {
    /// Returns a new store that servers share; nil for documents in a server's own database.
    func shared() async throws -> SharedStoreAccess? {
        switch self {
        case .sqlite: nil
        case .postgresql: try await .temporary(SharedDocuments.migrations)
        }
    }
}

extension SharedStoreAccess {
    /// Numbers of rows: contents, parts of them, documents, pages.
    func rowCounts() async throws -> [Int] {
        let tables = ["pdf_content", "pdf_content_part", "pdf_document", "pdf_page"]
        let counts = tables.map { "(SELECT count(*) FROM \($0)) AS \($0)" }.joined(separator: ", ")
        let rows = try await database.rows("SELECT \(counts)") { row in
            try tables.map { try row.value($0) as Int }
        }
        return rows.first ?? []
    }

    /// Runs statements, one after the other.
    func execute(_ statements: String...) async throws {
        try await database.write(turns: ["test"]) { transaction in
            for statement in statements { try transaction.execute(statement) }
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
        return inserted.documents[0]
    }

    /// Returns a finished file of these bytes.
    func stage(_ bytes: Data) throws -> StagedFile {
        let file = try app.creation.maker.scratch.file(".pdf")
        try file.append(bytes)
        return try documents.stage(file.place)
    }

    /// The address of a document.
    func href(_ document: Document) -> String { "/v1/pdf/documents/\(document.id)" }
}
