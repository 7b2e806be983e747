import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

@Suite struct DirectoryCheckDatabaseTests {
    @Test(
        "TRUST-03 a dropped table, index, trigger or column is named, by the start and by the doctor",
        arguments: [
            ("DROP TABLE page_row", ["index page_row_by_key", "table page_row"]),
            ("DROP INDEX stored_response_by_credential", ["index stored_response_by_credential"]),
            ("DROP TRIGGER blob_deleted", ["trigger blob_deleted"]),
            ("ALTER TABLE stored_response DROP COLUMN reason", ["column stored_response.reason"]),
        ]
    )
    func schema(sql: String, missing: [String]) throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        try scenario.change(sql)
        let error = StorageError.schemaIncomplete(path: scenario.databasePath, missing: missing)
        try scenario.expectRefused(error)
        #expect("\(error)".contains(missing[0]))
    }

    @Test("TRUST-03 a database of an older build that lacks what that build made is named by start and doctor alike")
    func older() throws {
        let scenario = DirectoryScenario()
        let all = CacheTables.migrations
        try LarderDatabase(in: DataDirectory(at: scenario.folder), migrations: all.dropLast(), logger: .quiet).close()
        #expect(try scenario.examine().isCurrent == false)
        try scenario.change("ALTER TABLE page DROP COLUMN total; DROP TRIGGER blob_deleted")
        let missing = ["column page.total", "trigger blob_deleted"]
        try scenario.expectRefused(.schemaIncomplete(path: scenario.databasePath, missing: missing))
    }

    @Test("TRUST-03 a database that has what an unrecorded migration creates is named by start and doctor alike")
    func notRecorded() throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        let last = try #require(CacheTables.migrations.last?.name)
        try scenario.change("DELETE FROM grdb_migrations WHERE identifier = '\(last)'")
        let error = #expect(throws: StorageError.self) { try scenario.examine() }
        guard case .schemaNotRecorded(_, let present) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(present.contains("table stored_part") && present.contains("column stored_response.complete_length"))
        try scenario.expectRefused(try #require(error))
        #expect("\(try #require(error))".contains("table stored_part"))
    }

    @Test("TRUST-03 a migration that the rows refuse ends the start with a sentence, not with SQL")
    func refusedMigration() throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        try scenario.change("INSERT INTO removed_blob (blob) VALUES (1), (1)")
        let migrations =
            CacheTables.migrations + [
                SchemaMigration("test/001", sql: "CREATE UNIQUE INDEX one_note ON removed_blob (blob)")
            ]
        let error = #expect(throws: StorageError.self) {
            try LarderDatabase(in: DataDirectory(at: scenario.folder), migrations: migrations, logger: .quiet)
        }
        guard case .migrationFailed(_, let detail) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(detail.contains("UNIQUE") && !detail.contains("CREATE"))
    }

    @Test("TRUST-03 the doctor finds rows whose row was lost with foreign keys off")
    func references() throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        try scenario.change("DELETE FROM blob")
        #expect(
            throws: StorageError.damagedDatabase(
                path: scenario.databasePath,
                detail: "1 rows of stored_response refer to missing rows of blob"
            )
        ) { try scenario.examine() }
    }

    @Test("TRUST-24 the doctor finds a sealed secret that does not open, unless the key is another one")
    func secrets() throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        #expect(try scenario.examine().isCurrent)
        try scenario.change("UPDATE sealed_secret SET sealed = randomblob(60)")
        #expect(throws: StorageError.secretNotAuthentic(name: "token")) { try scenario.examine() }
        let key = scenario.folder.appending(path: "larder.key")
        try Data(repeating: 7, count: 32).write(to: key)
        #expect(throws: StorageError.wrongKey(path: key.path)) { try scenario.examine() }
    }

    @Test("TRUST-03 an identity in the database that is none is refused, and not replaced by that of the blobs")
    func identity() throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        try scenario.change("UPDATE data_directory SET identity = 'x'")
        try scenario.expectRefused(.malformedIdentity(path: scenario.databasePath))
    }

    @Test("TRUST-03 an empty folder of blobs under a database that names files is refused; its identity lets it pass")
    func emptyBlobs() throws {
        let scenario = DirectoryScenario()
        let blob = try scenario.fill()
        let identity = try String(contentsOf: scenario.folder.appending(path: "blobs/.identity"), encoding: .utf8)
        for isThere in [true, false] {
            try scenario.remove("blobs")
            if isThere {
                try FileManager.default.createDirectory(
                    at: scenario.folder.appending(path: "blobs"),
                    withIntermediateDirectories: false
                )
            }
            let error = StorageError.blobsMissing(
                path: scenario.path + "/blobs",
                files: 1,
                identity: identity.trimmingCharacters(in: .newlines)
            )
            try scenario.expectRefused(error)
            #expect("\(error)".contains("volume"))
        }
        try FileManager.default.createDirectory(
            at: scenario.folder.appending(path: "blobs"),
            withIntermediateDirectories: false
        )
        try Data(identity.utf8).write(to: scenario.folder.appending(path: "blobs/.identity"))
        #expect(try scenario.examine().files.missing == [blob.id])
        try scenario.open().close()
    }
}
