import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Storage
import Upstream

// Sends writes of clients, or queues them in the outbox if the client prefers that to a refusal (RFC 7240,
// `respond-async`). They are queued if the API is unreachable or fails, also while they are sent, or takes long to
// finish an upload.
extension Writes {
    /// The outcome of a write that was sent, or the operation of one that was queued, with the response that is stored
    /// with it.
    enum Submission: Sendable {
        case sent(DiskWrite.Outcome)
        case queued(OutboxEntry<QueuedWrite>, ScreenResponse)
    }

    private var store: DiskStore { disk.store }

    /// Sends a write of a client, or queues it.
    ///
    /// - Parameter body: The body of the same request, for the action that a refusal offers.
    /// - Throws: 503 `offline-write-refused`, 423 `locked` if a write that waits concerns the same path, both with that
    ///   action, 507 `outbox-full`; `Problem`, `UpstreamFailure`, `StorageError`.
    func submit(
        _ write: DiskWrite,
        _ request: ScreenRequest,
        for account: DiskAccount,
        body: [String: Action.Constant]? = nil
    ) async throws -> Submission {
        let draft = QueuedWrite(write)
        let isPreferred = request.headerFields.prefersAsyncResponse
        let isReachable = disk.client.isReachable
        let isHeldUp = store.outbox.isTouched([write.path] + (write.target.map { [$0] } ?? []), of: account.id)
        guard let draft, isPreferred else {
            // Sent past a write that waits, it would change something else than the client sees.
            if isHeldUp, isReachable {
                let actions = draft.map { _ in [Action.enqueue(request, body)] }
                throw Problem(.locked, .heldUp(write.path.name), href: OutboxScreen.href, actions: actions)
            }
            do {
                try await request.keepKey()
                return .sent(try await disk.run(write, for: account))
            } catch {
                guard var outage = Problem(outage: error), draft != nil else { throw error }
                outage.actions = [.enqueue(request, body)]
                throw outage
            }
        }
        if isHeldUp || !isReachable { return try await enqueue(draft, write, request, account) }
        return try await sendOrEnqueue(draft, write, request, account)
    }

    /// Sends a write, and queues it if the API becomes unreachable or fails. The bytes of an upload are stored first,
    /// since they arrive once.
    private func sendOrEnqueue(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ request: ScreenRequest,
        _ account: DiskAccount
    ) async throws -> Submission {
        var (draft, write) = (draft, write)
        write.isQueuedIfNotDone = true
        var blob: Blob?
        if case .upload(let parts, let length, let overwrite) = write.kind, length ?? 0 <= free(account.id) {
            let spooled = try await spool(parts, length: length, into: &draft, account.id)
            let body = ByteStream(try store.database.blobs.reader(spooled), range: 0..<spooled.length)
            write.kind = .upload(body, length: spooled.length, overwrite: overwrite)
            write.isQueuedIfUnderWay = true
            blob = spooled
        }
        let outcome: DiskWrite.Outcome
        do {
            try await request.keepKey()
            outcome = try await disk.run(write, for: account)
        } catch {
            return try await enqueue(draft, write, request, account, blob, after: error)
        }
        guard let blob, case .underWay(let operation) = outcome else { return .sent(outcome) }
        do {
            let followed = draft.followed(by: operation.upstreamID, since: disk.clock.now())
            return try await enqueue(followed, write, request, account, blob, isOutcomeUnknown: true)
        } catch {
            // The API continues the upload nevertheless.
            try await store.keep(operation, at: disk.clock.now())
            return .sent(outcome)
        }
    }

    /// Queues a write that the API could not take, or may have carried out.
    ///
    /// - Throws: `failure` if it is another one, or the write cannot be queued.
    private func enqueue(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ request: ScreenRequest,
        _ account: DiskAccount,
        _ blob: Blob?,
        after failure: any Error
    ) async throws -> Submission {
        let unobserved = (failure as? WriteRun.Unobserved)?.problem
        let error = unobserved.map { $0 as any Error } ?? failure
        let isOutcomeUnknown = (error as? Problem)?.code == .outcomeUnknown
        guard isOutcomeUnknown || Problem(outage: error) != nil, blob != nil || draft.kind != .upload else {
            throw error
        }
        do {
            let isInDoubt = isOutcomeUnknown || unobserved != nil
            return try await enqueue(draft, write, request, account, blob, isOutcomeUnknown: isInDoubt)
        } catch let refusal {
            // A failure to queue says nothing about whether the write was carried out. An item that is not known here
            // says less than the reason why the API was not asked.
            throw isOutcomeUnknown || Problem(outage: refusal) != nil ? error : refusal
        }
    }

