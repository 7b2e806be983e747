import Foundation
import GRDB
import TestKit
import Testing

/// Size of the cache of ``StartTests``.
private enum StartSize {
    /// In MiB; 5 GiB by `script/check-start`.
    static let megabytes = ProcessInfo.processInfo.environment["START_MEGABYTES"].flatMap { Int($0) } ?? 20
    static let isFull = megabytes > 1000
}

/// The start after an unclean stop (docs/decisions/0049).
@Suite(.timeLimit(.minutes(StartSize.isFull ? 30 : 2))) struct StartTests {
    /// A cache of any size stays within the budget.
    private static let settings = ["--cache-budget-mb", "1000000"]

    /// Stores responses with bodies of 90,000 bytes as a server does, into the database of one that was killed.
    private func fill(_ data: TemporaryFolder, megabytes: Int) throws {
        let queue = try DatabaseQueue(path: data.url.appending(path: "larder.sqlite").path)
        try queue.writeWithoutTransaction { db in
            for first in stride(from: 0, to: megabytes << 20, by: 64 << 20) {
                let count = min(64 << 20, (megabytes << 20) - first) / 90_000
                try db.execute(sql: Self.insertResponses, arguments: [first, count])
                try db.execute(sql: Self.insertBodies)
            }
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
    }

    private static let insertResponses = """
        WITH RECURSIVE number(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM number LIMIT ?)
        INSERT INTO stored_response (upstream, url, method, credential, varying, status, reason, header, request_time,
            response_time, size, last_used)
        SELECT 'spacex.raw', 'https://ships.test/' || n, 'GET', x'', x'', 200, 'OK', x'', 1, 1, 90000, 1 FROM number
        """
    private static let insertBodies = """
        INSERT INTO stored_body (response_id, bytes)
        SELECT id, randomblob(90000) FROM stored_response WHERE id NOT IN (SELECT response_id FROM stored_body)
        """

    @Test("SCALE-22 a start with a clock that is 400 days ahead ends no session and removes no draft for good")
    func wrongClock() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        let guest = try await first.guest()
        let draft = try await first.client.document(of: [DocumentTests.photo])
        #expect(await first.stop() == 0)
        let ahead = Date().addingTimeInterval(500 * 86_400).formatted(.iso8601)
        let second = try await RunningLarder.start(data: data, ["--clock-start", ahead])
        try await second.process.logged("nothing expires until it has gone on for a day")
        #expect(try await guest.moved(to: second).get("/v1/ships?limit=1").status == 200)
        #expect(await second.stop() == 0)
        let third = try await RunningLarder.start(data: data)
        #expect(try await guest.moved(to: third).get("/v1/ships?limit=1").status == 200)
        #expect(try await third.client.get(draft).status == 200)
        #expect(await third.stop() == 0)
    }

    /// A server that was killed with a filled cache, with the token of a session.
    private func killed(_ data: TemporaryFolder, _ settings: [String] = settings) async throws -> String {
        let first = try await RunningLarder.start(data: data, settings)
        let token = try #require(try await first.guest().token)
        await first.kill9()
        try fill(data, megabytes: StartSize.megabytes)
        // Writes, so that there is a log when it is killed.
        let second = try await RunningLarder.start(data: data, settings)
        _ = try await second.guest()
        await second.kill9()
        return token
    }

    @Test("SCALE-20 TRUST-16 after kill -9 the server is ready before the pages are checked, whatever the cache has")
    func ready() async throws {
        let data = try TemporaryFolder()
        let token = try await killed(data)
        let clock = ContinuousClock()
        let begin = clock.now
        let larder = try await RunningLarder.start(data: data, Self.settings)
        let status = try await larder.client.get("/health/ready").status
        let duration = clock.now - begin
        #expect(status == 200)
        print("start: ready after kill -9 with \(StartSize.megabytes) MiB in \(duration)")
        // The optimized server; a debug build beside other tests says nothing of the time.
        if StartSize.isFull { #expect(duration < .seconds(2)) }
        var client = larder.client
        client.token = token
        #expect(try await client.get("/v1/ships/session").status == 200)
        try await larder.process.logged("the pages of the database were checked after an unclean stop")
    }

    @Test("SRV-12 readiness does not wait for the programs to be tried, and says what it does not know yet")
    func untried() async throws {
        let larder = try await RunningLarder.start()
        let first = try await larder.client.get("/health/ready")
        #expect(first.status == 200 && first.text.contains(#"{"name":"prlimit","ok":null,"install":null}"#))
        try await BoundedWait.poll(for: "the programs to be tried") {
            try await !larder.client.get("/health/ready").text.contains(#""ok":null"#)
        }
        #expect(try await larder.client.get("/health/ready").text.contains(#""name":"prlimit","ok":true"#))
    }

    @Test("SRV-12 a server that is stopped while the programs are tried ends them first")
    func stoppedWhileTrying() async throws {
        for _ in 0..<5 {
            let larder = try await RunningLarder.start()
            #expect(try await larder.client.get("/health/ready").status == 200)
            #expect(await larder.stop() == 0)
            #expect(!larder.process.log.contains("leaked"), "\(larder.process.log)")
        }
    }

    @Test("TRUST-16 a damaged cache is replaced by an empty one while the server runs, and nothing else is lost")
    func damaged() async throws {
        let data = try TemporaryFolder()
        let token = try await killed(data)
        try damage("stored_body", data)
        let refused = RunningProcess(
            ["serve", "--http-port", "0", "--data-directory", data.path, "--storage-check", "start"]
        )
        #expect(await refused.ended() == 1)
        #expect(refused.log.contains("is damaged"))
        let larder = try await RunningLarder.start(data: data, Self.settings)
        try await larder.process.logged("the damaged tables of the cache were replaced")
        var client = larder.client
        client.token = token
        #expect(try await client.get("/v1/ships/session").status == 200)
        #expect(await larder.stop() == 0)
        let size = RunningProcess(["cache", "size", "--data-directory", data.path])
        #expect(await size.ended() == 0)
        #expect(!size.output.contains("spacex.raw") || size.output.contains("0 B in 0 responses"), "\(size.output)")
        let again = try await RunningLarder.start(data: data, Self.settings + ["--storage-check", "start"])
        #expect(try await again.client.get("/health/ready").status == 200)
    }

    @Test("TRUST-16 damage elsewhere is reported by the log and by readiness; the server serves what can be read")
    func damagedData() async throws {
        let data = try TemporaryFolder()
        _ = try await killed(data)
        try damage("note", data)
        let larder = try await RunningLarder.start(data: data, Self.settings)
        try await larder.process.logged("pages of the database are damaged")
        let ready = try await larder.client.get("/health/ready")
        #expect(ready.status == 503 && ready.text.contains(#"{"name":"database","ok":false}"#))
        #expect(try await larder.client.get("/v1/ships/launch").status == 200)
    }

    @Test("TRUST-14 leftovers of uploads and jobs of a killed server are removed before the next one listens")
    func leftovers() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        await first.kill9()
        let folders = ["work", "uploads"].map { data.url.appending(path: $0) }
        for folder in folders {
            let job = folder.appending(path: "job-1/deep")
            try FileManager.default.createDirectory(at: job, withIntermediateDirectories: true)
            try Data("a photo".utf8).write(to: job.appending(path: "in0"))
            try Data("an upload".utf8).write(to: folder.appending(path: "file"))
        }
        let second = try await RunningLarder.start(data: data)
        let left = try folders.flatMap { try FileManager.default.contentsOfDirectory(atPath: $0.path) }
        #expect(left == [], "work exists, and both are empty, as soon as it listens")
        #expect(await second.stop() == 0)
    }

    /// Overwrites the first page of a table.
    private func damage(_ table: String, _ data: TemporaryFolder) throws {
        let path = data.url.appending(path: "larder.sqlite").path
        let queue = try DatabaseQueue(path: path)
        let page = try queue.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table]) ?? 0
        }
        // The log stays, or the next start would find a clean stop. Its frames are in the database now: after its head
        // there are none, since one of the damaged page would repair it.
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        try queue.close()
        try log.prefix(32).write(to: URL(filePath: path + "-wal"))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        try file.close()
    }
}
