import Concurrency
import Database
import Foundation
import Freshness
import Screens
import SharedStore
import Synchronization

/// What users keep offline, in a store that several servers share.
///
/// The store has the marks. Each server has copies of those of the accounts that were used there; what it knows and
/// keeps of the files belongs to them. A mark keeps its number when its file is moved, so that contents move with it.
struct SharedMarks: MarkBook {
    let database: SharedDatabase
    let changes: SharedChanges
    /// What this server has by itself.
    let cache: DiskStore
    private let kept = Kept()
    private let turns = KeyedMutex()

    /// What servers tell each other after a change of marks.
    private static let changed = "disk/marks"

    /// How long the copies of accounts' marks may be relied on.
    private final class Kept: Sendable {
        let tokens = Mutex<[String: ChangeToken]>([:])
    }

    init(database: SharedDatabase, changes: SharedChanges, cache: DiskStore) {
        (self.database, self.changes, self.cache) = (database, changes, cache)
    }

    /// Hears of the changes that other servers make, and tells the store which marked files are gone.
    ///
    /// - Parameter failed: Is called if that fails. Marks are then followed with the next request of the account.
    func listen(failed: @escaping @Sendable (any Error) -> Void) {
        changes.onMessage(Self.changed) { account in
            Task { do { try await follow(marksOf: account) } catch { failed(error) } }
        }
        cache.offlineSignal.onRemoval { account, numbers, epoch in
            Task { do { try await remove(numbers, of: account, epoch: epoch) } catch { failed(error) } }
        }
    }

    private static func topic(_ account: String) -> String {
        ServerEvent.Audience.account(app: DiskStore.app, account: account).topic
    }

    private static func turn(_ account: String) -> String { "disk/marks/\(account)" }

    // MARK: Changes

    func mark(_ item: DiskItem, account: String, at now: Date, maximum: Int) async throws -> (OfflineMark, isNew: Bool)?
    {
        try await alone(with: account) {
            let isNew = try await database.write(turns: [Self.turn(account)]) { transaction -> Bool? in
                guard try SharedLogins.linkedAt(account, transaction) != nil else { return nil }
                let marks = try Self.marks(of: account, transaction)
                guard !marks.contains(where: { $0.path == item.path }) else { return false }
                guard marks.count < maximum else {
                    throw Problem(.tooLarge, "At most \(maximum) files and folders are kept offline.")
                }
                try transaction.execute(
                    "INSERT INTO disk_offline (account, path, kind, marked_at) VALUES ($1, $2, $3, $4)",
                    [account, item.path.text, item.kind.rawValue, now.millisecondsSince1970]
                )
                try transaction.execute(Self.countChange, [account])
                return true
            }
            guard let isNew else { return nil }
            if isNew { changes.tell(Self.changed, Self.topic(account), account) }
            try await compare(account, entering: item)
            return try cache.mark(item.path, account: account).map { ($0, isNew) }
        }
    }

    func unmark(_ path: DiskPath, account: String) async throws -> Bool {
        try await alone(with: account) {
            let isRemoved = try await database.write(turns: [Self.turn(account)]) { transaction in
                let sql = "DELETE FROM disk_offline WHERE account = $1 AND path = $2"
                guard try transaction.execute(sql, [account, path.text]) > 0 else { return false }
                try transaction.execute(Self.countChange, [account])
                return true
            }
            if isRemoved { changes.tell(Self.changed, Self.topic(account), account) }
            try await compare(account)
            return isRemoved
        }
    }

    /// Removes marks whose files are gone, as this server has seen. If the account's files have been changed since,
    /// they may be there again: then the marks stay, and are compared again.
    func remove(_ numbers: [Int64], of account: String, epoch: Int64) async throws {
        let removed = try await database.write(turns: [Self.turn(account)]) { transaction in
            let removed = try transaction.execute(Self.deleteGone, [account, numbers.map { Int($0) }, epoch])
            if removed > 0 { try transaction.execute(Self.countChange, [account]) }
            return removed
        }
        if removed > 0 { changes.tell(Self.changed, Self.topic(account), account) }
        guard removed < numbers.count else { return }
        cache.offlineSignal.forgetFollowed(account)
        try await follow(marksOf: account)
    }

