import Database
import Foundation
import GRDB
import Upstream

/// The writes that wait for the API. Readers have them in memory (``DiskStore/outbox``); this changes them.
///
/// They are in the server's own database (``DiskStore``), or in one that several servers share (``SharedOutbox``).
protocol OutboxBook: Sendable {
    /// What is not done, as readers have it.
    var memory: Outbox<QueuedWrite> { get }

    /// Decides on changes of an account's operations, and makes them. When this returns, they are on the disk.
    ///
    /// - Parameter decide: Decides by what memory and the rows of ``DiskStore`` have. It may be called more than once.
    /// - Returns: The operation that is shown, as it is now; nil if nothing was decided on, or the account was logged
    ///   out.
    /// - Throws: Errors of the store; what `decide` throws.
    func change(
        of account: String,
        by author: OutboxAuthor,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> OutboxEntry<QueuedWrite>?

    /// Ends an operation that this server has sent, together with what it has changed, and begins the one whose turn it
    /// is then: no reader sees both, or neither.
    ///
    /// - Returns: The new state of the account; nil if it was logged out.
    /// - Throws: Errors of the store.
    func finish(_ id: String, with change: DiskChange, account: String, at now: Date) async throws -> DiskStore.Applied?

    /// Returns an operation, also one that is done; nil if there is none, or it was long ago.
    ///
    /// - Throws: Errors of the store.
    func finished(_ id: String, account: String) async throws -> OutboxEntry<QueuedWrite>?

    /// Opens the bytes of an upload that waits.
    ///
    /// - Throws: `StorageError.blobUnavailable` if it does not wait any more; errors of the store.
    func upload(_ blob: Blob) async throws -> BlobReader

    /// Runs `body` while no other server sends the operations of an account.
    ///
    /// - Returns: After how long it is to be tried again; nil if `body` has run to its end.
    /// - Throws: Errors of the store; what `body` throws.
    func sending(_ account: String, at now: Date, _ body: @escaping @Sendable () async throws -> Void) async throws
        -> Duration?

    /// Checks that no other server sends the operations of an account by now.
    ///
    /// - Throws: ``NotSender``.
    func checkIsSender(of account: String) throws

    /// Brings memory up to date with what other servers have changed of an account.
    ///
    /// - Throws: Errors of the store.
    func catchUp(outboxOf account: String) async throws

    /// Brings memory up to date with all accounts that have operations.
    ///
    /// - Throws: Errors of the store.
    func catchUpOutboxes() async throws

    /// After how long ``catchUpOutboxes()`` is due again: what a server that has ended was sending is taken over. Nil
    /// if there are no others.
    var lookInterval: Duration? { get }
}

/// Who changes operations.
enum OutboxAuthor: Sendable {
    /// A client that leaves a write, with the bytes of an upload: nothing makes room for it on a full disk.
    case client(upload: Blob?)
    /// A user who decides about operations.
    case user
    /// The server that sends them.
    case sender
}

/// Changes of an account's operations.
struct OutboxDecision: Sendable {
    var changes: [OutboxChange<QueuedWrite>]
    /// The operation that is shown afterwards.
    var shown: OutboxEntry<QueuedWrite>

    /// Returns the shown operation as it was put, or as it was before it was removed.
    func shown(in put: [OutboxEntry<QueuedWrite>]) -> OutboxEntry<QueuedWrite> {
        put.first { $0.id == shown.id } ?? shown
    }

    /// Whether an operation that is put has these bytes.
    func uses(_ blob: Blob) -> Bool { changes.contains { $0.put?.blob == blob } }
}

/// Another server sends the operations of the account by now.
struct NotSender: Error {}

extension OutboxBook {
    /// Changes one operation.
    ///
    /// - Returns: The operation as it is now; nil if it was taken back or is done.
    /// - Throws: Errors of the store; what `body` throws.
    func change(
        _ id: String,
        account: String,
        by author: OutboxAuthor = .sender,
        _ body: @escaping @Sendable (inout OutboxEntry<QueuedWrite>) throws -> Void
    ) async throws -> OutboxEntry<QueuedWrite>? {
        try await change(of: account, by: author) { [memory] _ in
            guard var entry = memory.entry(id, of: account) else { return nil }
            try body(&entry)
            return OutboxDecision(changes: [.put(entry)], shown: entry)
        }
    }
}

extension DiskStore: OutboxBook {
    var memory: Outbox<QueuedWrite> { outbox }

    func change(
        of account: String,
        by author: OutboxAuthor,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> OutboxEntry<QueuedWrite>? {
        let make = { @Sendable [self] (db: Database) throws -> OutboxEntry<QueuedWrite>? in
            guard let decision = try decide(db) else { return nil }
            if case .client(let upload?) = author, decision.uses(upload) { try database.blobs.insert(upload, in: db) }
            return decision.shown(in: try change(decision.changes, account: account, db))
        }
        if case .client = author { return try await database.write(make) }
        return try await database.writeFreeingRoom(make)
    }

    func finish(_ id: String, with change: DiskChange, account: String, at now: Date) async throws -> Applied? {
        try await apply(change, account: account, at: now, finishing: id)
    }

    func finished(_ id: String, account: String) async throws -> OutboxEntry<QueuedWrite>? {
        try database.read { [outbox] in try outbox.finished(id, account: account, $0) }
    }

    func upload(_ blob: Blob) async throws -> BlobReader { try database.blobs.reader(blob) }

    func sending(_ account: String, at now: Date, _ body: @escaping @Sendable () async throws -> Void) async throws
        -> Duration?
    {
        try await body()
        return nil
    }

    func checkIsSender(of account: String) {}

    func catchUp(outboxOf account: String) {}

    func catchUpOutboxes() {}

    var lookInterval: Duration? { nil }
}
