import Database
import Foundation
import GRDB
import Screens
import Settings
import Upstream

extension DiskStore {
    /// The table of writes that wait for the API.
    static let outboxJournal = LocalOutboxJournal("disk_outbox")
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

    /// Ends an operation, in the transaction that stores what it has changed, and begins the one whose turn it is then:
    /// it is looked at once more before it is sent, and needs no transaction of its own.
    func finish(_ id: String, account: String, at now: Date, _ db: Database) throws {
        let changes = finishing(id, account: account, at: now)
        if !changes.isEmpty { try change(changes, account: account, db) }
    }

    /// Returns the changes that end an operation and begin the next one.
    func finishing(_ id: String, account: String, at now: Date) -> [OutboxChange<QueuedWrite>] {
        guard var entry = outbox.entry(id, of: account) else { return [] }
        _ = entry.progress.apply(.succeeded, at: now)
        var changes = [OutboxChange.put(entry)]
        if case .run(var next) = outbox.turn(of: account, at: now, after: id) {
            _ = next.progress.apply(.began, at: now)
            changes.append(.put(next))
        }
        return changes
    }

    /// Lets operations that wait for an accepted token be tried again, after a login.
    func retryOutbox(account: String, at now: Date, _ db: Database) throws {
        let waiting = outbox.queue(of: account)?.entries.filter {
            $0.progress.reason == ProblemCode.upstreamSessionExpired.rawValue
        }
        let changes = (waiting ?? []).map { entry in
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
