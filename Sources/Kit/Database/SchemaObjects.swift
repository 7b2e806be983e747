import GRDB

/// The tables, indexes and triggers that migrations create, which each start looks for.
///
/// What they are is known by applying all migrations to an empty database, which takes a third of the time of a start.
/// So a database records them beside its identity, with the migrations that they are of.
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

    /// Returns what all migrations of a build create.
    ///
    /// - Parameter db: A database to which they were applied; its record is used if it is of the same migrations.
    /// - Throws: Errors of the database and of the migrations.
    static func expected(by migrator: DatabaseMigrator, recordedIn db: Database) throws -> Set<String> {
        if let record = try record(in: db), record.migrations == migrator.migrations { return Set(record.objects) }
        return try created(by: migrator)
    }

    /// Records what the migrations of a build create, unless it is recorded.
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

    /// Returns tables, indexes and triggers by kind and name.
    static func all(in db: Database) throws -> Set<String> {
        try Set(
            String.fetchAll(
                db,
                sql: "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            )
        )
    }

    /// Returns the record; nil without one, and if a damaged page has turned it into something else than text.
    private static func record(in db: Database) throws -> (migrations: [String], objects: [String])? {
        let sql = "SELECT migrations, schema_objects FROM data_directory"
        guard let row = try Row.fetchOne(db, sql: sql),
            let migrations = String.fromDatabaseValue(row[0]), let objects = String.fromDatabaseValue(row[1])
        else { return nil }
        return (lines(migrations), lines(objects))
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    private static func created(by migrator: DatabaseMigrator) throws -> Set<String> {
        let model = try DatabaseQueue(configuration: LarderDatabase.configuration(.init()))
        try migrator.migrate(model)
        return try model.read(all)
    }
}
