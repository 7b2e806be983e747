import Crypto
import Database
import Foundation
import GRDB

/// A data directory that is read while a server may use it. Takes no lock, so that a server can start meanwhile.
struct BackupSource {
    /// One consistent state of the database.
    struct State {
        let blobs: [Blob]
        /// The text of `blobs/.identity`; nil if the database is of a build before identities.
        let identity: String?
        let keyFingerprint: Data?
    }

    /// The resolved path of the directory.
    let path: String
    let database: DatabaseQueue
    var databasePath: String { "\(path)/\(BackupLayout.database)" }
    var blobsPath: String { "\(path)/\(BackupLayout.blobs)" }

    /// Opens a data directory for reading.
    ///
    /// - Throws: ``BackupError/noDatabase(path:)``; ``StorageError`` if the database is not Larder's, or of a newer
    ///   build.
    init(_ directory: URL, migrations: [SchemaMigration]) throws {
        let path = RealPath.of(directory.path) ?? directory.standardizedFileURL.path
        let databasePath = "\(path)/\(BackupLayout.database)"
        guard access(databasePath, R_OK) == 0 else {
            guard errno == EACCES else { throw BackupError.noDatabase(path: path) }
            throw StorageError.notReadable(path: databasePath)
        }
        self.path = path
        do {
            database = try Self.open(databasePath)
            try database.read { db in
                guard try DirectoryCheck.isLarders(db, path: databasePath) else {
                    throw BackupError.noDatabase(path: path)
                }
                let migrator = try SchemaMigration.migrator(LarderDatabase.ownMigrations + migrations)
                _ = try DirectoryCheck.appliedMigrations(db, path: databasePath, migrator: migrator)
            }
        } catch {
            throw StorageError.translating(error, path: databasePath)
        }
    }

    /// Opens the database with its log, which SQLite creates if there is none: then a server that starts now is seen.
    /// On a read-only file system none can be created, and none can start.
    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "larder.backup"
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        var status = statvfs()
        let isReadOnly = statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
        return isReadOnly
            ? try DirectoryCheck.openForReading(path) : try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Reads what a backup needs to know. Within one transaction it is what its pages say.
    func state(_ db: Database) throws -> State {
        State(
            blobs: try Row.fetchAll(db, sql: "SELECT id, length FROM blob").map {
                try Blob(id: $0.value(0), length: $0.value(1))
            },
            identity: try db.tableExists("data_directory")
                ? String.fetchOne(db, sql: "SELECT identity FROM data_directory") : nil,
            keyFingerprint: try db.tableExists("sealing_key") ? SealingKey.notedFingerprint(in: db) : nil
        )
    }

    /// Returns the keys that are in the directory now, that of a rotation in progress first. If one is renamed between
    /// both reads, it is found by the second one.
    func keys() throws -> [SymmetricKey] {
        try SealingKey.present(path: "\(path)/\(BackupLayout.key)")
    }
}
