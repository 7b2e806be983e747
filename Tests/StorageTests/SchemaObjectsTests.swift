import Foundation
import GRDB
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
        try scenario.expectRefused(
            .schemaIncomplete(path: scenario.databasePath, missing: ["trigger blob_deleted"])
        )
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
        try scenario.change(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')')"
        )
        try scenario.change("UPDATE data_directory SET schema_objects = x'ff00'")
        try scenario.open().close()
        #expect(try record() == recorded)
    }
}
