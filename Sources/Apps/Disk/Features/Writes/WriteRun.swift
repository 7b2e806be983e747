import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// One run of one write: see ``WriteExecutor``.
struct WriteRun: Sendable {
    let executor: WriteExecutor
    let write: DiskWrite
    let account: DiskAccount

    var calls: WriteCalls { executor.calls }
    var store: DiskStore { executor.calls.store }
    var clock: WallClock { executor.clock }

    /// Evaluates the preconditions, sends the request, and settles its outcome.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func run() async throws -> WriteOutcome {
        if write.isRename, let unneeded = try await checkRename() { return unneeded }
        let before: WritePreparation.Before
        if let found = write.found {
            before = found
        } else {
            before = try await WritePreparation(calls: calls, write: write, account: account, clock: clock).before()
        }
        try await checkIsPublished(before)
        if write.operation != nil { try store.checkIsSender(of: account.id) }
        do {
            switch try await send(before) {
            case .done(let bytes, let place): return try await settle(before, bytes, place: place)
            case .underWay(let upstreamID, let bytes): return try await follow(upstreamID, before, bytes)
            case .present(let item): return try await unneeded(item)
            case .unknown(let error, let bytes, let upstreamID):
                return try await inspect(after: error, before, bytes, upstreamID)
            case .published(let end): return try await settle(before, nil, linkEnd: end)
            case .unneeded(let end): return try await unneeded(before, linkEnd: end)
            }
        } catch let problem as Problem where problem.code == .targetExists && write.conditions.forbidReplacing {
            try write.conditions.refuse()
        }
    }

    private func send(_ before: WritePreparation.Before) async throws -> WriteSender.Outcome {
        let subject = before.subject
        if case .publish(let end) = write.kind {
            let publication = LinkPublication(
                calls: calls,
                path: write.path,
                account: account,
                subject: subject,
                clock: clock
            )
            return try await publication.send(end)
        }
        let sender = WriteSender(
            calls: calls,
            write: write,
            account: account,
            guardedMD5: guardedMD5(subject),
            clock: clock
        )
        return try await sender.send()
    }

    /// Checks that a rename keeps the extension of a file.
    ///
    /// - Returns: The item, if it has the name already; then nothing is sent.
    /// - Throws: 422 `validation-failed` for another extension, 412 if the preconditions do not hold.
    private func checkRename() async throws -> WriteOutcome? {
        let (row, result) = try await executor.items.item(write.path, for: account, .useCache)
        try write.checkExtension(of: row.item)
        guard write.target == write.path else { return nil }
        _ = try await WritePreparation(calls: calls, write: write, account: account, clock: clock).before()
        return .done(row, result.provenance)
    }

    /// Refuses to unpublish something that is not published.
    ///
    /// - Throws: 404 `not-found`.
    private func checkIsPublished(_ before: WritePreparation.Before) async throws {
        guard let subject = before.subject, case .unpublish = write.kind, !subject.isPublished else { return }
        try await executor.calls.store.apply(.unpublished(write.path), account: account.id, at: clock.now())
        throw Problem.notFound("\(subject.name) is not published.")
    }

    /// Records an item that is public already, with the end of its link.
    private func unneeded(_ before: WritePreparation.Before, linkEnd: LinkEnd) async throws -> WriteOutcome {
        var item = before.subject ?? DiskItem(path: write.path, kind: .file)
        item.linkEnd = linkEnd
        return try await unneeded(item)
    }

    private func unneeded(_ item: DiskItem) async throws -> WriteOutcome {
        try await executor.calls.store.apply(.appeared(write.path, item), account: account.id, at: clock.now())
        return .unneeded(item)
    }

    /// Returns the checksum that the API compares when it deletes a file, if the request has `If-Match`, or a write of
    /// the outbox leaves the comparison to it.
    private func guardedMD5(_ subject: DiskItem?) -> String? {
        guard write.conditions.ifMatch != nil || write.isCompared else { return nil }
        return subject?.comparedMD5
    }
}

extension DiskItem {
    /// The checksum by which the API compares a file that it is to delete; nil if it cannot.
    var comparedMD5: String? { kind == .file && md5?.utf8.count == 32 ? md5 : nil }
}

extension DiskWrite {
    /// Checks that a rename keeps the extension of a file.
    ///
    /// - Throws: 422 `validation-failed`.
    func checkExtension(of item: DiskItem) throws(Problem) {
        let required = DiskItem.fileExtension(of: path.name)
        guard item.kind == .file, let target, DiskItem.fileExtension(of: target.name) != required else { return }
        throw Problem.validation([
            .field(
                "/name",
                "extension",
                "name must keep its extension\(required.isEmpty ? ", which is none" : " .\(required)")."
            )
        ])
    }
}
