import Foundation
import GRDB
import Logging
import Storage
import TestKit
import Testing

@Suite struct LarderDatabaseAccessTests {
    @Test("A read does not wait for a write that is under way, and sees the state before it")
    func readDuringWrite() throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        try database.write { db in
            try store.save(makeCachedResponse(), in: db)
            // On another connection, while this one holds the write lock: GRDB refuses nested reads on one thread, so
            // another thread reads.
            let count = OtherThread.run { try? store.responses(like: makeCachedResponse()).count }
            #expect(count == 0)
        }
        #expect(try store.responses(like: makeCachedResponse()).count == 1)
    }

    @Test("Reads within a read are of its state and use its connection, also after one of them has failed")
    func readsWithinRead() throws {
        var options = DatabaseOptions()
        options.maximumReaderCount = 1
        let database = try LarderDatabase.withCacheTables(
            in: .temporary(),
            options: options,
            logger: Logger(label: "test")
        )
        let store = ResponseStore(database)
        let counts = try database.read { _ in
            let before = try store.responses(like: makeCachedResponse()).count
            let isStored = OtherThread.run {
                (try? database.write { try store.save(makeCachedResponse(), in: $0) }) != nil
            }
            #expect(isStored == true)
            #expect(throws: (any Error).self) { try database.read { try $0.execute(sql: "SELECT nothing") } }
            return (before, try store.responses(like: makeCachedResponse()).count)
        }
        #expect(counts == (0, 0))
        #expect(try store.responses(like: makeCachedResponse()).count == 1)
    }

    @Test("A read of one database within that of another has a connection of its own")
    func readsOfTwoDatabases() throws {
        let (one, other) = (try LarderDatabase.temporary(), try LarderDatabase.temporary())
        _ = try other.write { try ResponseStore(other).save(makeCachedResponse(), in: $0) }
        let counts = try one.read { _ in
            let found = try ResponseStore(other).responses(like: makeCachedResponse()).count
            return (found, try ResponseStore(one).responses(like: makeCachedResponse()).count)
        }
        #expect(counts == (1, 0))
    }
}

private enum OtherThread {
    /// Runs `body` on a thread of its own and waits for it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let done = DispatchSemaphore(value: 0)
        let box = Box<Value>()
        Thread {
            box.value = body()
            done.signal()
        }.start()
        done.wait()
        return box.value
    }

    /// The semaphore orders the accesses.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value?
    }
}
