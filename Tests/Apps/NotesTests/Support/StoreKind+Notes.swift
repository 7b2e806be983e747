import Cluster
import Foundation
import Screens
import Storage
import TestKit

@testable import Notes

extension NoteStore {
    /// The notes of a server by itself.
    init(_ database: LarderDatabase) { self.init(UserDatabase(database)) }
}

extension ClusterAccess {
    /// Opens a store for servers of the Notes app.
    static func notes(on server: RunningPostgres? = nil) async throws -> ClusterAccess {
        try await temporary(Journal.storeMigrations, on: server)
    }

    /// Returns one more server's notes, in a new file.
    func noteStore() throws -> NoteStore {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations + Journal.fileMigrations)
        return NoteStore(otherServer().users(in: database, NoteStore.replicated))
    }
}

extension StoreKind {
    /// Returns new notes of a server by itself, or of one of several.
    func notes() async throws -> NoteStore {
        switch self {
        case .sqlite: NoteStore(try LarderDatabase.temporary(migrations: NoteStore.migrations))
        case .postgresql: try await ClusterAccess.notes().noteStore()
        }
    }
}
