import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

/// The author of a change of operations.
enum OutboxAuthor: Sendable {
    /// A client that queues a write, with the bytes of an upload: nothing makes room for it on a full disk.
    case client(upload: Blob?)
    /// A user who decides about operations.
    case user
    /// The server that sends them. Of several, it must have the lease of the account.
    case sender
}

/// Changes of an account's operations.
struct OutboxDecision: Sendable {
    var changes: [OutboxChange<QueuedWrite>]
    var shown: OutboxEntry<QueuedWrite>

    /// Returns the shown operation in its state after the changes, or its last state if it was removed.
    fileprivate func shown(in put: [OutboxEntry<QueuedWrite>]) -> OutboxEntry<QueuedWrite> {
        put.first { $0.id == shown.id } ?? shown
    }

    /// Whether an operation that is put has these bytes.
    fileprivate func uses(_ blob: Blob) -> Bool { changes.contains { $0.put?.blob == blob } }
}

/// An operation after a change, and the writes of its account that wait then; nil if none does.
struct OutboxOutcome: Sendable {
    let entry: OutboxEntry<QueuedWrite>
    let pending: Meta.PendingWrites?
}

// Changes of pending writes. Rows are authoritative; readers have the pending operations in memory.
extension DiskStore {
    /// Decides on changes of an account's operations, and makes them. When this returns, they are on the disk.
    ///
    /// - Parameter decide: Decides by the operations in memory and by rows. It may be called more than once.
    /// - Returns: The operation that is shown; nil if nothing was decided on, or the account was logged out.
    /// - Throws: `LeaseLost` if another server sends by now; errors of the store and of `decide`.
    func change(
        of account: String,
        by author: OutboxAuthor,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> OutboxOutcome? {
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
        ) { [self, upload] db -> OutboxOutcome? in
            try followOutbox(of: account, db)
            guard try isFollowed(account, db), let decision = try decide(db) else { return nil }
            if let upload, decision.uses(upload) { try database.blobs.insert(upload, in: db) }
            let counts = (outbox.queue(of: account) ?? OutboxQueue()).counts(after: decision.changes)
            return OutboxOutcome(
                entry: decision.shown(in: try change(decision.changes, account: account, db)),
                pending: counts.all == 0 ? nil : .init(count: counts.all, undecided: counts.undecided)
            )
        }
        try followOutbox(of: account)
        return changed
    }

