import AppInterface
import Database
import TestKit

@testable import Notes

extension StoreKind {
    /// Returns a new book without notes.
    func book() async throws -> any NoteBook {
        switch self {
        case .sqlite: return NoteStore(try LarderDatabase.temporary(migrations: NoteStore.migrations))
        case .postgresql: return SharedNotes(try await .temporary(SharedNotes.migrations))
        }
    }
}
