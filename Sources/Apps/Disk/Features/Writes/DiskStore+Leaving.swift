import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Upstream

// Adds a write to the outbox: its base is the state that the client sees. Writes to unknown items are refused.
extension DiskStore {
    /// The item that the client sees at a path.
    private enum Seen {
        case item(DiskItem)
        case nothing
        /// The API may have something at this path: no list has shown it.
        case unknown(DiskPath)

        var item: DiskItem? { if case .item(let item) = self { item } else { nil } }
    }

    /// Decides how a write is left: folded into those that wait, with its bytes.
    ///
    /// - Returns: The changes, and the operation that carries out the request.
    /// - Throws: 507 `outbox-full`, 401 if the account was logged out; errors of ``checked(_:_:account:_:)``.
    func leaving(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ spooled: WriteQueue.Spooled?,
        isDoubtful: Bool,
        account: String,
        at now: Date,
        _ db: Database
    ) throws -> OutboxDecision {
        guard try Self.epoch(of: account, db) != nil else { throw Problem.loggedOut }
        var work = try checked(draft, write, account: account, db)
        work.bytes = spooled?.bytes
        try checkRoom(spooled?.blob.length ?? 0, account: account)
        var entry = OutboxEntry(id: SessionToken.make(), account: account, work: work, queuedAt: now)
        if work.isUnneeded { return Self.ended(entry, [], at: now) }
        if isDoubtful { entry.progress = OutboxProgress(sent: work, at: now) }
        let waiting = isDoubtful ? [] : outbox.touching(work.places, of: account)
        let folding = OutboxFolding(
            work,
            onto: waiting.map { (work: $0.work, isUnsent: $0.progress.isUnsent) }
        )
        var changes = folding.changes.sorted { $0.key < $1.key }.map { position, work in
            var changed = waiting[position]
            guard let work else { return OutboxChange.remove(changed) }
            changed.work = work
            return OutboxChange.put(changed)
        }
        if let added = folding.added {
            entry.work = added
            entry.blob = spooled?.blob
            changes.append(.put(entry))
            return OutboxDecision(changes: changes, shown: entry)
        }
        guard let substitute = folding.substitute else { return Self.ended(entry, changes, at: now) }
        return OutboxDecision(changes: changes, shown: waiting[substitute])
    }

    /// Ends a write after which nothing remains to be done: a client can ask for its outcome.
    private static func ended(
        _ entry: OutboxEntry<QueuedWrite>,
        _ changes: [OutboxChange<QueuedWrite>],
        at now: Date
    ) -> OutboxDecision {
        var entry = entry
        _ = entry.progress.apply(.began, at: now)
        _ = entry.progress.apply(.succeeded, at: now)
        return OutboxDecision(changes: changes + [.put(entry)], shown: entry)
    }

    /// Checks that there is room for one more write.
    ///
    /// - Throws: 507 `outbox-full`.
    func checkRoom(_ bytes: Int, account: String) throws {
        let queue = outbox.queue(of: account) ?? OutboxQueue()
        guard !isOutboxFull(pendingWrites(of: account)), bytes <= settings[DiskApp.outboxBytes] - queue.bytes else {
            throw Problem.outboxFull(settings)
        }
    }

    /// Returns a write with the seen items of its paths, if it can be added to the outbox.
    ///
    /// - Throws: 404, 409, 412, 422 if the Disk would refuse the write after the pending ones; 503
    ///   `offline-write-refused` if the item that it acts on is not known here.
    func checked(_ draft: QueuedWrite, _ write: DiskWrite, account: String, _ db: Database) throws -> QueuedWrite {
        var work = draft
        let subject = try draft.isCreation ? nil : subject(of: draft, account, db)
        if write.isRename, let subject { try write.checkExtension(of: subject) }
        let place = try draft.isCreation || draft.kind == .move ? place(of: draft, account, db) : nil
        let compared = try write.comparedPlace(of: subject).flatMap { try seen($0, account, db).item }
        try write.conditions.check(subject: draft.isCreation ? place : subject, place: compared)
        if let place {
            guard draft.overwrites, draft.kind != .upload || place.kind == .file, draft.kind != .folder else {
                if write.conditions.forbidReplacing { try write.conditions.refuse() }
                throw Problem(.targetExists, .nameExists)
            }
        }
        work.subject = subject.map(SeenItem.init)
        work.place = place.map(SeenItem.init)
        return work
    }

