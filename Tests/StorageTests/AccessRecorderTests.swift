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
