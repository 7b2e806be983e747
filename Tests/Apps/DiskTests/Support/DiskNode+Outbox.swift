import Cluster
import Foundation
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

extension DiskNode {
    /// Creates a server with an account that is logged in.
    static func loggedIn(_ kind: StoreKind) async throws -> DiskNode {
        let node = try await alone(kind)
        try await node.logIn()
        return node
    }

    /// Another server of the same store, or the same one after a restart.
    func other() async throws -> DiskNode {
        let other = try DiskNode(#require(access).otherServer())
        try await other.cache.catchUp("1130")
        return other
    }

    /// Becomes the sender of the account's writes.
    func begin() async throws -> Bool {
        guard try await cache.takeLease(of: "1130") != nil else { return false }
        try await cache.interrupt("1130", at: Self.noon)
        return true
    }

    /// Puts the operation that memory has, or a new one, after `body` has changed it.
    @discardableResult
    func put(
        _ id: String,
        by author: OutboxAuthor = .user,
        _ body: @escaping @Sendable (inout OutboxEntry<QueuedWrite>) -> Void = { _ in }
    ) async throws -> OutboxEntry<QueuedWrite> {
        let changed = try await cache.change(of: "1130", by: author) { [cache] _ in
            let write = QueuedWrite(kind: .folder, path: .at("/\(id)"))
            var entry =
                cache.outbox.entry(id, of: "1130")
                ?? OutboxEntry(id: id, account: "1130", work: write, queuedAt: Self.noon)
            body(&entry)
            return OutboxDecision(changes: [.put(entry)], shown: entry)
        }
        return try #require(changed).entry
    }

    func remove(_ id: String) async throws {
        _ = try await cache.change(of: "1130", by: .user) { [cache] _ in
            cache.outbox.entry(id, of: "1130").map { OutboxDecision(changes: [.remove($0)], shown: $0) }
        }
    }

    /// Applies events to an operation.
    @discardableResult
    func apply(_ events: OutboxProgress.Event..., to id: String, by author: OutboxAuthor = .user)
        async throws
        -> OutboxEntry<QueuedWrite>?
    {
        try await cache.change(id, account: "1130", by: author) { entry in
            for event in events { _ = entry.progress.apply(event, at: Self.noon) }
        }
    }

    func finish(_ id: String) async throws -> DiskStore.Applied? {
        try await cache.apply(.doubtful, account: "1130", at: Self.noon, finishing: id)
    }

    func finished(_ id: String) async throws -> OutboxEntry<QueuedWrite>? {
        try cache.finished(id, account: "1130")
    }

    /// The ids of the pending operations in memory.
    var waiting: [String] { cache.outbox.queue(of: "1130")?.entries.map(\.id) ?? [] }

    /// The numbers, ids and progress of the pending operations in memory.
    var operations: [String] {
        cache.outbox.queue(of: "1130")?.entries.map { "\($0.number) \($0.id) \($0.progress)" } ?? []
    }

    /// How many files of uploads rows have in the store.
    func contents() async throws -> Int {
        let sql = "SELECT 1 AS one FROM content WHERE unused IS NULL"
        return try await #require(access?.database).rows(sql) { _ in }.count
    }
}
