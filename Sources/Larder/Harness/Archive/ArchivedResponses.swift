import Database
import Foundation
import GRDB
import HTTPTypes
import ResponseStore
import Sandbox

/// Takes kept responses with secrets out of a database before it becomes an archive: they are asked for again.
///
/// Rows and files of people are theirs and stay, as do the sealed tokens that sessions need.
enum ArchivedResponses {
    /// Longest body that is looked at, in bytes: a longer one is a file, in which nothing has a name.
    private static let longest = 16 << 20

    /// Removes the responses.
    ///
    /// - Parameters:
    ///   - fixtures: What knows the secrets of each upstream.
    ///   - file: Returns the body that is a file.
    /// - Returns: The names of the files that belong to no row any more.
    static func removeSecrets(_ db: Database, _ fixtures: FixtureLibrary, file: (String) throws -> Data?) throws
        -> Set<String>
    {
        // The time of this machine, which the next one does not continue.
        try db.execute(sql: "DELETE FROM retention_time")
        let note = try Int64.fetchOne(db, sql: "SELECT coalesce(max(note), 0) FROM removed_blob") ?? 0
        let responses = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, upstream, url, header, blob_id, bytes
                FROM stored_response LEFT JOIN stored_body ON response_id = id
                """
        )
        var secret: [Int64] = []
        while let row = try responses.next() {
            let fields = FieldCoding.decode(try row.value("header")) ?? [:]
            var body: Data = try row.value("bytes") ?? Data()
            if let blob: Int64 = try row.value("blob_id") { body = try file(Self.name(of: blob)) ?? Data() }
            let name: String = try row.value("upstream")
            // Responses of a mount are stored under a name of their own.
            let upstream = fixtures[name] ?? fixtures[name.replacing(/\.raw$/, with: "")]
            let isShort = body.count <= longest
            if upstream?.holdsSecret(try row.value("url"), fields, isShort ? Array(body) : []) ?? false {
                secret.append(try row.value("id"))
            }
        }
        for id in secret { try db.execute(sql: "DELETE FROM stored_response WHERE id = ?", arguments: [id]) }
        let files = try Int64.fetchSet(db, sql: "SELECT blob FROM removed_blob WHERE note > ?", arguments: [note])
        try db.execute(sql: "DELETE FROM removed_blob WHERE note > ?", arguments: [note])
        return Set(files.map(name))
    }

    /// The name of the file of a blob.
    private static func name(of blob: Int64) -> String {
        let digits = String(blob, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
