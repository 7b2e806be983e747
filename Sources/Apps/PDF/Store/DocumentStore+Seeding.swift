import Database
import Foundation
import GRDB

extension DocumentStore {
    /// Inserts a saved document of a test's document.
    func seed(_ new: New, profile: String, created: Date, _ db: Database) throws {
        try database.blobs.insert(new.file.blob, in: db)
        _ = try Self.insert(new, profile: profile, created: created, draftUntil: nil, db)
        _ = try Self.nextRevision(profile, db)
    }
}
