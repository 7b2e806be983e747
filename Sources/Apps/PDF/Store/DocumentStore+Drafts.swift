import Database
import Foundation
import Freshness
import GRDB

extension DocumentStore {
    /// The most drafts that one transaction removes, so that other writers need not wait long.
    static let purgeBatch = 64

    /// Removes the expired drafts.
    ///
    /// - Returns: how many they were.
    func purgeDrafts(at now: Date) async throws -> Int {
        var purged = 0
        while true {
            let (count, profiles) = try await database.writeErasing { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: Self.selectExpired,
                    arguments: [now.millisecondsSince1970, Self.purgeBatch]
                )
                for row in rows { try Self.purge(row.value("sequence"), db) }
                return (rows.count, try Set(rows.map { try $0.value("profile") as String }))
            }
            for profile in profiles { changes[profile].bump() }
            purged += count
            if count < Self.purgeBatch { return purged }
        }
    }

    static let selectExpired = """
        SELECT sequence, profile FROM pdf_document WHERE draft_until IS NOT NULL AND draft_until <= ?
        ORDER BY draft_until LIMIT ?
        """
}
