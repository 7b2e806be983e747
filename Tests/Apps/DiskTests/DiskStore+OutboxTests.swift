import Foundation
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes that wait, in the database")
struct DiskStoreOutboxTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    @Test("Leaving, sending, finishing and asking for a write find their rows by an index")
    func plans() async throws {
        try await DiskHarness.run { app in
            _ = try await app.logIn()
            let store = app.store
            let folder = QueuedWrite(kind: .folder, path: .at("/new"))
            let entry = OutboxEntry(id: "one", account: "1130", work: folder, queuedAt: Self.noon)
            let other = OutboxEntry(id: "two", account: "1130", work: folder, queuedAt: Self.noon)
            let ran = try await app.statements.statements {
                try await app.database.write { db in
                    _ = try store.change([.put(entry), .put(other)], account: "1130", db)
                }
                _ = try await store.change("one", account: "1130") { _ = $0.progress.apply(.began, at: Self.noon) }
                try await app.database.write { try store.finish("one", account: "1130", at: Self.noon, $0) }
                let rest = try #require(store.outbox.entry("two", of: "1130"))
                try await app.database.write { db in _ = try store.change([.remove(rest)], account: "1130", db) }
                _ = try app.database.read { try store.outbox.finished("one", account: "1130", $0) }
                try await app.database.write { try store.outbox.removeAll(of: "1130", in: $0) }
            }
            let own = Set(ran.filter { $0.contains("disk_outbox") && !$0.hasPrefix("--") })
            #expect(own.count == 5, "\(own)")
            for sql in own {
                let plan = try QueryPlan(sql, in: app.database)
                #expect(!plan.scans && !plan.sorts, "\(sql): \(plan)")
            }
        }
    }

    @Test("A hundred of the writes that are done are kept, so that a client can ask what became of them")
    func kept() async throws {
        try await DiskHarness.run { app in
            _ = try await app.logIn()
            let store = app.store
            for number in 0..<120 {
                let write = QueuedWrite(kind: .folder, path: .at("/\(number)"))
                let entry = OutboxEntry(id: "\(number)", account: "1130", work: write, queuedAt: Self.noon)
                try await app.database.write { db in _ = try store.change([.put(entry)], account: "1130", db) }
                _ = try await store.change("\(number)", account: "1130") { entry in
                    _ = entry.progress.apply(.began, at: Self.noon)
                    _ = entry.progress.apply(.succeeded, at: Self.noon)
                }
            }
            let found = try app.database.read { db in
                try (0..<120).filter { try store.outbox.finished("\($0)", account: "1130", db) != nil }
            }
            #expect(found == Array(20..<120))
            #expect(store.outbox.queue(of: "1130") == nil)
        }
    }
}
