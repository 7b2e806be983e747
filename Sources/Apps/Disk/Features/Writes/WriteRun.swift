import Foundation
import Freshness
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
        if let unneeded = try await unneeded(before) { return unneeded }
        if write.operation != nil { try calls.outbox.checkIsSender(of: account.id) }
        let sender = WriteSender(calls: calls, write: write, account: account, guardedMD5: guardedMD5(before.subject))
        do {
            switch try await sender.send() {
            case .done(let bytes, let place): return try await settle(before, bytes, place: place)
            case .underWay(let upstreamID, let bytes): return try await follow(upstreamID, before, bytes)
            case .unknown(let error, let bytes): return try await inspect(after: error, before, bytes)
            }
        } catch let problem as Problem where problem.code == .targetExists && write.conditions.forbidReplacing {
            try write.conditions.refuse()
        }
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

    /// Returns the existing item if the write is not necessary; then nothing is sent.
    ///
    /// - Throws: 404 `not-found` if something is to be unpublished that is not published.
    private func unneeded(_ before: WritePreparation.Before) async throws -> WriteOutcome? {
        guard let subject = before.subject else { return nil }
        switch write.kind {
        case .unpublish where !subject.isPublished:
            try await executor.calls.marks.apply(.unpublished(write.path), account: account.id, at: clock.now())
            throw Problem.notFound("\(subject.name) is not published.")
        case .publish where subject.publicURL != nil:
            try await executor.calls.marks.apply(.appeared(write.path, subject), account: account.id, at: clock.now())
            return .unneeded(subject)
        default: return nil
        }
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
