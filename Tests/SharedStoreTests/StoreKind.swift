import Database
import SharedStore
import TestKit
import Testing

@testable import Notes

/// Where the notes of a test are.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgresql

    var testDescription: String { rawValue }

    /// Returns a new book without notes.
    func book() async throws -> any NoteBook {
        switch self {
        case .sqlite: NoteStore(try LarderDatabase.temporary(migrations: NoteStore.migrations))
        case .postgresql: try await Self.shared()
        }
    }

    /// Returns a new book in PostgreSQL.
    static func shared() async throws -> SharedNotes {
        let store = try await Store { $0.connections = 4 }
        try await store.database.migrate(SharedNotes.migrations)
        let changes = SharedChanges(store.database, node: "a", kept: .seconds(1), logger: .quiet)
        return SharedNotes(database: store.database, changes: changes)
    }
}