    private func subject(of draft: QueuedWrite, _ account: String, _ db: Database) throws -> DiskItem {
        switch try seen(draft.path, account, db) {
        case .nothing: throw Problem.notFound("A write that waits in the outbox leaves nothing at \(draft.path.name).")
        case .unknown(let source):
            if try isAbsent(source, account, db) {
                throw Problem.notFound("Nothing was at \(draft.path.name) when its folder was last listed.")
            }
            throw Problem(.offlineWriteRefused, .notKnownHere(draft.path.name), offline: true)
        case .item(let item):
            if draft.kind == .unpublish, !item.isPublished { throw Problem.notFound("\(item.name) is not published.") }
            return item
        }
    }

    /// Returns the item at the target of a write, whose parent must be a folder.
    private func place(of draft: QueuedWrite, _ account: String, _ db: Database) throws -> DiskItem? {
        if draft.isUnneeded { return nil }
        // Nothing is moved over a folder that it is in.
        if draft.kind == .move, draft.target.covers(draft.path) { throw Problem(.targetExists, .nameExists) }
        if let parent = draft.target.parent, !parent.isRoot {
            switch try seen(parent, account, db) {
            case .nothing: throw Problem.notFound(.noParent)
            case .item(let item) where item.kind == .file:
                throw Problem(.notAFolder, "\(parent.name) is a file.")
            case .unknown(let source) where try isAbsent(source, account, db): throw Problem.notFound(.noParent)
            case .item, .unknown: break
            }
        }
        return try seen(draft.target, account, db).item
    }

    private func seen(_ path: DiskPath, _ account: String, _ db: Database) throws -> Seen {
        guard let queue = outbox.queue(of: account) else {
            return try known(path, account, db).map(Seen.item) ?? .unknown(path)
        }
        switch queue.view.projection.place(path) {
        case .nothing: return .nothing
        case .made(var item, let node):
            item.isPublished = node.isPublished ?? false
            return .item(item)
        case .upstream(let source, let node):
            guard var item = try known(source, account, db)?.at(path) else { return .unknown(source) }
            if let isPublished = node?.isPublished { item.isPublished = isPublished }
            return .item(item)
        }
    }

    /// Whether nothing is at a path at the API, as far as lists have shown: a folder above it is a file, or was listed
    /// as a whole without it.
    private func isAbsent(_ source: DiskPath, _ account: String, _ db: Database) throws -> Bool {
        var path = source
        while let parent = path.parent {
            let folder = try known(parent, account, db)
            if folder?.kind == .file { return true }
            if try isListed(parent, without: path, account: account, db) { return true }
            if folder != nil { return false }
            path = parent
        }
        return false
    }

    private func known(_ path: DiskPath, _ account: String, _ db: Database) throws -> DiskItem? {
        let row = try Row.fetchOne(db.cachedStatement(sql: Self.selectItem), arguments: [account, path.text])
        return try row.map(DiskItem.init(row:))
    }
}

extension OutboxProgress {
    /// Creates the progress of a write as if it had been sent from the outbox, and its response were lost or late.
    fileprivate init(sent work: QueuedWrite, at now: Date) {
        self.init(state: .waiting, attempts: 1, nextAttempt: now, isDoubtful: true)
        guard work.following != nil else { return }
        self = OutboxProgress(state: .running)
        _ = apply(.accepted(askedAfter: OperationTracker.pause(at: 0)), at: now)
    }
}
