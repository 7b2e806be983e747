import Foundation
import GRDB
import HTTP
import TestKit
import Testing

@testable import Storage

@Suite struct LarderDatabaseFreeingRoomTests {
    /// Runs a deletion of the response `a` that finds no space at one system call.
    private func deleting(_ scenario: FaultScenario, at step: Int) async -> (error: (any Error)?, hasFailed: Bool) {
        await scenario.scope.error(of: .noRoomOnce, at: step) {
            try await scenario.database.writeFreeingRoom {
                try ResponseStore(scenario.database).remove(upstream: "ships", url: "https://ships.test/a", in: $0)
            }
        }
    }

    /// A connection with a read transaction, which holds the write-ahead log until `COMMIT`.
    private static func openReader(of directory: DataDirectory) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true  // GRDB stops the process on a transaction that stays open.
        let reader = try DatabaseQueue(path: directory.databasePath, configuration: configuration)
        try reader.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM blob") }
        return reader
    }

    @Test("TRUST-02 on a full disk a deletion uses the log's space or the reserve, and the reserve is whole afterwards")
    func reserve() async throws {
        let scenario = try FaultScenario()
        for step in 1..<500 {
            try await scenario.saveFile("a")
            let (error, hasFailed) = await deleting(scenario, at: step)
            // An fsync that fails once, on a disk that has room again, is an error of the disk: there the deletion is
            // refused.
            let isFsync =
                error as? StorageError
                == .inputOutput(path: scenario.database.directory.databasePath, operation: "SQLite", code: 1034)
            #expect(error == nil || isFsync, "step \(step): \(String(describing: error))")
            #expect(try scenario.database.blobs.fileNames().isEmpty == (error == nil))
            await scenario.database.maintain()
            #expect(scenario.database.reserve.isWhole)
            guard hasFailed else { return }
        }
    }

    @Test("TRUST-02 a lost reserve is allocated again and logged, without a deletion")
    func maintain() async throws {
        let log = LogRecorder()
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let database = try LarderDatabase.withCacheTables(in: directory, logger: log.logger)
        await database.maintain()
        #expect(log.messages == [])
        try database.reserve.release()
        _ = await scope.failing(.fullDisk, at: 1) {
            await database.maintain()
            await database.maintain()
        }
        #expect(log.messages == ["the disk is too full to reserve space for deleting"])
        await database.maintain()
        await database.maintain()
        #expect(database.reserve.isWhole && log.messages.last == "the space reserved for deleting is allocated again")
        #expect(log.messages.count == 2)
    }

    @Test("TRUST-02 a reader that uses the log does not delay a deletion on a full disk")
    func reader() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let database = try LarderDatabase.withCacheTables(
            in: directory,
            options: .init(busyTimeout: 3600),
            logger: FaultScenario.quiet
        )
        try await ResponseStore(database).save(makeCachedResponse())
        let reader = try Self.openReader(of: directory)
        // Waiting for the reader would take an hour. The first call with space is the first one of the log's.
        let (error, _) = await scope.error(of: .noRoomOnce, at: 1) {
            try await database.writeFreeingRoom { db in
                try ResponseStore(database).remove(upstream: "ships", url: makeCachedResponse().head.url, in: db)
            }
        }
        #expect(error == nil)
        try reader.inDatabase { try $0.execute(sql: "COMMIT") }
        #expect(try ResponseStore(database).responses(like: makeCachedResponse()) == [])
    }

    @Test("DISK-33 deleted private data is in no file of the directory any more, once no reader holds the log")
    func erasing() async throws {
        let database = try LarderDatabase.temporary()
        let secret = "a-name-that-nobody-shall-find"
        for number in 0..<50 {
            try await ResponseStore(database).save(
                makeCachedResponse(
                    "https://ships.test/\(secret)/\(number)",
                    body: .bytes(Data(String(repeating: secret, count: 500).utf8))
                )
            )
        }
        // Content that was replaced before is gone as well.
        try await ResponseStore(database).save(makeCachedResponse("https://ships.test/\(secret)/0"))
        func isAnywhere() throws -> Bool {
            try ["larder.sqlite", "larder.sqlite-wal"].contains { name in
                let bytes = try Data(contentsOf: URL(filePath: "\(database.directory.path)/\(name)"))
                return bytes.firstRange(of: Data(secret.utf8)) != nil
            }
        }
        #expect(try isAnywhere())
        let reader = try Self.openReader(of: database.directory)
        try await database.writeErasing { try $0.execute(sql: "DELETE FROM stored_response") }
        #expect(try isAnywhere())
        try reader.inDatabase { try $0.execute(sql: "COMMIT") }
        await database.maintain()
        #expect(try !isAnywhere())
    }

    @Test("TRUST-02 a record that may be lost does not fail on a full disk; other errors do")
    func ifRoom() async throws {
        let scenario = try FaultScenario()
        let (error, hasFailed) = await scenario.scope.error(of: .fullDisk, at: 1) {
            try await scenario.database.writeIfRoom {
                try $0.execute(sql: "INSERT INTO blob (id, length) VALUES (1, 1)")
            }
        }
        #expect(error == nil && hasFailed)
        #expect(try scenario.database.integer("SELECT count(*) FROM blob") == 0)
        await #expect(throws: DatabaseError.self) {
            try await scenario.database.writeIfRoom {
                try $0.execute(sql: "INSERT INTO blob (id, length) VALUES ('x', 1)")
            }
        }
    }

    @Test("TRUST-02 whether there is space is found out by allocating some")
    func space() async throws {
        let scenario = try FaultScenario()
        try scenario.database.checkSpace()
        let (error, _) = await scenario.scope.error(of: .quota, at: 1) { try scenario.database.checkSpace() }
        #expect(error as? StorageError == .diskFull(path: scenario.database.directory.path))
        #expect(!FileManager.default.fileExists(atPath: scenario.database.directory.path + "/larder.probe"))
    }
}

