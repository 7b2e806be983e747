import Concurrency
import Foundation
import HTTPTypes
import Logging
import Screens
import Upstream

/// How a write ended well.
enum Written: Sendable {
    /// It is done; this is there now, or was there last, and where that is known from. For a removal it is what was
    /// removed.
    case done(DiskRow, Provenance)
    /// The upstream goes on with it.
    case underWay(DiskOperation)
    /// It was not necessary: this is there already.
    case unneeded(DiskItem)
}

/// Runs one write of the Disk from its preconditions to its outcome. Every write goes this way, and each question is
/// asked once: whether the upstream
/// is out of reach, with whose token, and what came of it.
///
/// 1. Out of reach: 503 `offline-write-refused`. Nothing is sent.
/// 2. Writes of one path take turns. What the preconditions need is asked for: 412 if they do not hold.
/// 3. The request is sent, once.
/// 4. A response decides. Without one, what is there now is compared with what was to be: done, not done, or 502
///   `outcome-unknown`.
/// 5. What is done is repeated in the store, then the upstream is asked how it looks. That this fails does not make
///   it undone.
struct WriteExecutor: Sendable {
    let service: DiskService
    let write: DiskWrite
    let account: DiskAccount

    /// Runs it to its end, although the client may leave: what was done must be known here.
    ///
    /// - Throws: `Problem`, ``UpstreamFailure``, `StorageError`; `CancellationError` only before anything was sent.
    func run() async throws -> Written {
        let keys = [write.path, write.target].compactMap { $0.map { "\(account.id) \($0.text)" } }
        return try await service.paths.holding(keys) {
            try service.refuseOffline()
            return try await Task { try await carryOut() }.value
        }
    }

    /// Evaluates the preconditions of a write that is not necessary.
    func check() async throws {
        _ = try await lookBefore()
    }

    private func carryOut() async throws -> Written {
        let before = try await lookBefore()
        if case .unpublish = write.kind, let subject = before.subject, !subject.isPublished {
            try await service.store.apply(.unpublished(write.path), account: account.id, at: service.clock.now())
            throw Problem.notFound("\(subject.name) is not published.")
        }
        if case .publish = write.kind, let subject = before.subject, subject.publicURL != nil {
            try await service.store.apply(.appeared(write.path, subject), account: account.id, at: service.clock.now())
            return .unneeded(subject)
        }
        let sender = WriteSender(
            service: service,
            write: write,
            account: account,
            guardedMD5: guardedMD5(before.subject)
        )
        do {
            switch try await sender.send() {
            case .done(let bytes): return try await settled(before, bytes)
            case .underWay(let upstreamID): return try await followed(upstreamID, before)
            case .unknown(let error, let bytes): return try await found(after: error, before, bytes)
            }
        } catch let problem as Problem where problem.code == .targetExists && write.conditions.forbidReplacing {
            try write.conditions.refuse()
        }
    }

    // MARK: before

    /// What is known of the things that the write touches, before it is sent.
    struct Before: Sendable {
        var subject: DiskItem?
        var place: DiskItem?
    }

    private func lookBefore() async throws -> Before {
        var before = Before()
        before.subject = try service.store.row(write.path, account: account.id)?.item
        if write.asksForSubject || (write.needsSubject && before.subject == nil)
            || (write.conditions.ifNoneMatch != nil && isRestore)
        {
            before.subject = try await present(write.path, mayBeMissing: write.isCreation)
        }
        if let path = write.place(of: before.subject) {
            before.place = try service.store.row(path, account: account.id)?.item
        }
        guard write.conditions != .none else { return before }
        var compared: DiskItem?
        if write.conditions.ifNoneMatch != nil, let path = write.comparedPlace(of: before.subject) {
            compared =
                path == write.path && write.asksForSubject
                ? before.subject : try await present(path, mayBeMissing: true)
        }
        do {
            try write.conditions.check(subject: before.subject, place: compared)
        } catch {
            // What was found is what the next read shows, so that its tag is the present one.
            for item in [before.subject, compared].compactMap({ $0 }) where item.path.scheme == .disk {
                try await service.store.apply(.appeared(item.path, item), account: account.id, at: service.clock.now())
            }
            throw error
        }
        return before
    }

    private var isRestore: Bool { if case .restore = write.kind { true } else { false } }

    /// What the upstream has at a path now. Nil if nothing is there and that may be.
    private func present(_ path: DiskPath, mayBeMissing: Bool) async throws -> DiskItem? {
        do {
            return try await service.changing(path, account) {
                try await service.authorized(account.id) { try await service.api.current(path, $0) }
            }
        } catch let problem as Problem where problem.code == .notFound && mayBeMissing {
            return nil
        }
    }

    /// With `If-Match` on a file: its checksum, which the upstream compares when it deletes.
    private func guardedMD5(_ subject: DiskItem?) -> String? {
        guard write.conditions.ifMatch != nil, let subject, subject.kind == .file, subject.md5?.utf8.count == 32 else {
            return nil
        }
        return subject.md5
    }

    // MARK: after

