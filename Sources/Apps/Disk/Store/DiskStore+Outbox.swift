import Cluster
import Foundation
import GRDB
import Screens
import Storage
import Upstream

/// The author of a change of operations.
enum OutboxAuthor: Sendable {
    /// A client that leaves a write, with the bytes of an upload: nothing makes room for it on a full disk.
    case client(upload: Blob?)
    /// A user who decides about operations.
    case user
    /// The server that sends them. Of several, it must have the lease of the account.
    case sender
}

/// Changes of an account's operations.
struct OutboxDecision: Sendable {
    var changes: [OutboxChange<QueuedWrite>]
    /// The operation that is shown afterwards.
    var shown: OutboxEntry<QueuedWrite>

    /// Returns the shown operation in its state after the changes, or its last state if it was removed.
    fileprivate func shown(in put: [OutboxEntry<QueuedWrite>]) -> OutboxEntry<QueuedWrite> {
        put.first { $0.id == shown.id } ?? shown
    }

    /// Whether an operation that is put has these bytes.
    fileprivate func uses(_ blob: Blob) -> Bool { changes.contains { $0.put?.blob == blob } }
}

// Changes of pending writes. Rows are the truth; readers have the pending operations in memory.
extension DiskStore {
    /// Decides on changes of an account's operations, and makes them. When this returns, they are on the disk.
    ///
    /// - Parameter decide: Decides by the operations in memory and by rows. It may be called more than once.
    /// - Returns: The operation that is shown, as it is now; nil if nothing was decided on, or the account was logged
    ///   out.
    /// - Throws: `LeaseLost` if another server sends by now; errors of the store and of `decide`.
    func change(
        of account: String,
        by author: OutboxAuthor,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> OutboxEntry<QueuedWrite>? {
        var (upload, lease, room): (Blob?, Lease?, UserDatabase.Deletion) = (nil, nil, .toTrash)
        switch author {
        case .client(let blob): (upload, room) = (blob, .nothing)
        case .user: break
        case .sender: lease = try senderLease(of: account)
        }
        let changed = try await users.write(
            scope: Self.scope(account),
            holding: lease,
            deleting: room,
            contents: upload.map { [$0] } ?? []
        ) { [self, upload] db -> OutboxEntry<QueuedWrite>? in
            try followOutbox(of: account, db)
            guard try isFollowed(account, db), let decision = try decide(db) else { return nil }
            if let upload, decision.uses(upload) { try database.blobs.insert(upload, in: db) }
            return decision.shown(in: try change(decision.changes, account: account, db))
        }
        try followOutbox(of: account)
        return changed
    }

    /// Changes one operation.
    ///
    /// - Returns: The operation as it is now; nil if it was taken back or is done.
    /// - Throws: Errors of ``change(of:by:_:)`` and of `body`.
    func change(
        _ id: String,
        account: String,
        by author: OutboxAuthor = .sender,
        _ body: @escaping @Sendable (inout OutboxEntry<QueuedWrite>) throws -> Void
    ) async throws -> OutboxEntry<QueuedWrite>? {
        try await change(of: account, by: author) { [outbox] _ in
            guard var entry = outbox.entry(id, of: account) else { return nil }
            try body(&entry)
            return OutboxDecision(changes: [.put(entry)], shown: entry)
        }
    }

    /// Returns an operation, also one that is done; nil if there is none, or it was long ago.
    ///
    /// - Throws: `StorageError`.
    func finished(_ id: String, account: String) throws -> OutboxEntry<QueuedWrite>? {
        try users.read { [outbox] in try outbox.finished(id, account: account, $0) }
    }

    /// Lets memory follow the rows of an account that have changed, if several servers change them.
    ///
    /// - Throws: `StorageError`.
    func followOutbox(of account: String) throws {
        if try outbox.follow(account, in: users.read) { bump(account) }
    }

    /// Does the same within a transaction that has changed no operation.
    func followOutbox(of account: String, _ db: Database) throws {
        if try outbox.follow(account, in: { try $0(db) }) { bump(account) }
    }

    /// Lets memory follow the rows of all accounts.
    ///
    /// - Throws: `StorageError`.
    func followOutboxes() throws {
        for account in outbox.accountsBehind { try followOutbox(of: account) }
    }
}

extension DiskStore {
    /// The table of writes that wait for the API.
    static let outboxJournal = OutboxJournal("disk_outbox")
    static let outboxMigration = SchemaMigration("disk/006 outbox", sql: outboxJournal.creation)

    /// Returns the Disk of an account as it will be, with the writes that wait; nil if none waits.
    func outlook(of account: String) -> (DiskOutlook, OutboxQueue<QueuedWrite>)? {
        outbox.queue(of: account).map { ($0.view, $0) }
    }

