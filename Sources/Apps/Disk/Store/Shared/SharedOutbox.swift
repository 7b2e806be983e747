import AppInterface
import Concurrency
import Database
import Foundation
import Freshness
import GRDB
import Journal
import Screens
import SharedStore
import Synchronization
import Upstream

/// The writes that wait for the API, in the store that servers share. Memory (``DiskStore/outbox``) follows it on each
/// server.
///
/// Each change of an account's operations has the turn of the account. In it memory is brought up to date first, so
/// that what is decided there is decided by what is committed, as in SQLite. One server at a time sends the operations
/// of an account: the one that has its lease (``sending(_:at:_:)``). The bytes of uploads are stored before the
/// operation (``SharedContents``).
struct SharedOutbox: OutboxBook {
    /// What a change was, to be followed by memory after its commit.
    private struct Made<Value: Sendable>: Sendable {
        let changes: [OutboxChange<QueuedWrite>]
        let before: Int64
        let number: Int64
        let value: Value
    }

    private struct Decided: Sendable {
        let decision: OutboxDecision
        let usesUpload: Bool
    }

    /// What a server has by itself, beside memory.
    final class State: Sendable {
        /// The accounts that are sent by this server.
        let senders = Mutex<[String: Sender]>([:])
        /// Accounts that another server sends, and until when it is not asked for again.
        let pauses = Mutex<[String: ContinuousClock.Instant]>([:])
        /// How long memory may be relied on, by account.
        let kept = Mutex<[String: ChangeToken]>([:])
        /// Accounts that are brought up to date soon.
        let following = Mutex<Set<String>>([])
        /// Uploads that this server has as files.
        let uploads = Mutex<[BlobID: Blob]>([:])
        /// By account: what is committed, is followed by memory before the next change.
        let turns = KeyedMutex()
        /// By the content.
        let fetches = KeyedMutex()
    }

    let shared: SharedDisk
    /// What this server has by itself.
    let cache: DiskStore
    let state = State()
    private let journal = SharedOutboxJournal()

    static let contents = SharedContents("disk_outbox_content")
    private static let message = "disk/outbox"
    /// Many changes in a row are read once.
    private static let pauseBeforeFollowing = Duration.milliseconds(100)

    init(shared: SharedDisk, cache: DiskStore) { (self.shared, self.cache) = (shared, cache) }

    var memory: Outbox<QueuedWrite> { cache.outbox }

    /// The turn and the lease of an account.
    static func turn(_ account: String) -> String { "disk/outbox/\(account)" }

    private static func topic(_ account: String) -> String {
        ServerEvent.Audience.account(app: DiskStore.app, account: account).topic
    }

    // MARK: Changes

