public import GRDB

/// One step of a database's schema. Steps are applied in the order in which they are given, each once, each in a
/// transaction of its own.
///
/// A step that was released is never changed: what it did wrong, a later step puts right.
public struct SchemaMigration: Sendable {
    /// Unique name, owner first: `ships/001 ships`. The database keeps it as proof that the step was taken.
    public let name: String
    let migrate: @Sendable (Database) throws -> Void

    /// Creates a step that runs `migrate` once for each database.
    public init(_ name: String, migrate: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.migrate = migrate
    }

    /// Creates a step that is one SQL script.
    public init(_ name: String, sql: String) {
        self.init(name) { try $0.execute(sql: sql) }
    }

    /// GRDB stops the process on two steps of one name, hence the look beforehand.
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
