import ResponseStore
import Database
import Foundation
import GRDB
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