    func change(
        of account: String,
        by author: OutboxAuthor,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> OutboxEntry<QueuedWrite>? {
        guard case .client(let upload?) = author else { return try await changed(account, author, nil, decide)?.shown }
        return try await storing(upload) { try await changed(account, author, upload, decide) }
    }

    private func changed(
        _ account: String,
        _ author: OutboxAuthor,
        _ upload: Blob?,
        _ decide: @escaping @Sendable (Database) throws -> OutboxDecision?
    ) async throws -> (shown: OutboxEntry<QueuedWrite>, usesUpload: Bool)? {
        let made = try await state.turns.holding([account]) {
            let made = try await commit(of: account) { transaction, _ -> ([OutboxChange<QueuedWrite>], Decided?) in
                if case .sender = author { try checkIsSender(of: account, transaction) }
                guard let decision = try cache.database.read({ try decide($0) }) else { return ([], nil) }
                let usesUpload = upload.map(decision.uses) ?? false
                if let upload, usesUpload { try Self.contents.use(upload, transaction) }
                return (decision.changes, Decided(decision: decision, usesUpload: usesUpload))
            }
            follow(made, of: account)
            return made
        }
        guard let made, let decided = made.value else { return nil }
        return (decided.decision.shown(in: made.changes.compactMap(\.put)), decided.usesUpload)
    }

    func finish(_ id: String, with change: DiskChange, account: String, at now: Date) async throws -> DiskStore.Applied?
    {
        try await cache.alone(with: account) {
            try await state.turns.holding([account]) {
                let made = try await commit(of: account, change) {
                    transaction,
                    epoch -> ([OutboxChange<QueuedWrite>], Int64?) in
                    try checkIsSender(of: account, transaction)
                    return (cache.finishing(id, account: account, at: now), epoch)
                }
                guard let made, let epoch = made.value else { return nil }
                // Also if this server cannot store it: it is done.
                defer { follow(made, of: account) }
                return try await cache.follow(change, account: account, at: now, epoch: epoch) {
                    follow(made, of: account)
                }
            }
        }
    }

    func finished(_ id: String, account: String) async throws -> OutboxEntry<QueuedWrite>? {
        try await shared.database.read { [journal] in try journal.entry(id, account: account, $0) }
    }

    /// Lets operations that wait for an accepted token be tried again, in the transaction of a login. The row of the
    /// account is locked there, so that no other change of its operations is under way. (``tell(_:of:)``)
    static func retry(of account: String, _ transaction: SQLTransaction) throws {
        _ = try SharedOutboxJournal().begin(account, transaction)
        try transaction.execute(retrying, [account, ProblemCode.upstreamSessionExpired.rawValue])
    }

    /// Tells other servers, and the rest of this one, of a change of an account's operations.
    static func tell(_ changes: SharedChanges, of account: String) {
        changes.tell(message, topic(account), account)
    }

    /// Ends what was being sent when its sender went away, in the transaction in which this server becomes it.
    ///
    /// - Returns: Whether `take` has succeeded.
    func takeOver(
        _ account: String,
        at now: Date,
        _ take: @escaping @Sendable (SQLTransaction) throws -> Bool
    ) async throws -> Bool {
        try await state.turns.holding([account]) {
            let made = try await commit(of: account) { [cache] transaction, _ in
                guard try take(transaction) else { return ([], false) }
                let unsettled = cache.outbox.queue(of: account)?.unsettled ?? []
                let changes = unsettled.filter { $0.progress.state == .running }.map { entry in
                    var entry = entry
                    _ = entry.progress.apply(.interrupted, at: now)
                    return OutboxChange.put(entry)
                }
                return (changes, true)
            }
            follow(made, of: account)
            return made?.value ?? false
        }
    }

    /// Changes the operations of an account. The caller has its turn on this server, and lets memory follow.
    ///
    /// - Parameters:
    ///   - change: a change of files that is counted in the same transaction.
    ///   - body: gets the new epoch.
    /// - Returns: Nil if the account was logged out.
    private func commit<Value: Sendable>(
        of account: String,
        _ change: DiskChange? = nil,
        _ body:
            @escaping @Sendable (SQLTransaction, _ epoch: Int64?) throws -> (
                changes: [OutboxChange<QueuedWrite>], value: Value
            )
    ) async throws -> Made<Value>? {
        let scope = DiskStore.scope(account)
        let made = try await cache.users.write(scope: scope, locks: [Self.turn(account)]) { [cache] db in
            let isLinked = try cache.isFollowed(account, db)
            let epoch = try isLinked ? change.flatMap { try cache.count($0, of: account, db) } : nil
            return (isLinked: isLinked, epoch: epoch, made: Made<Value>?.none)
        } alongside: { linked, alongside in
            guard linked.isLinked, case .store(let transaction) = alongside else { return linked }
            let before = try catchUp(account, transaction)
            let (changes, value) = try body(transaction, linked.epoch)
            guard !changes.isEmpty else {
                return (true, linked.epoch, Made(changes: [], before: before, number: before, value: value))
            }
            let number = try journal.begin(account, transaction)
            let stored = try journal.make(changes, transaction)
            return (true, linked.epoch, Made(changes: stored, before: before, number: number, value: value))
        }.made
        if let made, made.number != made.before { Self.tell(shared.changes, of: account) }
        return made
    }

    private func follow<Value>(_ made: Made<Value>?, of account: String) {
        guard let made, memory.change(of: account) ?? 0 < made.number else { return }
        memory.follow(made.changes, of: account, after: made.before, change: made.number)
        cache.bump(account)
    }

    // MARK: Memory

    /// Brings memory up to date in the turn of an account: what is read is committed, and stays so up to the end of the
    /// turn.
    private func catchUp(_ account: String, _ transaction: SQLTransaction) throws -> Int64 {
        while let changes = try journal.changes(of: account, since: memory.change(of: account), transaction) {
            follow(changes, of: account, since: memory.change(of: account))
        }
        return try journal.number(of: account, transaction)
    }

    private typealias Changes = SharedOutboxJournal.Changes

    /// Lets memory follow what was read. The caller has the turn of the account on this server.
    private func follow(_ read: (Changes, number: Int64), of account: String, since seen: Int64?) {
        switch read.0 {
        case .all(let entries): memory.replace(entries, of: account, change: read.number, seen: seen)
        case .put(let entries):
            memory.follow(entries.map(OutboxChange.put), of: account, after: seen ?? 0, change: read.number)
        }
        cache.bump(account)
    }

    func catchUp(outboxOf account: String) async throws {
        if state.kept.withLock({ $0[account]?.holds }) == true, memory.change(of: account) != nil { return }
        try await state.turns.holding([account]) {
            let token = shared.changes.token(of: Self.topic(account))
            let seen = memory.change(of: account)
            let read = try await shared.database.read { [journal] transaction -> (Changes, number: Int64)? in
                try journal.changes(of: account, since: seen, transaction)
            }
            if let read { follow(read, of: account, since: seen) }
            state.kept.withLock { $0[account] = token }
        }
    }

    func catchUpOutboxes() async throws {
        let present = try await shared.database.rows(Self.selectWaiting) { row in
            (try row.value("account") as String, try row.value("number") as Int64)
        }
        let numbers = Dictionary(uniqueKeysWithValues: present)
        for account in Set(numbers.keys).union(memory.accounts).sorted()
        where numbers[account] == nil || memory.change(of: account) != numbers[account] {
            state.kept.withLock { $0[account] = nil }
            try await catchUp(outboxOf: account)
        }
        forgetUploads()
    }

    /// Follows what other servers change as soon as they tell.
    ///
    /// - Parameter failed: Is called if that fails; memory is brought up to date when it is used.
    func listen(failed: @escaping @Sendable (any Error) -> Void) {
        shared.changes.onMessage(Self.message) { account in
            guard state.following.withLock({ $0.insert(account).inserted }) else { return }
            Task {
                try? await shared.clock.sleep(Self.pauseBeforeFollowing)
                state.following.withLock { _ = $0.remove(account) }
                do { try await catchUp(outboxOf: account) } catch { failed(error) }
            }
        }
        shared.changes.onGap {
            Task { do { try await catchUpOutboxes() } catch { failed(error) } }
        }
    }

    private static let selectWaiting = """
        SELECT waiting.account, coalesce(number, 0) AS number
        FROM (SELECT DISTINCT account FROM disk_outbox WHERE state <> 'done') AS waiting
        LEFT JOIN disk_outbox_change ON disk_outbox_change.account = waiting.account
        """
    private static let retrying = """
        UPDATE disk_outbox SET state = 'queued', reason = NULL, due_at = NULL,
            changed = currval('disk_outbox_change_number')
        WHERE account = $1 AND reason = $2 AND state NOT IN ('running', 'done')
        """
}
