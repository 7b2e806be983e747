package import Logging
package import Storage

extension LarderDatabase {
    /// Opens a database that has the tables of cached responses, as the server's has.
    ///
    /// - Parameters:
    ///   - directory: The locked folder.
    ///   - migrations: Those of the apps under test; the cache's own come first.
    ///   - options: How to open.
    ///   - logger: Receives the database's log messages.
    /// - Throws: `StorageError`.
    package static func withCacheTables(
        in directory: DataDirectory,
        migrations: [SchemaMigration] = [],
        options: DatabaseOptions = .init(),
        logger: Logger
    ) throws -> LarderDatabase {
        try LarderDatabase(
            in: directory,
            migrations: CacheTables.migrations + migrations,
            options: options,
            logger: logger
        )
    }

    /// Opens a database in a temporary folder that is removed with it.
    ///
    /// - Throws: `StorageError`.
    package static func temporary(
        migrations: [SchemaMigration] = [],
        logger: Logger = Logger(label: "test")
    ) throws -> LarderDatabase {
        try withCacheTables(in: .temporary(), migrations: migrations, logger: logger)
    }
}
