import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Screens
import Upstream

// Writes of clients, of other apps and of the outbox.
extension Disk {
    /// Runs a write to its end, even if the client disconnects: its outcome must be recorded here.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`; `CancellationError` only before anything was sent.
    func run(_ write: DiskWrite, for account: DiskAccount) async throws -> DiskWrite.Outcome {
        let keys = [write.path, write.target].compactMap { $0.map { "\(account.id) \($0.text)" } }
        let run = WriteRun(self, write, account)
        let isOver: @Sendable () async throws -> Void = {
            [clock, timeout = client.upstream.configuration.totalTimeout] in
            try await clock.sleep(timeout)
        }
        do {
            return try await writes.holding(keys, timeout: isOver) {
                guard client.isReachable else { throw refusedOffline }
                // Beside the upload, a write with equal bytes would send them again.
                if uploads.isAwaited(to: write.path, of: account.id) { throw KeyedMutex.WaitTooLong() }
                return try await load.during { try await Task { try await run.run() }.value }
            }
        } catch is KeyedMutex.WaitTooLong {
            throw Problem(.locked, "Another request is changing \(write.path.name). Nothing was changed; try again.")
        }
    }

    /// Records a write that was found to be carried out.
    func settle(_ write: DiskWrite, for account: DiskAccount, _ bytes: ByteSummary?) async throws {
        _ = try await WriteRun(self, write, account).settle(write.found ?? CurrentState(), bytes)
    }
}

/// One write of the Disk, from its preconditions to its outcome. Every write of a client, another app or the outbox is
/// one; the reachability of the API, the token and the outcome are each determined once.
///
/// 1. Unreachable: 503 `offline-write-refused`. Nothing is sent.
/// 2. Writes of one path are serialized: 423 `locked` if another one does not end in time. The preconditions
///    are evaluated: 412 if they do not hold.
/// 3. The request is sent, once; an upload with its link and its bytes. An upload whose response is late, or a write
///    that the API accepts and continues, is followed by its operation.
/// 4. A response decides. Without one, the present state is compared with the intended one: done, not done, or 502
///   `outcome-unknown`.
/// 5. A completed write is applied to the store, then read back from the API. If that fails, the write is still done.
struct WriteRun: Sendable {
    /// Why a write is queued although its outcome is not certain: the API is down, so it has refused the write as far
    /// as is known, and its state could not be read.
    struct Unobserved: Error {
        let problem: Problem
    }

    /// The parts of the app, with a token that is opened once.
    let disk: Disk
    let write: DiskWrite
    let account: DiskAccount

    var store: DiskStore { disk.store }
    var clock: WallClock { disk.clock }

    init(_ disk: Disk, _ write: DiskWrite, _ account: DiskAccount) {
        var disk = disk
        disk.tokens = disk.tokens.forOneWrite()
        (self.disk, self.write, self.account) = (disk, write, account)
    }

    /// Evaluates the preconditions, sends the request, and settles its outcome.
    func run() async throws -> DiskWrite.Outcome {
        if write.isRename, let unneeded = try await checkRename() { return unneeded }
        let before = if let found = write.found { found } else { try await stateBefore() }
        try await checkIsPublished(before)
        if write.operation != nil { try store.checkIsSender(of: account.id) }
        do {
            switch try await send(before.subject) {
            case .done(let bytes, let place, let end):
                return try await settle(before, bytes, place: place, linkEnd: end)
            case .underWay(let upstreamID, let bytes): return try await follow(upstreamID, before, bytes)
            case .unneeded(let item): return try await unneeded(item)
            case .unknown(let error, let bytes, let upstreamID):
                return try await inspect(after: error, before, bytes, upstreamID)
            }
        } catch let problem as Problem where problem.code == .targetExists && write.conditions.forbidReplacing {
            try write.conditions.refuse()
        }
    }

    /// Checks that a rename keeps the extension of a file.
    ///
    /// - Returns: The item, if it has the name already; then nothing is sent.
    /// - Throws: 422 `validation-failed` for another extension, 412 if the preconditions do not hold.
    private func checkRename() async throws -> DiskWrite.Outcome? {
        let (row, result) = try await disk.item(write.path, for: account, .useCache)
        try write.checkExtension(of: row.item)
        guard write.target == write.path else { return nil }
        _ = try await stateBefore()
        return .done(row, result.provenance, isNewLink: false)
    }

    /// Refuses to unpublish something that is not published.
    private func checkIsPublished(_ before: CurrentState) async throws {
        guard let subject = before.subject, case .unpublish = write.kind, !subject.isPublished else { return }
        try await store.apply(.unpublished(write.path), account: account.id, at: clock.now())
        throw Problem.notFound("\(subject.name) is not published.")
    }

    /// Records an item that already has the state which the write would give it.
    private func unneeded(_ item: DiskItem) async throws -> DiskWrite.Outcome {
        let (change, now) = (DiskChange.appeared(write.path, item), clock.now())
        try await store.apply(change, account: account.id, at: now, finishing: write.operation)
        let row = DiskRow(item, seenAt: now)
        return .done(row, Provenance(source: .upstream), isNewLink: false)
    }
}

