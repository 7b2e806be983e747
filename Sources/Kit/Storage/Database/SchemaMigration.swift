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
