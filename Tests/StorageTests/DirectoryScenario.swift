import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

/// A data directory with a stored file and a secret; removed with the value.
final class DirectoryScenario {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let logger = Logger.quiet
    var path: String { folder.path }
    var databasePath: String { path + "/larder.sqlite" }

    func open() throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
    }

    /// Checks the directory like `larder doctor`.
    func examine() throws -> DirectoryCheck {
        try DirectoryCheck(
            of: DataDirectory(at: folder),
            migrations: CacheTables.migrations,
            options: .init(integrityCheck: .always)
        )
    }

    /// Stores a response in a file, closes the database in order, and returns the blob.
    @discardableResult
    func fill(_ byte: UInt8 = 1) throws -> Blob {
        let database = try open()
        let secrets = try SealedSecrets(database)
        let blob = try database.blobs.write(Data([byte]))
        try database.write { db in
            try ResponseStore(database).save(
                makeCachedResponse("https://ships.test/\(byte)", body: .blob(blob)),
                in: db
            )
            try secrets.store(Data([byte]), name: "token", in: db)
        }
        try database.close()
        return blob
    }

    /// Changes the closed database as another program would.
    func change(_ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: databasePath, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Returns all files by name, except the lock.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name != "larder.lock" {
            files[name] = (try? Data(contentsOf: folder.appending(path: name))) ?? Data("a folder".utf8)
        }
        return files
    }

    /// Expects that both `serve` and `doctor` refuse the directory, and that nothing is changed.
    func expectRefused(_ error: StorageError, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try files()
        #expect(throws: error, sourceLocation: sourceLocation) { try self.open() }
        #expect(throws: error, sourceLocation: sourceLocation) { try self.examine() }
        #expect(try files() == before, sourceLocation: sourceLocation)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.appending(path: name)) }
}
