import Foundation
import GRDB
import HTTPTypes
import TestKit
import Testing

@testable import Storage

@Suite struct AccessRecorderTests {
    private let database: LarderDatabase
    private let store: ResponseStore

    init() throws {
        database = try .temporary()
        store = ResponseStore(database)
    }

    private func lastUsed() throws -> Date? { try store.responses(like: makeCachedResponse()).first?.lastUsed }

    @Test("Uses are written when flushed, the latest of each response, and then not again")
    func flush() async throws {
        let id = try await store.save(makeCachedResponse())
        let uses = AccessRecorder()
        for seconds in [30.0, 50, 40] { uses.note(id, at: noon + seconds) }
        #expect(try lastUsed() == noon)
        #expect(try await uses.flush(to: database) == 1)
        #expect(try lastUsed() == noon + 50)
        #expect(try await uses.flush(to: database) == 0)
    }

    @Test("A use soon after a noted one is not noted; nor is one of a response that is not stored")
    func resolution() async throws {
        try await store.save(makeCachedResponse())
        let response = try #require(try store.responses(like: makeCachedResponse()).first)
        let uses = AccessRecorder(resolution: 10)
        uses.note(response.metadata, at: noon + 9)
        uses.note(makeCachedResponse().metadata, at: noon + 1000)
        #expect(try await uses.flush(to: database) == 0)
        uses.note(response.metadata, at: noon + 10)
        #expect(try await uses.flush(to: database) == 1)
        #expect(try lastUsed() == noon + 10)
    }

    @Test("Pages are noted too")
    func pages() async throws {
        let key = PageKey(account: "disk/1", screen: "recent", offset: 0, limit: 10)
        try await database.write { db in
            try PageStore().save(PageList(key: key, rowKeys: ["a"], total: 1, hasMore: false, fetchedAt: noon), in: db)
        }
        let uses = AccessRecorder()
        uses.note(key, at: noon + 20)
        #expect(try await uses.flush(to: database) == 1)
        let noted = try await database.pool.read { try Int64.fetchOne($0, sql: "SELECT last_used FROM page") }
        #expect(noted == (noon + 20).millisecondsSince1970)
    }

    @Test("Uses between two flushes are bounded; recorded ones stay recorded")
    func bounded() async throws {
        let uses = AccessRecorder(limit: 2)
        for id in 1...5 { uses.note(CachedResponse.ID(id), at: noon) }
        uses.note(1, at: noon + 1)
        #expect(try await uses.flush(to: database) == 2)
    }

    @Test("After an error everything is still recorded")
    func failure() async throws {
        let id = try await store.save(makeCachedResponse())
        let uses = AccessRecorder()
        uses.note(id, at: noon + 60)
        let other = try LarderDatabase.temporary()
        try other.close()
        await #expect(throws: StorageError.self) { try await uses.flush(to: other) }
        #expect(try await uses.flush(to: database) == 1)
        #expect(try lastUsed() == noon + 60)
    }

    @Test("A use is noted while a write is under way: no reader waits for a writer")
    func duringWrite() async throws {
        let id = try await store.save(makeCachedResponse())
        let uses = AccessRecorder()
        try await database.write { db in
            try db.execute(sql: "UPDATE stored_response SET reason = 'x'")
            uses.note(id, at: noon + 30)  // Would never return if it waited for the transaction that it runs in.
        }
        #expect(try await uses.flush(to: database) == 1)
    }
}

/// The time by which data of users expires, whichever way the clock moves.
@Suite struct RetentionTimeTests {
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)

    private static func days(_ days: Double) -> Date { now.addingTimeInterval(days * 86_400) }

    /// Returns the time by which data expires after readings of the clock, in days.
    private static func time(after readings: [Double]) -> Double {
        var time = RetentionTime(recorded: now)
        for reading in readings { time.observe(days(reading)) }
        return time.time(at: days(readings.last ?? 0)).timeIntervalSince(now) / 86_400
    }

    @Test(
        "SCALE-22 data expires by the clock, but not by one that has jumped ahead less than a day ago",
        arguments: [
            ([0.5], 0.5), ([1, 2, 3], 3),
            // A jump, and the way back.
            ([400], 0), ([400, 400.5], 0), ([400, 0.1], 0.1), ([400, 0.1, 400], 0.1),
            // A server that was off for 40 days: a day later it is believed.
            ([40, 40.5, 41], 41), ([40, 40.1, 60, 60.5], 60.5),
            // A second jump within the trial, and one backwards, begin it anew.
            ([40, 400, 400.9], 0), ([400, 40, 40.9], 0), ([400, 440, 440.5], 0), ([40, 400, 401], 401),
            // A clock that is behind lets nothing expire sooner.
            ([-400], -400), ([-400, 0.5], 0.5), ([-400, 0.5, 400], 0.5),
        ] as [([Double], Double)]
    )
    func readings(_ readings: [Double], time: Double) {
        #expect(abs(Self.time(after: readings) - time) < 1e-6)
    }

    @Test("SCALE-22 a database records the time each hour, and a jump of the clock is known to the next start")
    func record() throws {
        let directory = try DataDirectory.temporary()
        let database = try LarderDatabase(in: directory, logger: .quiet)
        #expect(try !database.observe(Self.now).isOutcomeUnknown)
        #expect(try database.observe(Self.days(0.01)).recorded == Self.days(0.01))
        #expect(try database.observe(Self.days(0)).recorded == Self.now)
        #expect(try database.observe(Self.days(0.5)).recorded == Self.days(0.5))
        #expect(try database.observe(Self.days(400)).time(at: Self.days(400)) == Self.days(0.5))
        #expect(try database.observe(Self.days(400.5)).isOutcomeUnknown)
        #expect(try database.observe(Self.days(401)).time(at: Self.days(401)) == Self.days(401))
    }
}