    /// Changes one operation.
    ///
    /// - Returns: The operation after the change; nil if it was taken back or is done.
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
        }?.entry
    }

    /// Returns an operation, also one that is done; nil if there is none, or it was long ago.
    func finished(_ id: String, account: String) throws -> OutboxEntry<QueuedWrite>? {
        try users.read { [outbox] in try outbox.finished(id, account: account, $0) }
    }

    /// Lets memory follow the rows of an account that have changed, if several servers change them.
    func followOutbox(of account: String) throws {
        if try outbox.follow(account, in: users.read) { bump(account) }
    }

    /// Does the same within a transaction that has changed no operation.
    func followOutbox(of account: String, _ db: Database) throws {
        if try outbox.follow(account, in: { try $0(db) }) { bump(account) }
    }

    /// Lets memory follow the rows of all accounts.
    func followOutboxes() throws {
        for account in outbox.accountsBehind { try followOutbox(of: account) }
    }

    /// The table of writes that wait for the API.
    static let outboxJournal = OutboxJournal("disk_outbox")
    static let outboxMigration = SchemaMigration("disk/006 outbox", sql: outboxJournal.creation)

    /// Returns the Disk of an account after the pending writes, and these; nil if none waits.
    func pendingView(of account: String) -> (PendingView, OutboxQueue<QueuedWrite>)? {
        outbox.queue(of: account).map { ($0.view, $0) }
    }

    /// The writes of an account that wait; nil if none does.
    func pendingWrites(of account: String) -> Meta.PendingWrites? {
        outbox.queue(of: account).map(Meta.PendingWrites.init)
    }

    /// Whether no write can be queued beside those that wait.
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

    /// Ends an operation in the transaction that counts its change, and begins the next one, which therefore needs no
    /// transaction of its own. The items of the next one are read once more before it is sent.
    func finish(_ id: String, account: String, at now: Date, _ db: Database) throws {
        try followOutbox(of: account, db)
        guard var entry = outbox.entry(id, of: account) else { return }
        _ = entry.progress.apply(.succeeded, at: now)
        var changes = [OutboxChange.put(entry)]
        if case .run(var next) = outbox.next(of: account, at: now, after: id) {
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

    /// The most operations that one change of several servers removes, and that may be left to the last of these
    /// changes.
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

extension PendingView {
    /// Returns a row after the pending writes.
    ///
    /// - Parameters:
    ///   - row: The row as the API has it.
    ///   - path: Where it is shown.
    func row(_ row: DiskRow, at path: DiskPath, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow {
        let node = tree.node(path)
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

    /// Returns the row of something that is made or moved here.
    ///
    /// - Parameter known: Returns the row of a path of the API; nil if it is not known.
    func row(
        of shown: Shown,
        _ queue: OutboxQueue<QueuedWrite>,
        known: (DiskPath) throws -> DiskRow?
    ) rethrows -> DiskRow? {
        if let item = shown.node.item { return row(of: item.at(shown.path), shown.node, queue) }
        guard let source = shown.node.source else { return nil }
        let other = shown.item.map { DiskRow($0.at(source)) }
        return try (known(source) ?? other).map { row($0, at: shown.path, queue) }
    }

    /// Returns the row of something that is made here.
    func row(of item: DiskItem, _ node: PendingTree.Node, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow {
        var item = item
        let entry = node.made.flatMap { queue.entries[number: $0] }
        if item.kind == .file { item.queuedUpload = entry?.id }
        item.isPublished = node.isPublished ?? false
        var row = DiskRow(item: item, seenAt: entry?.queuedAt ?? .distantPast, isDownloaded: item.kind == .file)
        row.pending = pending(node.write, in: queue)
        row.isMadeHere = true
        return row
    }
}

/// The accounts whose writes this server sends, if there are others.
final class OutboxSenders: Sendable {
    private struct State {
        var leases: [String: Lease] = [:]
        /// Accounts that another server sends, each with the time before which its lease is not requested again.
        var pauses: [String: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// The lease of an account; nil if another server sends it, or none.
    subscript(account: String) -> Lease? {
        get { state.withLock { $0.leases[account] } }
        set { state.withLock { $0.leases[account] = newValue } }
    }

    /// Returns how long the lease of an account is not requested.
    func rest(of account: String) -> Duration? {
        let rest = state.withLock { $0.pauses[account].map { ContinuousClock.now.duration(to: $0) } }
        return rest.flatMap { $0 > .zero ? $0 : nil }
    }

    func pause(_ account: String, for time: Duration) { state.withLock { $0.pauses[account] = .now + time } }
}

// One server at a time sends the writes of an account: the one that has its lease.
extension DiskStore {
    /// How long another server waits before it takes over from one that has stopped.
    private static let sendingTime = Duration.seconds(15)
    private static let sendingRenewal = Duration.seconds(5)
    /// Pause before the lease of an account that another server holds is requested again.
    private static let sendingPause = Duration.seconds(5)

    /// Runs `body` while no other server sends the writes of an account.
    ///
    /// - Returns: After how long it is to be tried again; nil if `body` has run to its end.
    func sending(_ account: String, at now: Date, _ body: @escaping @Sendable () async throws -> Void) async throws
        -> Duration?
    {
        guard users.isShared else {
            if begun(of: account) != nil { try await interrupt(account, at: now) }
            try await body()
            return nil
        }
        if let rest = senders.rest(of: account) { return rest }
        guard let lease = try await takeLease(of: account) else {
            senders.pause(account, for: Self.sendingPause)
            return Self.sendingPause
        }
        var pause: Duration?
        do {
            try await interrupt(account, at: now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await renew(lease, of: account) }
                group.addTask(operation: body)
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is LeaseLost {
            pause = Self.sendingPause
        } catch {
            await endSending(of: account)
            throw error
        }
        await endSending(of: account)
        return pause
    }

    /// Becomes the sender of an account.
    ///
    /// - Returns: Nil if another server is.
    func takeLease(of account: String) async throws -> Lease? {
        // It may have been used on other servers only.
        try await catchUp(account)
        let lease = try await users.leases.take("disk/outbox/\(account)", lasting: Self.sendingTime)
        if let lease { senders[account] = lease }
        return lease
    }

    /// Marks a write as interrupted that was begun and whose end was not stored. It may be carried out, so the items
    /// are read before it is sent again. Of several servers, one that has ended may have begun it: memory knows it
    /// within the transaction.
    func interrupt(_ account: String, at now: Date) async throws {
        _ = try await change(of: account, by: .sender) { [self] _ in
            guard var begun = begun(of: account) else { return nil }
            _ = begun.progress.apply(.interrupted, at: now)
            return OutboxDecision(changes: [.put(begun)], shown: begun)
        }
    }

    /// Renews a lease as long as this task is not cancelled.
    ///
    /// - Throws: `LeaseLost`; `CancellationError`.
    private func renew(_ lease: Lease, of account: String) async throws {
        while true {
            try await clock.sleep(Self.sendingRenewal)
            do {
                let renewed = try await users.leases.renew([lease], lasting: Self.sendingTime).first
                guard let renewed else { throw LeaseLost() }
                senders[account] = renewed
            } catch  where UserDatabase.isTemporary(error) {
                // PostgreSQL may respond again before the lease is over.
                try checkIsSender(of: account)
            }
        }
    }

    /// Lets other servers send the writes of an account. If that fails, they wait for the end of the lease.
    func endSending(of account: String) async {
        guard let lease = senders[account] else { return }
        senders[account] = nil
        _ = try? await Task { try await users.leases.release([lease]) }.value
    }

    /// Checks that no other server sends the writes of an account by now.
    ///
    /// - Throws: `LeaseLost`.
    func checkIsSender(of account: String) throws {
        guard !users.isShared || senders[account]?.holds() == true else { throw LeaseLost() }
    }

    /// Returns the write that is being sent, or was when its server ended.
    func begun(of account: String) -> OutboxEntry<QueuedWrite>? {
        outbox.queue(of: account)?.unsettled.first { $0.progress.state == .running }
    }

    /// Returns the lease by which this server sends the writes of an account; nil if there is no other server.
    ///
    /// - Throws: `LeaseLost` if it has none.
    func senderLease(of account: String) throws -> Lease? {
        guard users.isShared else { return nil }
        guard let lease = senders[account] else { throw LeaseLost() }
        return lease
    }
}
