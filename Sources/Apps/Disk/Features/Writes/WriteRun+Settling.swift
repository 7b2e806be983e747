import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Screens
import Upstream

extension WriteRun {
    /// Applies a completed write to the store, and reads back the current state. A write of a client is done even if
    /// its result cannot be stored; one of the outbox ends only together with its stored result.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of an upload.
    ///   - place: The path of the result, as returned by the API.
    ///   - linkEnd: The end of its link, as returned by the API.
    func settle(
        _ before: CurrentState,
        _ bytes: ByteSummary?,
        place: DiskPath? = nil,
        linkEnd: LinkEnd? = nil
    ) async throws -> DiskWrite.Outcome {
        let now = clock.now()
        var made = write.made(subject: before.subject, replaced: before.place, sent: bytes, at: now)
        if let linkEnd { made?.linkEnd = linkEnd }
        let change = write.change(subject: before.subject, made: made)
        let isEmptyFolder = write.action == .makeFolder
        store.changeLogs.acknowledge(change, isEmptyFolder: isEmptyFolder, at: now, account: account.id)
        var applied =
            if let operation = write.operation {
                try await store.apply(change, account: account.id, at: now, finishing: operation)
            } else {
                await disk.record(change, account: account.id, at: now)
            }
        // It was moved without having been stored, or was newer than the stored row.
        if case .moved = change, let made, applied != nil, stored(made.path)?.item != made {
            applied = await disk.record(.appeared(made.path, made), account: account.id, at: now)
        }
        guard let made else {
            var gone = before.subject ?? DiskItem(path: write.path, kind: .file)
            if case .restore = write.kind, let place = place ?? write.place(of: before.subject) {
                gone = gone.at(place)
            }
            let row = DiskRow(gone, seenAt: now)
            return .done(row, Provenance(source: .upstream), isNewLink: false)
        }
        let (row, provenance) = await readBack(made, now, applied)
        return .done(row, provenance, isNewLink: write.action == .publish && before.subject?.publicURL == nil)
    }

    private func stored(_ path: DiskPath) -> DiskRow? {
        // A row that cannot be read is treated as missing: the write is done.
        (try? store.row(path, account: account.id)) ?? nil
    }

    /// Returns the current state: from the API, or as it follows from the write.
    ///
    /// - Parameter applied: The state of the account with the write; nil if that is not stored.
    private func readBack(_ made: DiskItem, _ now: Date, _ applied: DiskStore.Applied?) async -> (DiskRow, Provenance) {
        // No client waits for the result of a write of the outbox: the next screen of it asks the API.
        if disk.client.isReachable, let applied, write.operation == nil {
            do {
                let (row, result) = try await disk.item(
                    made.path,
                    for: account.after(applied),
                    .revalidate,
                    seenAt: now
                )
                return (row, result.provenance)
            } catch {
                disk.logger.info("a file could not be looked at after a write", metadata: ["error": "\(error)"])
            }
        }
        let row = stored(made.path) ?? DiskRow(made, seenAt: now)
        return (row, Provenance(source: .upstream, stale: true, validatedAt: row.seenAt))
    }

    /// Follows a write that the API has accepted and continues.
    ///
    /// - Parameter bytes: The bytes of an upload.
    /// - Throws: 502 `upstream-bad-response` if the operation failed; `StorageError`, `CancellationError`.
    func follow(_ upstreamID: String, _ before: CurrentState, _ bytes: ByteSummary?) async throws -> DiskWrite.Outcome {
        let begun = write.operation(upstreamID, of: account)
        // The outbox asks for it between other writes.
        if write.operation != nil { return .underWay(begun) }
        let operation: DiskOperation
        do {
            operation = try await disk.follow(begun, for: account)
        } catch let refusal as UploadRefused {
            throw refusal.problem
        }
        switch operation.status {
        case .done: return try await settle(before, bytes)
        case .failed:
            await disk.apply(operation)
            throw Problem(
                .upstreamBadResponse,
                "Yandex Disk began it and could not finish it.",
                upstream: disk.client.cause()
            )
        case .running where write.isQueuedIfUnderWay: return .underWay(operation)
        case .running:
            await disk.record(.doubtful, account: account.id, at: clock.now())
            do {
                try await store.keep(operation, at: clock.now())
            } catch {
                disk.logger.error("an operation could not be stored", metadata: ["error": "\(error)"])
                throw outcomeUnknown("Yandex Disk continues with it, and that could not be stored here")
            }
            if case .upload = write.kind { disk.background.start { await attend(operation, before, bytes) } }
            return .underWay(operation)
        }
    }

