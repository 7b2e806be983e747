import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

/// The tables, indexes and triggers that each start expects in a database are recorded in it.
@Suite struct SchemaObjectsTests {
    private let scenario = DirectoryScenario()

    private var migrator: DatabaseMigrator {
        get throws { try SchemaMigration.migrator(LarderDatabase.ownMigrations + CacheTables.migrations) }
    }

    private func record() throws -> [String?] {
        let queue = try DatabaseQueue(path: scenario.databasePath)
        defer { try? queue.close() }
        let row = try queue.read { try Row.fetchOne($0, sql: "SELECT migrations, schema_objects FROM data_directory") }
        return try #require(row.map { [$0[0], $0[1]] })
    }

    @Test("TRUST-03 a new database records what its migrations create, which is what they create in any other one")
    func new() throws {
        try scenario.fill()
        let (migrator, record) = (try migrator, try record())
        let model = try DatabaseQueue(configuration: LarderDatabase.configuration(.init()))
        try migrator.migrate(model)
        let objects = try model.read(SchemaObjects.all)
        #expect(record == [migrator.migrations, objects.sorted()].map { $0.joined(separator: "\n") })
        #expect(objects.isSuperset(of: ["table data_directory", "table blob", "trigger blob_deleted"]))
    }

    @Test("TRUST-03 a start looks for what is recorded, and leaves the record as it is")
    func used() throws {
        try scenario.fill()
        let recorded = try record()
        try scenario.open().close()
        #expect(try record() == recorded)
        try scenario.change("DROP TRIGGER blob_deleted")
        try scenario.expectRefused(.schemaIncomplete(path: scenario.databasePath, missing: ["trigger blob_deleted"]))
        try scenario.change(
            "UPDATE data_directory SET schema_objects = replace(schema_objects, 'trigger blob_deleted', '')"
        )
        try scenario.open().close()
    }

    @Test(
        "TRUST-03 without a record of its own migrations a start applies them to an empty database, and records",
        arguments: [
            "migrations = NULL, schema_objects = NULL", "migrations = NULL", "migrations = 'storage/001 blobs'",
            "migrations = migrations || char(10) || 'storage/999 later', schema_objects = 'view other'",
        ]
    )
    func unusable(change: String) throws {
        try scenario.fill()
        let recorded = try record()
        try scenario.change("UPDATE data_directory SET \(change)")
        try scenario.open().close()
        #expect(try record() == recorded)
        try scenario.change("UPDATE data_directory SET \(change); DROP TRIGGER blob_deleted")
        let missing = ["trigger blob_deleted"]
        try scenario.expectRefused(.schemaIncomplete(path: scenario.databasePath, missing: missing))
    }

    @Test("TRUST-24 a damaged record that names what no migration creates does not end the start")
    func damagedRecord() throws {
        try scenario.fill()
        try scenario.change("UPDATE data_directory SET schema_objects = schema_objects || char(10) || 'column devic'")
        try scenario.open().close()
    }

    @Test("TRUST-03 a record that damage has turned into bytes does not end the start")
    func bytes() throws {
        try scenario.fill()
        let recorded = try record()
        // A damaged page is not held to the types of its table; a table without them allows to make it.
        try scenario.change("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')')")
        try scenario.change("UPDATE data_directory SET schema_objects = x'ff00'")
        try scenario.open().close()
        #expect(try record() == recorded)
    }
}

