import Concurrency
import Foundation
import HTTPTypes
import Logging
import Screens
import Upstream

extension Writes {
    /// `GET /v1/disk/operations/{id}`: asks the API for the status, and applies the change once it has ended.
    @Sendable func operation(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try request.parameter("id")
        let account = try await disk.account(of: session)
        guard var operation = try disk.store.operation(id, account: account.id) else {
            throw Problem.notFound("There is no such operation.")
        }
        if operation.status == .running {
            guard disk.client.isReachable else { throw disk.client.unreachable }
            do {
                operation.status = try await disk.status(of: operation, for: account) ?? .running
            } catch is UploadRefused {
                operation.status = .failed
            } catch is OperationForgotten {
                operation.status = try await disk.ending(of: operation, for: account)
            }
            if operation.status != .running, try await disk.store.finish(operation, as: operation.status) {
                await disk.apply(operation)
            }
        }
        return try disk.operationResponse(operation, request)
    }
}

// Operations: writes that the API finishes after it has accepted them (202).
extension Disk {
    /// Returns the pause before an operation of this age is polled again, in seconds.
    static func operationPause(at age: TimeInterval) -> Double { min(max(age / 2, 1), 60) }

    /// Follows an operation to its end, at most for the configured time.
    ///
    /// - Returns: The operation with its status.
    /// - Throws: ``UploadRefused``; `CancellationError`.
    func follow(_ operation: DiskOperation, for account: DiskAccount) async throws -> DiskOperation {
        var operation = operation
        let deadline = clock.now().addingTimeInterval(settings[DiskApp.operationWait].seconds)
        while true {
            do {
                operation.status = try await status(of: operation, for: account) ?? .running
            } catch let refusal as UploadRefused {
                throw refusal
            } catch {
                // The write was accepted. Clients can ask for the operation later.
                logger.info("an operation could not be asked for", metadata: ["error": "\(error)"])
            }
            guard operation.status == .running, clock.now() < deadline else { return operation }
            try await clock.sleep(.seconds(1))
            RequestScope.current?.extend(by: 1)
        }
    }

    /// Returns the status of an operation: by the late response of its uploader, or else as the API says; nil if the
    /// API fails to say.
    ///
    /// - Throws: ``UploadRefused``; ``OperationForgotten``; `Problem`, `UpstreamFailure`, `StorageError`.
    func status(of operation: DiskOperation, for account: DiskAccount) async throws -> DiskOperation.Status? {
        switch uploads.response(to: operation.upstreamID) {
        case .success(let isUnfinished): if !isUnfinished { return .done }
        // The response is lost; the operation tells.
        case .failure(let error as UpstreamError) where error.leavesOutcomeUnknown && !error.saysThatItFailed: break
        case .failure(let error): throw UploadRefused(problem: client.translated(error))
        case nil: break
        }
        do {
            let status = try await tokens.authorized(account) {
                try await client.operation(operation.upstreamID, $0)
            }
            if status != .running { uploads.end(operation.upstreamID) }
            return status
        } catch let refusal as DiskRefusal where refusal.status == 404 {
            // Its connection is open, and has the last word.
            if uploads.isAwaited(to: operation.path, of: account.id) { return .running }
            throw OperationForgotten()
        } catch UpstreamError.failing, UpstreamError.badResponse {
            return nil
        } catch {
            throw client.translated(error)
        }
    }

    /// Returns the outcome of an operation that the API no longer knows, derived from the items at its paths.
    func ending(of operation: DiskOperation, for account: DiskAccount) async throws -> DiskOperation.Status {
        async let subject = found(operation.path, account)
        async let place = found(operation.target, account)
        return try await operation.ending(subject: subject, place: place)
    }

    private func found(_ path: DiskPath?, _ account: DiskAccount) async throws -> DiskItem? {
        guard let path else { return nil }
        do {
            return try await tokens.authorized(account) { try await client.current(path, $0) }
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        } catch {
            throw client.translated(error)
        }
    }

    /// Applies the change of an operation that has ended to the store.
    func apply(_ operation: DiskOperation) async {
        let (change, now) = (operation.status == .done ? operation.change : .doubtful, clock.now())
        store.changeLogs.acknowledge(change, isEmptyFolder: false, at: now, account: operation.account)
        await record(change, account: operation.account, at: now)
    }

    /// Applies a change that the API has made. If it cannot be stored, nothing that is stored of the account is served
    /// without a request until that has been recorded.
    @discardableResult
    func record(_ change: DiskChange, account: String, at now: Date) async -> DiskStore.Applied? {
        do {
            return try await store.apply(change, account: account, at: now)
        } catch {
            logger.error("a change could not be stored", metadata: ["error": "\(error)"])
            store.markDirty(account)
            return nil
        }
    }
}

/// The API does not know an operation any more.
struct OperationForgotten: Error {}

/// An uploader has refused the bytes that it was sent, or has failed with them, some time after the last one.
struct UploadRefused: Error {
    let problem: any Error
}

/// A write that the API finishes after it has accepted it (202).
struct DiskOperation: Sendable, Equatable {
    enum Status: String, Sendable {
        case running, done, failed
    }

    enum Action: String, Sendable {
        case delete, move, copy, restore, purge, publish, unpublish, upload
        case makeFolder = "folder"
    }

    let id: String
    let account: String
    /// Its identifier at the API.
    let upstreamID: String
    let action: Action
    let path: DiskPath
    let target: DiskPath?
    var status: Status

    /// The change of the store once it is done.
    var change: DiskChange {
        switch action {
        case .delete, .purge: .deleted(path)
        case .move: target.map { .moved(from: path, to: $0) } ?? .doubtful
        case .restore: .restored(path)
        case .unpublish: .unpublished(path)
        case .copy, .publish, .upload, .makeFolder: .doubtful
        }
    }

    /// Returns the outcome of an operation that the API no longer knows, derived from the present items at its paths.
    /// The API had accepted the operation, so the item on which it acts existed.
    ///
    /// - Parameters:
    ///   - subject: The item at ``path``.
    ///   - place: The item at ``target``.
    func ending(subject: DiskItem?, place: DiskItem?) -> Status {
        let isDone =
            switch action {
            case .purge where path.isRoot: true
            case .delete, .restore, .purge: subject == nil
            case .move: subject == nil && place != nil
            case .copy: place != nil
            case .upload: subject?.kind == .file
            case .makeFolder: subject?.kind == .dir
            case .publish: subject?.isPublished == true
            case .unpublish: subject?.isPublished == false
            }
        return isDone ? .done : .failed
    }
}