@Suite struct DiskReserveTests {
    /// A reserve in a folder whose system calls can fail.
    private struct Scenario {
        let directory: DataDirectory
        let scope: FaultScope
        let reserve: DiskReserve

        init() throws {
            directory = try DataDirectory.temporary()
            scope = try FaultScope(directory.path)
            reserve = DiskReserve(path: directory.reservePath)
        }
    }

    @Test("TRUST-02 a reserve is allocated in part if there is no space for all of it, and the rest later")
    func part() async throws {
        let scenario = try Scenario()
        // 1: create, 2: all of it, 3: cut, 4: half of it.
        _ = await scenario.scope.failing(.noRoomOnce, at: 2) { scenario.reserve.take() }
        #expect(scenario.reserve.allocated == DiskReserve.bytes / 2 && !scenario.reserve.isWhole)
        // The allocated part stays if there is no space for more. 1: all of it.
        _ = await scenario.scope.failing(.fullDisk, at: 1) { scenario.reserve.take() }
        #expect(scenario.reserve.allocated == DiskReserve.bytes / 2)
        scenario.reserve.take()
        #expect(scenario.reserve.isWhole)
    }

    @Test("TRUST-02 a step that finds the disk full runs again with the space of the reserve, and others do not")
    func lending() throws {
        let scenario = try Scenario()
        var runs = 0
        func step() throws -> Int {
            runs += 1
            if scenario.reserve.allocated > 0
                || runs > 1 && !FileManager.default.fileExists(atPath: scenario.reserve.path)
            {
                throw StorageError.diskFull(path: "")
            }
            return runs
        }
        #expect(try scenario.reserve.lending(step) == 1)
        scenario.reserve.take()
        runs = 0
        #expect(try scenario.reserve.lending(step) == 2 && scenario.reserve.isWhole)
        #expect(throws: StorageError.bodyAlreadyFinished) {
            try scenario.reserve.lending { throw StorageError.bodyAlreadyFinished }
        }
        try FileManager.default.removeItem(atPath: scenario.reserve.path)
        #expect(throws: StorageError.diskFull(path: "")) {
            try scenario.reserve.lending { throw StorageError.diskFull(path: "") }
        }
    }
}