    /// Adds a write to the outbox. Its items are checked before the bytes of an upload are read, and again in the
    /// transaction that stores it, and its response.
    private func enqueue(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ request: ScreenRequest,
        _ account: DiskAccount,
        _ blob: Blob? = nil,
        isOutcomeUnknown: Bool = false
    ) async throws -> Submission {
        var (draft, blob) = (draft, blob)
        if case .upload(let parts, let length, _) = write.kind, blob == nil {
            try store.database.read { db in
                _ = try store.checked(draft, write, account: account.id, db)
                try store.checkRoom(length ?? 0, account: account.id)
            }
            blob = try await spool(parts, length: length, into: &draft, account.id)
        }
        let now = disk.clock.now()
        let (queued, response) = try await request.answering { [disk] (outcome: OutboxOutcome?) in
            guard let outcome else { throw Problem.loggedOut }
            return try disk.response(to: outcome)
        } to: {
            try await store.change(of: account.id, by: .client(upload: blob)) { [store, draft, blob] db in
                try store.enqueuing(
                    draft,
                    write,
                    blob,
                    isOutcomeUnknown: isOutcomeUnknown,
                    account: account.id,
                    at: now,
                    db
                )
            }
        }
        guard let queued else { throw Problem.loggedOut }
        return .queued(queued.entry, response)
    }

    private func free(_ account: String) -> Int {
        store.settings[DiskApp.outboxBytes] - (store.outbox.queue(of: account)?.bytes ?? 0)
    }

    /// Keeps the bytes of an upload, on the disk, and their checksums in the write.
    private func spool(_ parts: ByteStream, length: Int?, into draft: inout QueuedWrite, _ account: String)
        async throws -> Blob
    {
        let room = free(account)
        var content = try PartialContent(version: "", in: store.database.blobs)
        for try await part in parts {
            guard part.readableBytes <= room - content.received else { throw Problem.outboxFull(store.settings) }
            try content.append(part)
        }
        draft.bytes = content.bytes(at: disk.clock.now())
        return try content.finish(length: length)
    }
}

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

    /// Decides how a write is queued: folded into those that wait.
    ///
    /// - Parameter blob: The bytes of an upload.
    /// - Returns: The changes, and the operation that carries out the request.
    /// - Throws: 507 `outbox-full`, 401 if the account was logged out; errors of ``checked(_:_:account:_:)``.
    func enqueuing(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ blob: Blob?,
        isOutcomeUnknown: Bool,
        account: String,
        at now: Date,
        _ db: Database
    ) throws -> OutboxDecision {
        guard try Self.epoch(of: account, db) != nil else { throw Problem.loggedOut }
        let work = try checked(draft, write, account: account, db)
        try checkRoom(blob?.length ?? 0, account: account)
        var entry = OutboxEntry(id: SessionToken.make(), account: account, work: work, queuedAt: now)
        if work.isUnneeded { return Self.ended(entry, [], at: now) }
        if isOutcomeUnknown { entry.progress = OutboxProgress(sent: work, at: now) }
        let waiting = isOutcomeUnknown ? [] : outbox.touching(work.places, of: account)
        let folding = OutboxFolding(work, onto: waiting.map { (work: $0.work, isUnsent: $0.progress.isUnsent) })
        var changes = folding.changes.sorted { $0.key < $1.key }.map { position, work in
            var changed = waiting[position]
            guard let work else { return OutboxChange.remove(changed) }
            changed.work = work
            return OutboxChange.put(changed)
        }
        if let added = folding.added {
            entry.work = added
            entry.blob = blob
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
            return try known(path, account: account, db).map(Seen.item) ?? .unknown(path)
        }
        switch queue.view.tree.item(at: path) {
        case .nothing: return .nothing
        case .made(var item, let node):
            item.isPublished = node.isPublished ?? false
            return .item(item)
        case .upstream(let source, let node):
            guard var item = try known(source, account: account, db)?.at(path) else { return .unknown(source) }
            if let isPublished = node?.isPublished { item.isPublished = isPublished }
            return .item(item)
        }
    }

    /// Whether nothing is at a path at the API, as far as lists have shown: a folder above it is a file, or was listed
    /// as a whole without it.
    private func isAbsent(_ source: DiskPath, _ account: String, _ db: Database) throws -> Bool {
        var path = source
        while let parent = path.parent {
            let folder = try known(parent, account: account, db)
            if folder?.kind == .file { return true }
            if try isListed(parent, without: path, account: account, db) { return true }
            if folder != nil { return false }
            path = parent
        }
        return false
    }
}

extension Problem {
    /// Returns the problem of a write that may be sent later: it was not carried out because the API is unreachable,
    /// fails or asks to wait. Nil for any other error.
    fileprivate init?(outage error: any Error) {
        let outages: [ProblemCode] = [
            .offlineWriteRefused, .upstreamUnavailable, .upstreamBadResponse, .rateLimited, .upstreamReadOnly,
        ]
        // A bad response without a status is an operation that has failed, or a link to another host.
        guard let problem = (error as? Problem) ?? (error as? UpstreamFailure)?.problem, outages.contains(problem.code),
            problem.code != .upstreamBadResponse || problem.upstream?.status != nil
        else { return nil }
        self = problem
    }
}

extension OutboxProgress {
    /// Creates the progress of a write as if it had been sent from the outbox, and its response were lost or late.
    fileprivate init(sent work: QueuedWrite, at now: Date) {
        self.init(state: .waiting, attempts: 1, nextAttempt: now, isOutcomeUnknown: true)
        guard work.following != nil else { return }
        self = OutboxProgress(state: .running)
        _ = apply(.accepted(askedAfter: Disk.operationPause(at: 0)), at: now)
    }
}
