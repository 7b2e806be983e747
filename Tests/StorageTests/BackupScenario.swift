import Foundation
import GRDB
import Synchronization
import TestKit

@testable import Storage

/// A data directory with documents' files and a secret, and a place for its backups; removed with the value.
final class BackupScenario {
    let folder: TemporaryFolder
    let data: URL
    let target: URL
    let database: LarderDatabase
    let secrets: SealedSecrets

    init() throws {
        folder = try TemporaryFolder()
        data = folder.url.appending(path: "data")
        target = folder.url.appending(path: "backup")
        database = try Self.open(data)
        secrets = try SealedSecrets(database)
        try database.write { try secrets.store(Data("token".utf8), name: "token", in: $0) }
        for name in ["a", "b", "c"] { try save(name) }
    }

    static func open(_ folder: URL) throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: .quiet)
    }

    /// Stores a file of random bytes and a row that names it.
    func save(_ name: String) throws {
        let blob = try database.blobs.write(Data((0..<5000).map { _ in UInt8.random(in: 0...255) }))
        let response = makeCachedResponse("https://ships.test/\(name)", body: .blob(blob))
        _ = try database.write { try ResponseStore(database).save(response, in: $0) }
    }

    func remove(_ name: String) throws {
        _ = try database.write { db in
            try ResponseStore(database).remove(upstream: "ships", url: "https://ships.test/\(name)", in: db)
        }
    }

    func backup(_ progress: @escaping ProgressReceiver = { _ in }) throws -> Backup.Report {
        try Backup(of: data, migrations: CacheTables.migrations, origin: "a test", progress: progress).write(to: target)
    }

    /// Restores the backup to a new directory, and returns its state.
    func restored() throws -> StoredState {
        let place = folder.url.appending(path: "restored-\(UUID().uuidString)")
        _ = try restore(to: place)
        let database = try Self.open(place)
        let secrets = try SealedSecrets(database)
        guard try database.read({ try secrets.secret(name: "token", in: $0) }) == Data("token".utf8) else {
            throw StorageError.secretNotAuthentic(name: "token")
        }
        let state = try StoredState(database)
        try database.close()
        return state
    }

    func restore(to place: URL) throws -> Restore.Report {
        try Restore(of: target, migrations: CacheTables.migrations).write(to: place)
    }

    func names(_ place: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
    }

    func exists(_ place: URL) -> Bool { FileManager.default.fileExists(atPath: place.path) }
    var unfinished: URL { folder.url.appending(path: "backup.partial") }

    /// A file of the backup that a row names.
    func blob() throws -> URL {
        let blobs = target.appending(path: "blobs")
        let name = try names(blobs).first { $0.count == 16 }
        return blobs.appending(path: name ?? "none")
    }
}
