import Foundation
package import GRDB

extension DirectoryCheck {
    /// Reads a database without writing to it, so that an unusable one is not changed.
    mutating func examineDatabase(
        _ path: String,
        migrator: DatabaseMigrator,
        options: DatabaseOptions,
        names: Set<BlobID>,
        folder: String,
        inspect: (Database) throws -> Void
    ) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let header = try OpenFile(path, O_RDONLY).read(at: 0, count: 16)
        if header.isEmpty { return }  // SQLite takes an empty file for an empty database.
        guard header == Data("SQLite format 3\0".utf8) else {
            throw StorageError.damagedDatabase(path: path, detail: "the file is not an SQLite database")
        }
        isBegun = true
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(options.busyTimeout)
        let database = try DatabaseQueue(path: Self.nameForReading(path), configuration: configuration)
        try database.read { db in
            guard try Self.isLarders(db, path: path) else { return }
            isNew = false
            let applied = try migrator.appliedIdentifiers(db)
            let unknown = applied.subtracting(migrator.migrations)
            guard unknown.isEmpty else {
                throw StorageError.newerSchema(path: path, unknownMigrations: unknown.sorted())
            }
            isCurrent = applied.isSuperset(of: migrator.migrations)
            if try options.integrityCheck == .always
                || options.integrityCheck == .afterUncleanStop && LarderDatabase.wasLeftOpen(path)
            {
                try LarderDatabase.checkPages(db, path: path)
            }
            try examineRows(db, names: names, folder: folder)
            if isCurrent { try inspect(db) }
        }
        try database.close()
    }

    /// Returns a name of a database with which SQLite creates no file beside it, as it otherwise does for reading, too.
    /// Without a log and a journal the file is complete, and nothing changes it while the directory is locked.
    private static func nameForReading(_ path: String) throws -> String {
        let isAlone = !["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
        let readsNames = try DatabaseQueue().read { db in
            try Bool.fetchOne(db, sql: "SELECT sqlite_compileoption_used('USE_URI')") ?? false
        }
        guard isAlone, readsNames else { return path }
        var name = URLComponents()
        name.scheme = "file"
        name.path = path
        name.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return name.string ?? path
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
        throw StorageError.foreignDatabase(path: path, detail: "its tables are not those of Larder")
    }

    private mutating func examineRows(_ db: Database, names: Set<BlobID>, folder: String) throws {
        if try db.tableExists("data_directory") { databaseIdentity = try DirectoryIdentity.read(db) }
        if try db.tableExists("sealing_key") { keyFingerprint = try SealingKey.notedFingerprint(in: db) }
        var rest = names
        let rows = try Row.fetchCursor(db, sql: "SELECT id, length FROM blob")
        while let row = try rows.next() {
            let blob = Blob(id: BlobID(number: row[0]), length: row[1])
            blobs += 1
            if rest.remove(blob.id) == nil {
                missing.append(blob.id)
            } else if Self.fileLength("\(folder)/\(blob.id)") != blob.length {
                cut.append(blob.id)
            }
        }
        if try db.tableExists("removed_blob") {
            for id in try Int64.fetchAll(db, sql: "SELECT blob FROM removed_blob") { rest.remove(BlobID(number: id)) }
        }
        unknown = rest.sorted { $0.number < $1.number }
    }

    private static func fileLength(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
