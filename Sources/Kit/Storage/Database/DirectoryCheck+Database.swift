import Foundation
package import GRDB

extension DirectoryCheck {
    /// Reads a database without writing to it, so that an unusable one is not changed.
    ///
    /// - Parameters:
    ///   - progress: Receives the step under way.
    ///   - examine: Is called with a database of a known schema.
    mutating func examineDatabase(
        _ path: String,
        migrations: [SchemaMigration],
        options: DatabaseOptions,
        progress: ProgressReceiver,
        examine: (inout DirectoryCheck, Database) throws -> Void
    ) throws {
        guard try Self.hasHeader(path) else { return }
        isBegun = true
        let database = try Self.openForReading(path, busyTimeout: options.busyTimeout)
        try database.read { db in
            guard try Self.isLarders(db, path: path) else { return }
            isNew = false
            try examineSchema(db, path: path, migrations: migrations)
            if options.integrityCheck != .never { progress(StorageProgress(.check)) }
            switch options.integrityCheck {
            case .always: try IntegrityCheck.all(db, path: path)
            case .afterUncleanStop: if wasLeftOpen { try IntegrityCheck.pages(db, path: path) }
            case .never: break
            }
            if try db.tableExists("data_directory") {
                databaseIdentity = try DirectoryIdentity.read(db, path: path)
            }
            if try db.tableExists("sealing_key") { keyFingerprint = try SealingKey.notedFingerprint(in: db) }
            try examine(&self, db)
        }
        try database.close()
    }

    /// Opens a database for reading. SQLite creates no file beside it if there is none, as it otherwise does for
    /// reading, too.
    package static func openForReading(_ path: String, busyTimeout: Double = 5) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(busyTimeout)
        return try DatabaseQueue(path: nameForReading(path), configuration: configuration)
    }

    /// Whether a database has a log or a journal beside it: then its file is not complete by itself.
    package static func hasLog(_ path: String) -> Bool {
        ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Returns a name of a database with which SQLite creates no file beside it. Without a log and a journal the file
    /// is complete, and nothing changes it while the directory is locked.
    private static func nameForReading(_ path: String) throws -> String {
        let readsNames = try DatabaseQueue().read { db in
            try Bool.fetchOne(db, sql: "SELECT sqlite_compileoption_used('USE_URI')") ?? false
        }
        guard !hasLog(path), readsNames else { return path }
        var name = URLComponents()
        name.scheme = "file"
        name.path = path
        name.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return name.string ?? path
    }

    /// Returns whether the file has a header of SQLite; false if it is missing, or empty, which SQLite takes for an
    /// empty database.
    private static func hasHeader(_ path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        let header = try OpenFile(path, O_RDONLY).read(at: 0, count: 16)
        guard !header.isEmpty else { return false }
        guard header == Data("SQLite format 3\0".utf8) else {
            throw StorageError.damagedDatabase(path: path, detail: "the file is not an SQLite database")
        }
        return true
    }

    /// Returns whether a database is one of Larder's; false if it has no tables, as after an interrupted first start.
    ///
    /// - Throws: ``StorageError/foreignDatabase(path:detail:)``.
    package static func isLarders(_ db: Database, path: String) throws -> Bool {
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard [0, DirectoryIdentity.applicationID].contains(application) else {
            throw StorageError.foreignDatabase(path: path, detail: "its application id is \(application)")
        }
        if try db.tableExists("grdb_migrations") {
            // Before the first migration a database of Larder's has this table only.
            let steps = try Set(String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations"))
            if steps.contains(LarderDatabase.ownMigrations[0].name) { return true }
            if steps.isEmpty, try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'table'") == 1
            {
                return false
            }
        } else if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
            return false
        }
        try checkRecords(db, path: path)
        throw StorageError.foreignDatabase(path: path, detail: "its tables are not those of Larder")
    }

    /// Compares the applied migrations, and the tables, indexes and triggers that they have created, with those of this
    /// build.
    private mutating func examineSchema(_ db: Database, path: String, migrations: [SchemaMigration]) throws {
        let migrator = try SchemaMigration.migrator(migrations)
        let applied = try Self.appliedMigrations(db, path: path, migrator: migrator)
        isCurrent = applied.isSuperset(of: migrator.migrations)
        let present = try SchemaObjects.all(in: db)
        // A reset of the cache that was interrupted has removed the first migrations: the others alone may not run.
        let expected =
            isCurrent
            ? try SchemaObjects.expected(by: migrator, recordedIn: db)
            : try? SchemaObjects.created(by: SchemaMigration.migrator(migrations.filter { applied.contains($0.name) }))
        guard let expected else { return }
        var missing = SchemaObjects.missing(expected, in: present)
        if isCurrent, !missing.isEmpty {
            // The record may be damaged.
            missing = try SchemaObjects.missing(SchemaObjects.created(by: migrator), in: present)
        }
        // Objects that later migrations create must not exist yet.
        let early = isCurrent ? [] : try SchemaObjects.created(by: migrator).subtracting(expected).intersection(present)
        guard missing.isEmpty, early.isEmpty else {
            try Self.checkRecords(db, path: path)
            throw missing.isEmpty
                ? StorageError.schemaNotRecorded(path: path, present: early.sorted())
                : StorageError.schemaIncomplete(path: path, missing: missing)
        }
    }

    /// Checks the table of the applied migrations, so that its damage is not reported as a fault of the schema.
    private static func checkRecords(_ db: Database, path: String) throws {
        guard try db.tableExists("grdb_migrations"), let damage = try IntegrityCheck.damage(of: "grdb_migrations", db)
        else { return }
        throw StorageError.damagedDatabase(path: path, detail: "grdb_migrations: \(damage)")
    }

    /// Returns the names of the migrations that were applied.
    ///
    /// - Throws: ``StorageError/newerSchema(path:unknownMigrations:)`` if this build does not know one of them;
    ///   ``StorageError/damagedDatabase(path:detail:)`` if the table of their names is damaged.
    package static func appliedMigrations(_ db: Database, path: String, migrator: DatabaseMigrator) throws
        -> Set<String>
    {
        let applied = try migrator.appliedIdentifiers(db)
        let unknown = applied.subtracting(migrator.migrations)
        guard unknown.isEmpty else {
            try checkRecords(db, path: path)
            throw StorageError.newerSchema(path: path, unknownMigrations: unknown.sorted())
        }
        return applied
    }
}
