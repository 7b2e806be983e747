import Database
import Foundation
import GRDB
import Screens
import SharedStore
import Upstream

/// The writes that wait for the API, in the store that servers share. Memory (``DiskStore/outbox``) follows it on each
/// server.
///
/// Each change of an account's operations has the turn of the account. In it memory is brought up to date first, so
/// that what is decided there is decided by what is committed, as in SQLite. One server at a time sends the operations
/// of an account: the one that has its lease. What a server that went away was sending is doubtful then, and is looked
/// at before it is sent again.
///
/// The bytes of uploads are not in the store yet, and no setting leads here.
struct SharedOutbox: Sendable {
    /// Another server sends the operations of the account by now.
    struct NotSender: Error {}

    /// What a change was, to be followed by memory after its commit.
    private struct Made<Value: Sendable>: Sendable {
        let changes: [OutboxChange<QueuedWrite>]
        let before: Int64
        let number: Int64
        let value: Value
    }

    let shared: SharedDisk
    /// What this server has by itself.
    let cache: DiskStore
    /// This server, as a holder of leases.
    let holder: String
    private let journal = SharedOutboxJournal()

    /// How long another server waits before it takes over what one that went away was sending: longer than any of its
    /// requests to the API may take.
    static let lease = Duration.seconds(60)
    private static let message = "disk/outbox"

    init(shared: SharedDisk, cache: DiskStore, holder: String = SessionToken.make()) {
        (self.shared, self.cache, self.holder) = (shared, cache, holder)
    }

    private var outbox: Outbox<QueuedWrite> { cache.outbox }

    /// The turn and the lease of an account.
    static func turn(_ account: String) -> String { "disk/outbox/\(account)" }

    private static func topic(_ account: String) -> String {
        ServerEvent.Audience.account(app: DiskStore.app, account: account).topic
    }

    // MARK: Changes

    /// Decides on changes of an account's operations, and makes them. When this returns, they are committed.
    ///
    /// - Parameters:
    ///   - isSender: Whether this server must have the lease: for what happened to an operation that it was sending.
    ///   - decide: Returns the changes by what memory has. It may be called more than once.
    /// - Returns: The operations that were put, and what was decided; nil if the account was logged out.
    /// - Throws: ``NotSender``, `SharedStoreError`, `StorageError`; what `decide` throws.
    func change<Value: Sendable>(
        of account: String,
        isSender: Bool = false,
        _ decide: @escaping @Sendable (Database) throws -> (changes: [OutboxChange<QueuedWrite>], value: Value)
    ) async throws -> (put: [OutboxEntry<QueuedWrite>], value: Value)? {
        let made = try await commit(of: account) { [cache, holder] transaction in
            if isSender { try Self.checkIsSender(of: account, holder, transaction) }
            return try cache.database.read { try decide($0) }
        }
        return made.map { ($0.changes.compactMap(\.put), $0.value) }
    }

    /// Ends an operation that this server has sent, begins the next one, and counts the change of the account's files.
    /// ``DiskStore`` learns of it afterwards.
    ///
    /// - Returns: The new epoch of the account; nil if it was logged out.
    /// - Throws: ``NotSender``, `SharedStoreError`.
    func finish(_ id: String, account: String, at now: Date) async throws -> Int64? {
        let made = try await commit(of: account) { [cache, holder] transaction in
            try Self.checkIsSender(of: account, holder, transaction)
            let epoch = try SharedLogins.nextEpoch(of: account, transaction)
            return (cache.finishing(id, account: account, at: now), epoch)
        }
        return made?.value
    }

    /// Returns an operation, also one that is done; nil if there is none, or it was long ago.
    ///
    /// - Throws: `SharedStoreError`.
    func finished(_ id: String, account: String) async throws -> OutboxEntry<QueuedWrite>? {
        try await shared.database.read { [journal] in try journal.entry(id, account: account, $0) }
    }

    private func commit<Value: Sendable>(
        of account: String,
        _ body: @escaping @Sendable (SQLTransaction) throws -> (changes: [OutboxChange<QueuedWrite>], value: Value)
    ) async throws -> Made<Value>? {
        let made = try await shared.database.write(turns: [Self.turn(account)]) { transaction -> Made<Value>? in
            guard let copy = try cache.account(account),
                try SharedLogins.isLinked(copy, transaction)
            else { return nil }
            let before = try catchUp(account, transaction)
            let (changes, value) = try body(transaction)
            guard !changes.isEmpty else { return Made(changes: [], before: before, number: before, value: value) }
            let made = try journal.make(changes, transaction)
            let rows = try transaction.rows(Self.count, [account]).map { try $0.value("number") as Int64 }
            return Made(changes: made, before: before, number: rows.first ?? before, value: value)
        }
        guard let made, made.number != made.before else { return made }
        outbox.follow(made.changes, of: account, after: made.before, change: made.number)
        cache.bump(account)
        shared.changes.tell(Self.message, Self.topic(account), account)
        return made
    }

