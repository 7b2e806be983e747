import Dispatch
import Foundation
import Logging
import Storage
import Synchronization
import TestKit
import Testing

@Suite struct DataDirectoryTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }

    private func rights(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("A missing folder is made, with everything above it, for its owner only")
    func creation() throws {
        let directory = try DataDirectory(at: folder.appendingPathComponent("a/b"))
        let database = try LarderDatabase.withCacheTables(in: directory, logger: Logger(label: "test"))
        defer { try? database.close() }
        #expect(
            try rights(folder.path) == 0o700 && rights(directory.path) == 0o700 && rights(directory.blobsPath) == 0o700
        )
    }

    @Test(
        "A folder in use is refused with its path and the holder's process id until the holder releases it"
    )
    func lock() throws {
        var first: DataDirectory? = try DataDirectory(at: folder)
        let path = try #require(first).path
        #expect(throws: StorageError.directoryInUse(path: path, pid: getpid())) { try DataDirectory(at: folder) }
        #expect(throws: StorageError.directoryInUse(path: path, pid: getpid())) { try DataDirectory(at: folder) }
        first = nil
        _ = try DataDirectory(at: folder)
    }

    @Test("The database and its log are readable by their owner only")
    func rightsOfDatabase() throws {
        let database = try LarderDatabase.temporary()
        #expect(try rights(database.directory.databasePath) == 0o600)
        #expect(try rights(database.directory.databasePath + "-wal") == 0o600)
    }

    @Test(
        "A folder where nothing may be written is a typed error",
        .enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel"))
    )
    func readOnly() {
        #expect(throws: StorageError.notWritable(path: "/sys/kernel/larder")) {
            try DataDirectory(at: URL(fileURLWithPath: "/sys/kernel/larder"))
        }
    }

    @Test(
        "A folder that exists and cannot be written is a typed error",
        .enabled(if: geteuid() != 0, "root may write everywhere")
    )
    func withoutRights() throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o500]
        )
        #expect(throws: StorageError.notWritable(path: folder.path + "/larder.lock")) { try DataDirectory(at: folder) }
    }

    @Test("A file in the folder's place is a typed error")
    func fileInTheWay() throws {
        try Data("x".utf8).write(to: folder)
        #expect(throws: StorageError.inputOutput(path: folder.path, operation: "mkdir", code: ENOTDIR)) {
            try DataDirectory(at: folder)
        }
    }

    @Test("A temporary folder is removed with its last reference")
    func lastHolder() throws {
        var directory: DataDirectory? = try DataDirectory.temporary()
        let path = try #require(directory).path
        #expect(FileManager.default.fileExists(atPath: path))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("The contents are removed while jobs that end remove their own folders")
    func contents() throws {
        let directory = try DataDirectory(at: folder)
        let jobs = (0..<400).map { folder.appending(path: "work/job-\($0)") }
        for job in jobs {
            try FileManager.default.createDirectory(at: job, withIntermediateDirectories: true)
            for name in ["in", "out"] { try Data().write(to: job.appending(path: name)) }
        }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            do {
                if worker == 0 { return try directory.removeContents() }
                for job in jobs.reversed() { try? FileManager.default.removeItem(at: job) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        #expect(failure.withLock { $0 } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["larder.lock"])
    }

    @Test("The contents are removed while a job still writes files")
    func newFiles() throws {
        let directory = try DataDirectory(at: folder)
        let work = folder.appending(path: "work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        for number in 0..<1_000 { try Data().write(to: work.appending(path: "old-\(number)")) }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            do {
                if worker == 0 { return try directory.removeContents() }
                for number in 0..<2_000 {
                    let path = work.appending(path: "new-\(number)").path
                    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
                    // The folder is gone.
                    if descriptor < 0 { break }
                    close(descriptor)
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        #expect(failure.withLock { $0 } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["larder.lock"])
    }
}