    /// Waits for the end of an upload whose client has its response, so that screens show the file even if no client
    /// polls the operation.
    private func attend(_ operation: DiskOperation, _ before: CurrentState, _ bytes: ByteSummary?)
        async
    {
        var operation = operation
        let began = clock.now()
        while operation.status == .running {
            let age = clock.now().timeIntervalSince(began)
            guard age < disk.uploadResponse.seconds,
                (try? await clock.sleep(.seconds(Disk.operationPause(at: age)))) != nil
            else { return }
            do {
                operation.status = try await disk.status(of: operation, for: account) ?? .running
            } catch is UploadRefused {
                operation.status = .failed
            } catch is OperationForgotten {
                switch await observe(before: before, bytes) {
                case .done: operation.status = .done
                case .notDone, .unclear: operation.status = .failed
                case .unobserved: break
                }
            } catch {
                disk.logger.info("an operation could not be asked for", metadata: ["error": "\(error)"])
            }
        }
        do {
            guard try await store.finish(operation, as: operation.status) else { return }
            if operation.status == .done {
                _ = try await settle(before, bytes)
            } else {
                await disk.apply(operation)
            }
        } catch {
            disk.logger.error("the end of an upload could not be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Finds out the outcome of a write whose response did not arrive.
    ///
    /// - Parameter upstreamID: The operation by which the API may continue it; nil if there is none.
    /// - Throws: 502 `outcome-unknown` if that fails; the problem of `error` if the write was not carried out.
    func inspect(
        after error: UpstreamError,
        _ before: CurrentState,
        _ bytes: ByteSummary?,
        _ upstreamID: String?
    ) async throws -> DiskWrite.Outcome {
        let observation = await observe(before: before, bytes)
        disk.logger.warning(
            "no response to a write",
            metadata: ["action": "\(write.action.rawValue)", "error": "\(error)", "finding": "\(observation)"]
        )
        switch observation {
        case .done: return try await settle(before, bytes)
        case .notDone where error.saysThatItFailed:
            var problem = disk.client.failure(error).problem
            problem.detail = "Yandex Disk did not carry it out (\(Self.text(error))). Nothing was changed."
            throw problem
        case .unobserved where error.status == .serviceUnavailable && write.operation == nil:
            // An API that is down refuses writes, and reads as well.
            await disk.record(.doubtful, account: account.id, at: clock.now())
            var problem = disk.client.failure(error).problem
            problem.detail = .nothingChanged(503)
            if write.isQueuedIfNotDone { throw Unobserved(problem: problem) }
            throw problem
        case .notDone, .unclear, .unobserved:
            // The outbox looks once more, and then asks for the operation.
            if let upstreamID, write.operation == nil { return try await follow(upstreamID, before, bytes) }
            await disk.record(.doubtful, account: account.id, at: clock.now())
            throw outcomeUnknown(
                "The request was sent to Yandex Disk, and no usable response arrived (\(Self.text(error))). "
                    + "Whether it was carried out is not known",
                status: error.status?.code
            )
        }
    }

    private func outcomeUnknown(_ reason: String, status: Int? = nil) -> Problem {
        Problem(
            .outcomeUnknown,
            Text("\(reason); before it is sent again, \(write.href) shows what is there."),
            offline: !disk.client.isReachable,
            upstream: disk.client.cause(status),
            href: write.href
        )
    }

    private static func text(_ error: UpstreamError) -> String {
        switch error {
        case .unreachable(let reason): reason == .totalTimeout ? "it took too long" : "the connection broke"
        case .failing(let status, _), .rejected(let status, _): "status \(status.code)"
        case .badResponse(let status, let reason): status.map { "status \($0.code), \(reason)" } ?? reason
        case .forbiddenTarget, .notStored, .storageFailed, .known: "\(error)"
        }
    }
}

// The state after a write whose response did not arrive.
extension WriteRun {
    /// Observes the outcome of a write, for at most the patience of the API's configuration.
    private func observe(before: CurrentState, _ bytes: ByteSummary?) async -> DiskWrite.Observation {
        let patience = disk.client.upstream.configuration.patience
        return await withTaskGroup(of: DiskWrite.Observation?.self) { group in
            group.addTask { await look(before, bytes) }
            group.addTask {
                // Whether it ends or is cancelled does not matter: the other child returns the observation.
                try? await clock.sleep(patience)
                return nil
            }
            var observation = DiskWrite.Observation.unobserved
            while let finished = await group.next() {
                group.cancelAll()
                if let finished { observation = finished }
            }
            return observation
        }
    }

    private func look(_ before: CurrentState, _ bytes: ByteSummary?) async -> DiskWrite.Observation {
        do {
            let paths = write.observedPaths
            var subject: DiskItem?
            if let path = paths.subject { subject = try await disk.present(path, account) }
            if case .publish = write.kind, subject?.isPublished == true {
                subject?.linkEnd = try await disk.linkEnd(write.path, account)
            }
            var place: DiskItem?
            if let path = paths.place { place = try await disk.present(path, account) }
            return write.observation(subject: subject, place: place, before: before, sent: bytes)
        } catch {
            return .unobserved
        }
    }
}

extension UpstreamError {
    /// Whether a response says that the write failed or was refused, so that it will not be carried out later. Behind a
    /// broken connection, a timeout, a gateway (408, 499, 502, 504, 520 and above) or a success that is not the API's
    /// it may still be carried out.
    var saysThatItFailed: Bool {
        guard let code = status?.code, code != 408, code != 499 else { return false }
        return (300..<500).contains(code) || code == 500 || code == 501 || code == 503
    }
}