    // MARK: Memory

    /// Brings memory up to date in the turn of an account: what is read is committed, and stays so up to the end of the
    /// turn.
    private func catchUp(_ account: String, _ transaction: SQLTransaction) throws -> Int64 {
        let number = try Self.number(of: account, transaction)
        while outbox.change(of: account) != number {
            let seen = outbox.change(of: account)
            outbox.replace(try journal.unfinished(of: account, transaction), of: account, change: number, seen: seen)
            cache.bump(account)
        }
        return number
    }

    /// Brings memory up to date with what other servers have changed of an account.
    ///
    /// - Throws: `SharedStoreError`.
    func catchUp(_ account: String) async throws {
        let seen = outbox.change(of: account)
        let read = try await shared.database.read { [journal] transaction -> ([OutboxEntry<QueuedWrite>], Int64)? in
            let number = try Self.number(of: account, transaction)
            return number == seen ? nil : (try journal.unfinished(of: account, transaction), number)
        }
        guard let (entries, number) = read else { return }
        if outbox.replace(entries, of: account, change: number, seen: seen) { cache.bump(account) }
    }

    /// Brings memory up to date with all accounts that have operations: at the start, and when messages of other
    /// servers may have been lost.
    ///
    /// - Throws: `SharedStoreError`.
    func catchUp() async throws {
        let sql = "SELECT DISTINCT account FROM disk_outbox WHERE state <> 'done'"
        let waiting = try await shared.database.rows(sql) { try $0.value("account") as String }
        for account in Set(waiting).union(outbox.accounts).sorted() { try await catchUp(account) }
    }

    /// Follows what other servers change as soon as they tell.
    ///
    /// - Parameter failed: Is called if that fails; memory is brought up to date when it is used.
    func listen(failed: @escaping @Sendable (any Error) -> Void) {
        shared.changes.onMessage(Self.message) { account in
            Task { do { try await catchUp(account) } catch { failed(error) } }
        }
        shared.changes.onGap {
            Task { do { try await catchUp() } catch { failed(error) } }
        }
    }

    private static func number(of account: String, _ transaction: SQLTransaction) throws -> Int64 {
        let sql = "SELECT number FROM disk_outbox_change WHERE account = $1"
        return try transaction.rows(sql, [account]).first?.value("number") ?? 0
    }

    private static let count = """
        INSERT INTO disk_outbox_change (account, number) VALUES ($1, nextval('disk_outbox_change_number'))
        ON CONFLICT (account) DO UPDATE SET number = excluded.number RETURNING number
        """

    // MARK: Sending

    /// Takes the lease of an account, or renews it. What was being sent when its last holder went away is doubtful from
    /// now on.
    ///
    /// - Returns: False if another server sends the operations of the account, or it was logged out.
    /// - Throws: `SharedStoreError`.
    func beginSending(_ account: String, at now: Date, lasting time: Duration = lease) async throws -> Bool {
        let made = try await commit(of: account) { [cache, holder] transaction in
            let (name, isSender) = (Self.turn(account), try Self.isSender(of: account, holder, transaction))
            guard try SharedLeases.take(name, for: holder, lasting: time, transaction) else { return ([], false) }
            if isSender { return ([], true) }
            let running = cache.outbox.queue(of: account)?.unsettled.filter { $0.progress.state == .running } ?? []
            let changes = running.map { entry in
                var entry = entry
                _ = entry.progress.apply(.interrupted, at: now)
                return OutboxChange.put(entry)
            }
            return (changes, true)
        }
        return made?.value ?? false
    }

    /// Lets other servers send the operations of an account.
    ///
    /// - Throws: `SharedStoreError`.
    func endSending(_ account: String) async throws {
        try await shared.leases.release(Self.turn(account), by: holder)
    }

    private static func isSender(of account: String, _ holder: String, _ transaction: SQLTransaction) throws -> Bool {
        try SharedLeases.isHeld(turn(account), by: holder, transaction)
    }

    private static func checkIsSender(of account: String, _ holder: String, _ transaction: SQLTransaction) throws {
        guard try isSender(of: account, holder, transaction) else { throw NotSender() }
    }
}
