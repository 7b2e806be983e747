import Foundation
import GRDB
import Logging
import Storage
import TestKit
import Testing

/// A copy of the files of an open database is the state after a kill: nothing was closed or moved out of the log.
@Suite struct LarderDatabaseOpeningTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }

    private func copyFiles(of database: LarderDatabase) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["larder.sqlite", "larder.sqlite-wal"] {
            try FileManager.default.copyItem(
                atPath: database.directory.path + "/" + name,
                toPath: folder.path + "/" + name
            )
        }
    }

    private func open() throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
    }

    @Test(
        "SRV-04 Acknowledged writes are there after the process was killed, with any incomplete write after them",
        arguments: [0, 1, 5000]
    )
    func acknowledged(tornBytes: Int) async throws {
        let database = try LarderDatabase.temporary()
        try await ResponseStore(database).save(makeCachedResponse())
        try copyFiles(of: database)
        let log = try FileHandle(forWritingTo: folder.appendingPathComponent("larder.sqlite-wal"))
        try log.seekToEnd()
        try log.write(contentsOf: Data(repeating: 0xA5, count: tornBytes))
        try log.close()
        let again = try open()
        #expect(try ResponseStore(again).responses(like: makeCachedResponse()).map(\.body) == [.bytes(Data("[]".utf8))])
    }

    @Test("After an unclean stop the pages are checked automatically")
    func check() throws {
        let database = try LarderDatabase.temporary()
        try database.write { db in
            for number in 0..<2000 {
                try db.execute(sql: "INSERT INTO blob (id, length) VALUES (?, 1)", arguments: [number])
            }
        }
        try database.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try database.write { try $0.execute(sql: "DELETE FROM blob WHERE id = 0") }
        try copyFiles(of: database)
        let path = folder.appendingPathComponent("larder.sqlite")
        var bytes = try Data(contentsOf: path)
        bytes.replaceSubrange((bytes.count - 2 * 4096)..., with: Data(repeating: 0x5A, count: 2 * 4096))
        try bytes.write(to: path)
        let error = #expect(throws: StorageError.self) { try open() }
        guard case .damagedDatabase = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
}