    /// The writes of an account that wait; nil if none does.
    func pendingWrites(of account: String) -> Meta.PendingWrites? {
        outbox.queue(of: account).map(Meta.PendingWrites.init)
    }

    /// Whether no write can be left beside those that wait.
    func isOutboxFull(_ waiting: Meta.PendingWrites?) -> Bool {
        waiting?.count ?? 0 >= settings[DiskApp.outboxOperations]
    }

    /// Changes the outbox of an account in the present transaction; its screens change with it.
    ///
    /// - Returns: The operations that were put.
    @discardableResult
    func change(
        _ changes: [OutboxChange<QueuedWrite>],
        account: String,
        _ db: Database
    ) throws -> [OutboxEntry<QueuedWrite>] {
        let entries = try outbox.apply(changes, in: db)
        bump(account, after: db)
        return entries
    }

    /// Ends an operation, in the transaction that counts its change, and begins the next one: its items are read once
    /// more before it is sent, and it needs no transaction of its own.
    func finish(_ id: String, account: String, at now: Date, _ db: Database) throws {
        try followOutbox(of: account, db)
        guard var entry = outbox.entry(id, of: account) else { return }
        _ = entry.progress.apply(.succeeded, at: now)
        var changes = [OutboxChange.put(entry)]
        if case .run(var next) = outbox.turn(of: account, at: now, after: id) {
            _ = next.progress.apply(.began, at: now)
            changes.append(.put(next))
        }
        try change(changes, account: account, db)
    }

    /// Removes the last operations of an account that is logged out, in parts: a change of several servers has a limit.
    func removeLongOutbox(of account: String) async throws {
        guard users.isShared else { return }
        var isLong = true
        while isLong {
            isLong = try await users.write(scope: Self.scope(account), deleting: .permanent) { db in
                try Self.outboxJournal.shorten(of: account, to: Self.shortOutbox, by: Self.shortOutbox, db)
            }
        }
    }

    /// So many operations are in one change of several servers.
    private static let shortOutbox = 500

    /// Lets operations that wait for an accepted token be tried again, in the transaction of a login.
    func retryOutbox(account: String, at now: Date, _ db: Database) throws {
        let entries: [OutboxEntry<QueuedWrite>] = try Self.outboxJournal.unfinished(of: account, db)
        let changes = entries.filter { $0.progress.reason == ProblemCode.upstreamSessionExpired.rawValue }.map {
            entry in
            var entry = entry
            _ = entry.progress.apply(.retried, at: now)
            return OutboxChange.put(entry)
        }
        if !changes.isEmpty { try change(changes, account: account, db) }
    }

    /// Returns the upload that has the content of a file which waits.
    func queuedContent(of item: DiskItem, account: String) -> KeptContent? {
        guard let id = item.queuedUpload, let entry = outbox.entry(id, of: account), let blob = entry.blob else {
            return nil
        }
        return KeptContent(blob: blob, version: item.version ?? "", storedAt: entry.queuedAt, isQueued: true)
    }
}

extension Meta.PendingWrites {
    init(_ queue: OutboxQueue<QueuedWrite>) {
        self.init(count: queue.entries.count, undecided: queue.undecided)
    }
}

extension OutboxQueue where Work == QueuedWrite {
    /// The paths of moves that the API may have carried out.
    var unsettledMoves: [DiskPath] { unsettled.filter { $0.work.kind == .move }.map(\.work.path) }
}

extension DiskOutlook {
    /// Returns a row as it will be.
    ///
    /// - Parameters:
    ///   - row: The row as the API has it.
    ///   - path: Where it is shown.
    func row(_ row: DiskRow, at path: DiskPath, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow {
        let node = projection.node(path)
        guard node != nil || row.item.path != path else { return row }
        var row = row
        if row.item.path != path {
            row.item.source = row.item.path
            row.item = row.item.at(path)
        }
        if let isPublished = node?.isPublished {
            if isPublished { row.item.isPublished = true } else { row.item.unpublish() }
        }
        row.pending = pending(node?.write, in: queue)
        return row
    }

    /// Returns the row of something that is made here.
    func row(of item: DiskItem, _ node: DiskProjection.Node, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow {
        var item = item
        let entry = node.made.flatMap { queue.entries[number: $0] }
        if item.kind == .file { item.queuedUpload = entry?.id }
        item.isPublished = node.isPublished ?? false
        var row = DiskRow(item: item, seenAt: entry?.queuedAt ?? .distantPast, isDownloaded: item.kind == .file)
        row.pending = pending(node.write, in: queue)
        return row
    }
}
