import Database
import Freshness
import GRDB

extension DocumentStore {
    /// Returns whether the welcome of a profile was seen.
    func isWelcomeSeen(profile: String) throws -> Bool {
        try database.read { db in
            try Bool.fetchOne(
                try db.cachedStatement(sql: "SELECT seen FROM pdf_profile WHERE profile = ?"),
                arguments: [profile]
            ) ?? false
        }
    }

    /// Records whether it was.
    func setWelcomeSeen(_ isSeen: Bool, profile: String) async throws {
        defer { changes[profile].bump() }
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO pdf_profile (profile, seen, revision) VALUES (?, ?, 0)
                    ON CONFLICT (profile) DO UPDATE SET seen = excluded.seen
                    """,
                arguments: [profile, isSeen]
            )
        }
    }
}
