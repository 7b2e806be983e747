import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Storage
import Upstream

/// Carries out one write of the outbox: reads the items that it touches, compares them with those that the client had
/// seen, and sends the write if they are unchanged. Returns the outcome, and changes the outbox only by ending a write
/// that is done.
struct OutboxRunner: Sendable {
    struct Outcome: Sendable {
        var event: OutboxProgress.Event
        /// The changed write: after a conflict, with the found items in place of the seen ones; if the API continues
        /// it, with the API's operation. Nil if the write did not change.
        var work: QueuedWrite?
        /// Whether the API works otherwise, after a failure of the write.
        var isUpstreamWell = false
    }

    let disk: Disk

    /// Carries out a write.
    ///
    /// - Parameters:
    ///   - known: The items of the API that it touches, if they were read just now.
    ///   - progress: Is called with the number of bytes taken from an upload.
    func run(
        _ entry: OutboxEntry<QueuedWrite>,
        _ known: CurrentState?,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async -> Outcome {
        do {
            let account = try await disk.account(entry.account)
            if let followed = try await follow(entry, account) { return followed }
            let found: CurrentState
            if let known {
                found = known
            } else if entry.work.isComparedByAPI, !entry.progress.isOutcomeUnknown {
                found = entry.work.before
            } else {
                found = try await look(at: entry.work, account)
            }
            let wasSent = entry.progress.isOutcomeUnknown
            if let outcome = try await concluded(entry, found, account, wasSent: wasSent) { return outcome }
            return try await send(entry, found, account, progress)
        } catch let refusal as UploadRefused {
            return await outcome(of: refusal.problem, entry)
        } catch {
            return await outcome(of: disk.client.translated(error), entry)
        }
    }

    /// Returns the present items of the API that a write touches; nil if they cannot be read.
    func look(at entry: OutboxEntry<QueuedWrite>) async -> CurrentState? {
        guard let account = try? await disk.account(entry.account) else { return nil }
        return try? await look(at: entry.work, account)
    }

    private func look(at work: QueuedWrite, _ account: DiskAccount) async throws -> CurrentState {
        async let subject = work.isCreation ? nil : disk.present(work.path, account)
        async let place = work.isCreation || work.kind == .move ? disk.present(work.target, account) : nil
        return try await CurrentState(subject: subject, place: place)
    }

    /// Finds the outcome of a write that the API continues: by its operation, or by comparing the items with its
    /// result.
    ///
    /// - Returns: Nil if it has ended without being carried out, or is an upload that takes too long.
    private func follow(_ entry: OutboxEntry<QueuedWrite>, _ account: DiskAccount) async throws -> Outcome? {
        guard entry.progress.isOutcomeUnknown, let following = entry.work.following else { return nil }
        let found = try await look(at: entry.work, account)
        if entry.work.compare(with: found, wasSent: true) == .done {
            disk.uploads.end(following.operation)
            try await settle(entry, found, account)
            return Outcome(event: .succeeded)
        }
        let operation = entry.work.write(body: ByteStream(ByteBuffer()), nil).operation(
            following.operation,
            of: account
        )
        let status: DiskOperation.Status?
        do {
            status = try await disk.status(of: operation, for: account)
            switch status {
            case .done:
                try await settle(entry, found, account)
                return Outcome(event: .succeeded)
            case .failed: return nil
            case .running, nil: break
            }
        } catch is OperationForgotten {
            return nil
        }
        let age = disk.clock.now().timeIntervalSince(following.since)
        // The bytes of an upload may be lost, and an API that fails may never tell. Any other operation is awaited
        // while the API says that it runs: sent again, it would be carried out twice.
        let goesOn = entry.work.kind != .upload && status == .running
        guard goesOn || age < disk.uploadResponse.seconds else { return nil }
        return Outcome(event: .accepted(askedAfter: Disk.operationPause(at: age)))
    }

    private func settle(_ entry: OutboxEntry<QueuedWrite>, _ found: CurrentState, _ account: DiskAccount) async throws {
        var write = entry.work.write(body: ByteStream(ByteBuffer()), entry.id)
        // The items that it acted on are gone by now; the state seen before it is used.
        var before = entry.work.before
        if entry.work.isCreation { before.place = found.place ?? before.place }
        if let subject = found.subject ?? found.place?.at(entry.work.path) { before.subject = subject }
        write.found = before
        try await disk.settle(write, for: account, entry.work.summary)
    }

    private func send(
        _ entry: OutboxEntry<QueuedWrite>,
        _ found: CurrentState,
        _ account: DiskAccount,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Outcome {
        try await clear(entry.work, found, account)
        var body = ByteStream(ByteBuffer())
        if let blob = entry.blob {
            let reader = try await disk.store.users.reader(blob)
            body = ByteStream(reader, range: 0..<blob.length).counting(progress)
        }
        var write = entry.work.write(body: body, entry.id)
        write.found = found
        write.beforeLastByte = { [store = disk.store, clock = disk.clock] operation in
            // After a kill it is asked about: in progress is neither done nor not done.
            _ = try await store.change(entry.id, account: entry.account) {
                $0.work = $0.work.followed(by: operation, since: clock.now())
            }
        }
        switch try await disk.run(write, for: account) {
        case .done: return Outcome(event: .succeeded)
        case .underWay(let operation):
            let followed = entry.work.followed(by: operation.upstreamID, since: disk.clock.now())
            return Outcome(event: .accepted(askedAfter: Disk.operationPause(at: 0)), work: followed)
        }
    }

    /// Moves a folder that is in the place of a file, or a file in the place of a folder, to the trash. The user has
    /// requested that. The API replaces files by files only.
    private func clear(_ work: QueuedWrite, _ found: CurrentState, _ account: DiskAccount) async throws {
        guard work.isCreation, work.overwrites, let place = found.place else { return }
        guard work.kind == .folder || place.kind == .dir else { return }
        var removal = DiskWrite(kind: .delete(permanently: false), path: work.path)
        removal.found = CurrentState(subject: place)
        try disk.store.checkIsSender(of: account.id)
        _ = try await disk.run(removal, for: account)
    }

    /// Returns the outcome of a write that is carried out already, or conflicts with the found items; nil if it can be
    /// sent.
    private func concluded(
        _ entry: OutboxEntry<QueuedWrite>,
        _ found: CurrentState,
        _ account: DiskAccount,
        wasSent: Bool
    ) async throws -> Outcome? {
        var comparison = entry.work.compare(with: found, wasSent: wasSent)
        if let subject = entry.work.missingSubject(comparison, found),
            let moved = try await disk.moved(subject.resourceID, from: entry.work.path, account)
        {
            comparison = moved.path == entry.work.target ? .done : .conflict(remote: moved, moved.path)
        }
        switch comparison {
        case .clear: return nil
        case .done:
            try await settle(entry, found, account)
            return Outcome(event: .succeeded)
        case .conflict(let remote, let path):
            var conflict = entry.work
            conflict.remote = remote.map(SeenItem.init)
            conflict.conflictingPath = path
            let reason = remote == nil ? "gone" : conflict.isMoved ? "moved" : "changed"
            return Outcome(event: .conflicted(reason), work: conflict)
        }
    }

    /// Returns the outcome of a failure. After a refusal because of an existing or missing item, the items are read:
    /// this write may have been carried out.
    private func outcome(of error: any Error, _ entry: OutboxEntry<QueuedWrite>) async -> Outcome {
        if Task.isCancelled { return Outcome(event: .interrupted) }
        let problem = (error as? Problem) ?? (error as? UpstreamFailure)?.problem
        // It may have been sent: a failure to store something here says nothing about the outcome at the API.
        guard let problem else { return Outcome(event: .lost("not-stored")) }
        let codes: [ProblemCode] = [.targetExists, .preconditionFailed, .notFound]
        if codes.contains(problem.code) {
            do {
                let account = try await disk.account(entry.account)
                let found = try await look(at: entry.work, account)
                if let outcome = try await concluded(entry, found, account, wasSent: true) { return outcome }
            } catch {
                return Outcome(event: .lost("outcome-unknown"))
            }
        }
        let event = OutboxProgress.Event(problem)
        // Another upstream is unreachable, such as that of the tokens: its recovery does not wake the outbox.
        if event == .postponed, disk.client.isReachable {
            return Outcome(event: .delayed(ProblemCode.upstreamUnavailable.rawValue, for: nil))
        }
        return Outcome(event: event, isUpstreamWell: await isWell(besides: problem.code, entry))
    }

    /// Returns whether the API is well apart from a write that has failed several times.
    private func isWell(besides code: ProblemCode, _ entry: OutboxEntry<QueuedWrite>) async -> Bool {
        let own: [ProblemCode] = [
            .upstreamUnavailable, .upstreamBadResponse, .outcomeUnknown, .locked, .upstreamStorageFull,
        ]
        guard own.contains(code), entry.progress.attempts + 1 >= OutboxProgress.attemptsBeforeOthers,
            let account = try? await disk.account(entry.account)
        else { return false }
        return (try? await disk.current(.root, account)) != nil
    }
}

extension OutboxProgress.Event {
    init(_ problem: Problem) {
        let reason = problem.code.rawValue
        let pause = problem.headerFields[.retryAfter].flatMap(Double.init)
        switch problem.code {
        case .offlineWriteRefused: self = .postponed
        case .upstreamUnavailable where problem.offline: self = .postponed
        case .outcomeUnknown, .upstreamBadResponse, .storageFull, .storageFailed: self = .lost(reason)
        case .upstreamSessionExpired, .sessionExpired:
            self = .delayed(ProblemCode.upstreamSessionExpired.rawValue, for: 3600)
        case .upstreamUnavailable, .rateLimited, .upstreamStorageFull, .locked, .upstreamReadOnly, .overloaded:
            self = .delayed(reason, for: pause)
        default: self = .refused(reason)
        }
    }
}

extension ByteStream {
    /// Returns the stream, which reports how many bytes were taken of it.
    fileprivate func counting(_ report: @escaping @Sendable (Int) -> Void) -> ByteStream {
        ByteStream {
            let iterator = self.makeAsyncIterator()
            var taken = 0
            return {
                guard let part = try await iterator.next() else { return nil }
                taken += part.readableBytes
                report(taken)
                return part
            }
        }
    }
}