    @discardableResult
    func apply(_ change: DiskChange, account: String, at now: Date) async throws -> DiskStore.Applied? {
        try await alone(with: account) {
            let epoch = try await database.write(turns: ["disk/\(account)", Self.turn(account)]) { transaction in
                try Self.apply(change, account: account, transaction)
                return try SharedLogins.nextEpoch(of: account, transaction)
            }
            guard let epoch else { return nil }
            changes.tell(Self.changed, Self.topic(account), account)
            return try await cache.apply(change, account: account, at: now, epoch: epoch)
        }
    }

    /// Moves and removes marks with their files, in the transaction that counts the change of the files. To be called
    /// in ``alone(with:_:)``, together with the change of what is cached.
    static func apply(_ change: DiskChange, account: String, _ transaction: SQLTransaction) throws {
        var changed = 0
        switch change {
        case .deleted(let path), .restored(let path):
            changed += try transaction.execute(deleteBelow, [account] + scope(path))
        case .moved(let from, let to) where from != to:
            changed += try transaction.execute(deleteBelow, [account] + scope(to))
            changed += try transaction.execute(moveBelow, [account] + scope(from) + [to.text])
        case .moved, .unpublished, .appeared, .doubtful: break
        }
        if changed > 0 { try transaction.execute(countChange, [account]) }
    }

    private static func scope(_ path: DiskPath) -> [any SQLParameter] {
        [path.text, path.below, DiskStore.end(of: path.below)]
    }

    // MARK: Copies

    func alone<Value>(with account: String, _ body: () async throws -> Value) async throws -> Value {
        try await turns.holding([account], body)
    }

    func follow(marksOf account: String) async throws {
        if cache.offlineSignal.followed(account) != nil, kept.tokens.withLock({ $0[account]?.holds }) == true {
            return
        }
        try await alone(with: account) { try await compare(account) }
    }

    func followAll() async throws {
        for account in try cache.copies().keys { try await follow(marksOf: account) }
    }

    /// Compares the copies with the marks. The caller is alone with the account.
    private func compare(_ account: String, entering item: DiskItem? = nil) async throws {
        let token = changes.token(of: Self.topic(account))
        let known = cache.offlineSignal.followed(account)
        let present = try await database.rows(Self.selectRevision, [account]) { try $0.value("revision") as Int64 }
        defer { kept.tokens.withLock { $0[account] = token } }
        guard present.first ?? 0 != known else { return }
        let (revision, marks) = try await database.read { transaction in
            let revision: Int64? = try transaction.rows(Self.selectRevision, [account]).first?.value("revision")
            return (revision ?? 0, try Self.marks(of: account, transaction))
        }
        try await cache.follow(marks, at: revision, of: account, entering: item)
    }

    private static func marks(of account: String, _ transaction: SQLTransaction) throws -> [SharedMark] {
        try transaction.rows(selectMarks, [account]).map { try SharedMark($0) }.compactMap(\.self)
    }

    private static let selectRevision = "SELECT revision FROM disk_offline_revision WHERE account = $1"
    private static let selectMarks = "SELECT * FROM disk_offline WHERE account = $1 ORDER BY number"
    private static let countChange = """
        INSERT INTO disk_offline_revision (account, revision) VALUES ($1, nextval('disk_offline_changes'))
        ON CONFLICT (account) DO UPDATE SET revision = excluded.revision
        """
    private static let deleteGone = """
        DELETE FROM disk_offline WHERE account = $1 AND number = ANY($2)
        AND EXISTS (SELECT 1 FROM disk_account WHERE account = $1 AND epoch = $3)
        """
    private static let inScope = "account = $1 AND (path = $2 OR (path >= $3 AND path < $4))"
    private static let deleteBelow = "DELETE FROM disk_offline WHERE \(inScope)"
    private static let moveBelow = """
        UPDATE disk_offline SET path = $5 || substr(path, length($2) + 1) WHERE \(inScope)
        """
}

extension SharedMark {
    /// Reads a row of table `disk_offline`; nil for one that is damaged.
    fileprivate init?(_ row: SQLRow) throws {
        guard let path = DiskPath(try row.value("path") as String),
            let kind = DiskItem.Kind(rawValue: try row.value("kind"))
        else { return nil }
        self.init(
            number: try row.value("number"),
            path: path,
            kind: kind,
            markedAt: Date(millisecondsSince1970: try row.value("marked_at"))
        )
    }
}