// The known items at the paths of a write, and its preconditions.
extension WriteRun {
    /// Returns the known items before the write.
    ///
    /// - Throws: 412 if the preconditions do not hold; `Problem`, `UpstreamFailure`, `StorageError`.
    private func stateBefore() async throws -> CurrentState {
        let known = try store.row(write.path, account: account.id)?.item
        var before = CurrentState(subject: known)
        if needsPresentSubject(known: before.subject) {
            before.subject = try await present(write.path, mayBeMissing: write.isCreation)
        }
        if let path = write.place(of: before.subject) {
            before.place = path == write.path ? known : try store.row(path, account: account.id)?.item
            if before.place == nil, write.needsPlace { before.place = try await present(path, mayBeMissing: true) }
        }
        guard write.conditions != .none else { return before }
        let compared = try await comparedItem(subject: before.subject)
        do {
            try write.conditions.check(subject: before.subject, place: compared)
        } catch {
            // The next read shows the found items, so that its tag is the present one.
            for item in [before.subject, compared].compactMap({ $0 }) where item.path.scheme == .disk {
                try await store.apply(.appeared(item.path, item), account: account.id, at: clock.now())
            }
            throw error
        }
        return before
    }

    private func needsPresentSubject(known: DiskItem?) -> Bool {
        if write.asksForSubject || (write.needsSubject && known == nil) { return true }
        guard case .restore = write.kind else { return false }
        return write.conditions.ifNoneMatch != nil
    }

    /// Returns the item that `If-None-Match` is compared with.
    private func comparedItem(subject: DiskItem?) async throws -> DiskItem? {
        guard write.conditions.ifNoneMatch != nil, let path = write.comparedPlace(of: subject) else { return nil }
        if path == write.path, write.asksForSubject { return subject }
        return try await present(path, mayBeMissing: true)
    }

    /// Returns the present item of the API at a path; nil if there is none and that is allowed.
    private func present(_ path: DiskPath, mayBeMissing: Bool) async throws -> DiskItem? {
        do {
            return try await disk.call(about: path, account) { try await disk.current(path, account) }
        } catch let problem as Problem where problem.code == .notFound && mayBeMissing {
            return nil
        }
    }
}

// Calls of a write: their failures are reported in the words of a write, which has changed nothing.
extension Disk {
    /// Runs a call whose failure changes nothing: a read that a write needs before it is sent, or a write that was
    /// refused or could not be sent.
    ///
    /// - Parameters:
    ///   - path: The path that the call is about. Its row is removed if the API says that it does not exist and nothing
    ///     was changed since the account was read.
    ///   - target: The path of the result, if that is another one.
    func call<Value>(
        about path: DiskPath,
        to target: DiskPath? = nil,
        _ account: DiskAccount,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch UpstreamError.unreachable {
            throw refusedOffline
        } catch let refusal as DiskRefusal {
            let missing = refusal.isGone ? [path] : refusal.isOfParent ? [path, target].compactMap { $0?.parent } : []
            if try missing.contains(where: { try store.isYoung($0, account: account.id) }) { throw client.notShownYet }
            if refusal.isGone { try await forget(path, for: account) }
            throw refusal.problem(client.upstream)
        } catch let failure as UpstreamFailure {
            // Nothing was sent to the API.
            var problem = failure.problem
            problem.detail =
                "The account's token has expired, and Yandex OAuth does not renew it now. Nothing was changed."
            throw problem
        } catch UpstreamError.failing(let status, let retryAfter) {
            var problem = client.failure(.failing(status: status, retryAfter: retryAfter)).problem
            problem.detail = .nothingChanged(status.code)
            throw problem
        } catch {
            throw client.translated(error)
        }
    }

    /// Returns the present item of the API at a path.
    ///
    /// - Throws: ``DiskRefusal`` (404) if nothing exists; 503 if it is not shown yet; `UpstreamError`,
    ///   `UpstreamFailure`, `StorageError`.
    func current(_ path: DiskPath, _ account: DiskAccount) async throws -> DiskItem {
        do {
            return try await tokens.authorized(account) { try await client.current(path, $0) }
        } catch let refusal as DiskRefusal where refusal.isGone {
            throw try store.isYoung(path, account: account.id) ? client.notShownYet : refusal
        }
    }

    func present(_ path: DiskPath, _ account: DiskAccount) async throws -> DiskItem? {
        do {
            return try await current(path, account)
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }

    /// Returns when the link of something published ends, by the API; unspecified if the API does not tell.
    func linkEnd(_ path: DiskPath, _ account: DiskAccount) async throws -> LinkEnd {
        do {
            return try await tokens.authorized(account) { try await client.linkEnd(path, $0) }
        } catch let refusal as DiskRefusal where refusal.concernsSettings {
            return .unspecified
        }
    }

    /// 503: the API is not reachable, so nothing is sent.
    private var refusedOffline: Problem {
        Problem(.offlineWriteRefused, .unreachable, offline: true, upstream: client.cause())
    }
}

extension DiskItem {
    /// The checksum by which the API compares a file that it is to delete; nil if it cannot.
    var comparedMD5: String? { kind == .file && md5?.utf8.count == 32 ? md5 : nil }
}

extension DiskWrite {
    /// Checks that a rename keeps the extension of a file.
    func checkExtension(of item: DiskItem) throws(Problem) {
        let required = DiskItem.fileExtension(of: path.name)
        guard item.kind == .file, let target, DiskItem.fileExtension(of: target.name) != required else { return }
        throw Problem.validation("/name", "extension", .keepsExtension(required))
    }
}