    /// It is done: repeats it here, and looks at what is there now.
    private func settled(_ before: Before, _ bytes: UploadedBytes.Summary?) async throws -> Written {
        let (store, now) = (service.store, service.clock.now())
        let made = write.made(subject: before.subject, replaced: before.place, sent: bytes, at: now)
        let change = write.change(subject: before.subject, made: made)
        var revision = try await store.apply(change, account: account.id, at: now)
        // What was moved without having been stored, or was newer than what is stored.
        if let made, try store.row(made.path, account: account.id)?.item != made {
            revision = try await store.apply(.appeared(made.path, made), account: account.id, at: now)
        }
        guard let revision else { throw DiskService.sessionExpired }
        service.announce(revision, to: account.id)
        guard let made else {
            let gone = before.subject ?? DiskItem(path: write.path, kind: .file)
            return .done(DiskRow(item: gone, seenAt: now, isDownloaded: false), Provenance(source: .upstream))
        }
        return try await readBack(made, now)
    }

    /// What is there now: as the upstream says, or as it follows from the write.
    private func readBack(_ made: DiskItem, _ now: Date) async throws -> Written {
        if service.api.upstream.reachability.isReachable, let present = try service.store.account(account.id) {
            do {
                let (row, reading) = try await service.item(made.path, present, .revalidate)
                return .done(row, reading.provenance)
            } catch {
                service.logger.info("a file could not be looked at after a write", metadata: ["error": "\(error)"])
            }
        }
        let row =
            try service.store.row(made.path, account: account.id)
            ?? DiskRow(item: made, seenAt: now, isDownloaded: false)
        return .done(row, Provenance(source: .cache, stale: true, validatedAt: row.seenAt))
    }

    /// The upstream does it in its own time.
    private func followed(_ upstreamID: String, _ before: Before) async throws -> Written {
        let operation = try await service.followed(
            DiskOperation(
                id: SessionToken.make(),
                account: account.id,
                upstreamID: upstreamID,
                action: write.action,
                path: write.path,
                target: write.target,
                status: .running
            )
        )
        switch operation.status {
        case .done: return try await settled(before, nil)
        case .failed:
            try await service.repeatHere(operation)
            throw Problem(
                .upstreamBadResponse,
                "Yandex Disk began it and could not finish it.",
                upstream: .init(name: service.api.upstream.configuration.name)
            )
        case .running:
            try await service.store.keep(operation, at: service.clock.now())
            try await service.store.apply(.doubtful, account: account.id, at: service.clock.now())
            return .underWay(operation)
        }
    }

    /// No response: finds out what came of it.
    private func found(after error: UpstreamError, _ before: Before, _ bytes: UploadedBytes.Summary?) async throws
        -> Written
    {
        let finding = await WriteInspector(service: service, write: write, account: account).finding(
            before: before,
            bytes
        )
        service.logger.warning(
            "no response to a write",
            metadata: ["action": "\(write.action.rawValue)", "error": "\(error)", "finding": "\(finding)"]
        )
        switch finding {
        case .done: return try await settled(before, bytes)
        case .notDone where error.saysThatItFailed:
            var problem = UpstreamFailure(error, of: service.api.upstream).problem
            problem.detail = "Yandex Disk did not carry it out (\(Self.text(error))). Nothing was changed."
            throw problem
        case .unclear where error.status == .serviceUnavailable:
            // An API that is down refuses, and cannot be looked at either.
            try await service.store.apply(.doubtful, account: account.id, at: service.clock.now())
            var problem = UpstreamFailure(error, of: service.api.upstream).problem
            problem.detail = "Yandex Disk answered 503. Here nothing was changed."
            throw problem
        case .notDone, .unclear:
            try await service.store.apply(.doubtful, account: account.id, at: service.clock.now())
            throw Problem(
                .outcomeUnknown,
                "The request was sent to Yandex Disk, and no usable response arrived (\(Self.text(error))). Whether it was carried out is not known; "
                    + "before it is sent again, \(write.href) shows what is there.",
                offline: !service.api.upstream.reachability.isReachable,
                upstream: .init(name: service.api.upstream.configuration.name, status: error.status?.code),
                href: write.href
            )
        }
    }

    /// How an error is put into a problem's detail.
    private static func text(_ error: UpstreamError) -> String {
        switch error {
        case .unreachable(let reason): reason == .totalTimeout ? "it took too long" : "the connection broke"
        case .failing(let status, _), .rejected(let status, _): "status \(status.code)"
        case .badResponse(let status, let reason): status.map { "status \($0.code), \(reason)" } ?? reason
        case .forbiddenTarget, .notStored: "\(error)"
        }
    }
}

extension UpstreamError {
    /// Whether a response says that it failed or was refused, so that what is not there will not be there later. Behind
    /// a broken connection, a time-out, a gateway (408, 499, 502, 504, 520 and above) or a success that is none of the
    /// API's it may still be carried out.
    fileprivate var saysThatItFailed: Bool {
        guard let code = status?.code, code != 408, code != 499 else { return false }
        return (300..<500).contains(code) || code == 500 || code == 501 || code == 503
    }
}
