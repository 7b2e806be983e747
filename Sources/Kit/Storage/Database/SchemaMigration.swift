package import GRDB

/// A step of the database's schema. Steps are applied in the given order, each once and in a transaction of its own.
///
/// A released step is never changed; a later step corrects it.
package struct SchemaMigration: Sendable {
    /// The unique name, owner first: `ships/001 ships`. The database records it when the step was applied.
    package let name: String
    package let migrate: @Sendable (Database) throws -> Void

    /// Creates a step that runs `migrate` once for each database.
    package init(_ name: String, migrate: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.migrate = migrate
    }

    /// Creates a step that is one SQL script.
    package init(_ name: String, sql: String) {
        self.init(name) { try $0.execute(sql: sql) }
    }

    /// Creates a migrator. Two steps of one name are checked before, because GRDB traps on them.
    ///
    /// - Throws: ``StorageError/ambiguousMigration(name:)``.
    package static func migrator(_ migrations: [SchemaMigration]) throws -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        var names: Set<String> = []
        for migration in migrations {
            guard names.insert(migration.name).inserted else {
                throw StorageError.ambiguousMigration(name: migration.name)
            }
            migrator.registerMigration(migration.name, migrate: migration.migrate)
        }
        return migrator
    }
}

/// The tables with their columns, the indexes and the triggers that migrations create, which each start looks for.
///
/// To find them, all migrations are applied to an empty database, which takes a third of the time of a start. So a
/// database records them beside its identity, with the migrations that they are of.
enum SchemaObjects {
    static let migrations = [
        SchemaMigration(
            "storage/010 schema objects",
            sql: """
                ALTER TABLE data_directory ADD COLUMN migrations TEXT;      -- their names, a line each
                ALTER TABLE data_directory ADD COLUMN schema_objects TEXT;  -- what they have created, a line each
                """
        )
    ]

    /// Returns the tables, columns, indexes and triggers that all migrations of a build create.
    ///
    /// - Parameter db: A database to which they were applied; its record is used if it is of the same migrations.
    /// - Throws: Errors of the database and of the migrations.
    static func expected(by migrator: DatabaseMigrator, recordedIn db: Database) throws -> Set<String> {
        if let record = try record(in: db), record.migrations == migrator.migrations { return Set(record.objects) }
        return try created(by: migrator)
    }

    /// Records the tables, columns, indexes and triggers that the migrations of a build create, unless they are
    /// recorded.
    ///
    /// - Parameters:
    ///   - pool: A database with an identity, to which they were applied.
    ///   - isNew: Whether they were applied to an empty database.
    /// - Throws: Errors of the database and of the migrations.
    static func establish(by migrator: DatabaseMigrator, in pool: DatabasePool, isNew: Bool) throws {
        try pool.write { db in
            guard try record(in: db)?.migrations != migrator.migrations else { return }
            let objects = isNew ? try all(in: db) : try created(by: migrator)
            try db.execute(
                sql: "UPDATE data_directory SET migrations = ?, schema_objects = ?",
                arguments: [migrator.migrations.joined(separator: "\n"), objects.sorted().joined(separator: "\n")]
            )
        }
    }

    /// Returns tables, indexes, triggers and columns by kind and name. The columns of virtual tables, and of those that
    /// they consist of, are those of the version of SQLite.
    static func all(in db: Database) throws -> Set<String> {
        let isOwn = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        let isVirtual = "sql LIKE 'CREATE VIRTUAL %'"
        return try String.fetchSet(
            db,
            sql: """
                SELECT type || ' ' || name FROM sqlite_schema WHERE \(isOwn)
                UNION ALL
                SELECT '\(column)' || owner.name || '.' || part.name
                FROM (SELECT name FROM sqlite_schema WHERE type = 'table' AND \(isOwn) AND NOT \(isVirtual)) AS owner
                JOIN pragma_table_xinfo(owner.name) AS part
                WHERE NOT EXISTS (
                    SELECT 1 FROM sqlite_schema AS index_of
                    WHERE index_of.\(isVirtual) AND owner.name GLOB index_of.name || '_*'
                )
                """
        )
    }

    /// Returns the names in `expected` that `present` lacks, without the columns of tables that are missing.
    static func missing(_ expected: Set<String>, in present: Set<String>) -> [String] {
        let missing = expected.subtracting(present)
        let tables = missing.filter { $0.hasPrefix("table ") }.map { $0.dropFirst("table ".count) }
        return missing.filter { object in !tables.contains { object.hasPrefix("\(column)\($0).") } }.sorted()
    }

    private static let column = "column "

    /// Returns the record; nil without one, without the columns, which earlier builds did not record, and if a damaged
    /// page has turned it into something else than text.
    private static func record(in db: Database) throws -> (migrations: [String], objects: [String])? {
        let sql = "SELECT migrations, schema_objects FROM data_directory"
        guard let row = try Row.fetchOne(db, sql: sql), let migrations: String = try? row.value(0),
            let objects: String = try? row.value(1)
        else { return nil }
        return objects.contains(column) ? (lines(migrations), lines(objects)) : nil
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// Returns the tables, columns, indexes and triggers that migrations create in an empty database.
    static func created(by migrator: DatabaseMigrator) throws -> Set<String> {
        let model = try DatabaseQueue(configuration: LarderDatabase.configuration(.init()))
        try migrator.migrate(model)
        return try model.read(all)
    }
}