/// Queries of each request, and those that change many rows, must find their rows by an index.
@Suite struct QueryPlanTests {
    static let hotQueries = [
        ResponseStore.selectByKey, ResponseStore.upsert, ResponseStore.upsertBody, ResponseStore.deleteVariantsBeyond,
        ResponseStore.update,
        ResponseStore.updateLastUse, ResponseStore.invalidation, ResponseStore.invalidationByID,
        ResponseStore.deleteByID, ResponseStore.deleteByURL, ResponseStore.deleteByCredential,
        ResponseStore.deleteByBlob,
        PageStore.selectPage, PageStore.selectRows, PageStore.selectEnding, PageStore.upsertPage,
        PageStore.updateLastUse,
        PageStore.decrementTotals, PageStore.deleteRow,
        PageStore.deletePrefix, PageStore.updateRow, PageStore.updatePrefix,
        PageStore.deleteAccount,
        ResponseStore.deleteByPrefix, ResponseStore.moveByPrefix, ResponseStore.invalidationByCredential,
        PageStore.decrementTotalsOfScreen,
        PageStore.deleteRowOfScreen,
        SealedSecrets.select, SealedSecrets.upsert,
        CacheEviction.deletePage, CachePurge.selectBatch,
        ResponseStore.selectParts, ResponseStore.deleteContainedParts, ResponseStore.deletePartsByKey,
        ResponseStore.deleteByPart, ResponseStore.selectPartBytes,
        "DELETE FROM blob WHERE id = ?",
    ]

    @Test("A hot query scans no table", arguments: hotQueries)
    func noScan(sql: String) throws {
        let plan = try plan(sql)
        #expect(!plan.contains { $0.contains("SCAN") }, "\(plan)")
    }

    @Test(
        "The least recently used are found in an index that holds their sizes too",
        arguments: [
            (
                CacheEviction.selectResponses,
                "SEARCH stored_response USING COVERING INDEX stored_response_by_last_use (pinned=?)"
            ),
            (CacheEviction.selectPages, "SCAN page USING COVERING INDEX page_by_last_use"),
        ]
    )
    func leastRecentlyUsed(sql: String, expected: String) throws {
        #expect(try plan(sql) == [expected])
    }

    @Test("The total of the cache costs as much as there are upstreams")
    func total() throws {
        #expect(
            try !plan(CacheEviction.selectTotal).contains {
                $0.contains("SCAN stored_response ") || $0.hasSuffix("SCAN page")
            }
        )
    }

    @Test("The plan of a query without an index does tell of a scan")
    func scanIsSeen() throws {
        #expect(try plan("SELECT id FROM stored_response WHERE reason = ?").contains { $0.contains("SCAN") })
    }

    private func plan(_ sql: String) throws -> [String] {
        try QueryPlan(sql, in: .temporary()).steps
    }
}

@Suite struct StorageErrorSQLiteTests {
    @Test(
        "TRUST-24 damage that a virtual table or a function tells by its message is damage; faulty SQL is not",
        arguments: [
            ("SELECT sum(value) FROM (SELECT 9223372036854775807 AS value UNION ALL SELECT 1)", true),
            ("SELECT value FROM json_each('[1')", true), ("SELECT value FROM none", false),
        ]
    )
    func messages(sql: String, isDamage: Bool) throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue().read { _ = try Int.fetchAll($0, sql: sql) }
        }
        let translated = error.map { StorageError.translating($0, path: "x") }
        #expect(translated is StorageError == isDamage, "\(error as Any)")
        for message in ["invalid fts5 file format (found 9, expected 4)", "malformed detail=... directive"] {
            let index = DatabaseError(resultCode: .SQLITE_ERROR, message: message)
            #expect(StorageError.translating(index, path: "x") is StorageError)
        }
        let rows = DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
        #expect(StorageError.translating(rows, path: "x") is StorageError)
    }

    @Test(
        "TRUST-02 a full disk and a used-up quota are reported as such at each step",
        arguments: [FaultScope.Fault.fullDisk, .quota]
    )
    func reported(_ fault: FaultScope.Fault) async throws {
        let scenario = try FaultScenario()
        for step in 1..<500 {
            let (error, hasFailed) = await scenario.scope.error(of: fault, at: step) {
                try await scenario.saveFile("a")
            }
            guard hasFailed else { return #expect(error == nil) }
            // Behind the commit only the removal of files is left, which is put off.
            guard let error else { continue }
            guard case .diskFull = error as? StorageError else {
                Issue.record("\(fault) at step \(step): \(error)")
                continue
            }
        }
    }
}
