import Foundation
import GRDB
import Testing

@testable import Database
@testable import ResponseStore

@Suite struct DirectoryCheckDatabaseTests {
    @Test(
        "TRUST-03 a dropped table, index or trigger is named, by the start and by the doctor",
        arguments: [
            ("DROP TABLE page_row", ["index page_row_by_key", "table page_row"]),
            ("DROP INDEX stored_response_by_credential", ["index stored_response_by_credential"]),
            ("DROP TRIGGER blob_deleted", ["trigger blob_deleted"]),
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
