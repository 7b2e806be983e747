import Concurrency
import Foundation
import Logging
import Screens
import Upstream

/// Follows operations: writes that the API finishes after it has accepted them (202).
struct OperationTracker: Sendable {
    let client: YandexDiskClient
    var tokens: TokenProvider
    let uploads: LateUploads
    /// How long a write waits for the end of its operation.
    let wait: Duration
    let clock: WallClock
    let logger: Logger

    var store: DiskStore { tokens.store }

    /// After how many seconds an operation of this age is asked for again.
    static func pause(at age: TimeInterval) -> Double { min(max(age / 2, 1), 60) }

    /// Follows an operation to its end, at most for ``wait``.
    ///
    /// - Returns: The operation with its status.
    /// - Throws: ``UploadRefused``; `CancellationError`.
    func follow(_ operation: DiskOperation, for account: DiskAccount) async throws -> DiskOperation {
        var operation = operation
        let deadline = clock.now().addingTimeInterval(wait.seconds)
        while true {
            do {
                operation.status = try await status(of: operation, for: account)
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

    /// Returns the status of an operation: by the late response of its uploader, or else as the API says; running while
    /// the API fails to say.
    ///
    /// - Throws: ``UploadRefused``; ``OperationForgotten``; `Problem`, `UpstreamFailure`, `StorageError`.
    func status(
        of operation: DiskOperation,
        for account: DiskAccount
    ) async throws -> DiskOperation.Status {
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
            return .running
        } catch {
            throw client.translated(error)
        }
    }

    /// Returns the outcome of an operation that the API has forgotten, judged by the items at its paths.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func ending(of operation: DiskOperation, for account: DiskAccount) async throws -> DiskOperation.Status {
        async let subject = present(operation.path, account)
        async let place = present(operation.target, account)
        return try await operation.ending(subject: subject, place: place)
    }

    private func present(_ path: DiskPath?, _ account: DiskAccount) async throws -> DiskItem? {
        guard let path else { return nil }
        do {
            return try await tokens.authorized(account) { try await client.current(path, $0) }
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        } catch {
            throw client.translated(error)
        }
    }

    /// Applies the change of an operation that has ended to the store. If it cannot be stored, it has ended all the
    /// same, and nothing that is stored of the account is served without a request until that has been recorded.
    func apply(_ operation: DiskOperation) async {
        let change = operation.status == .done ? operation.change : .doubtful
        store.changeLogs.acknowledge(change, isEmptyFolder: false, at: clock.now(), account: operation.account)
        do {
            try await store.apply(change, account: operation.account, at: clock.now())
        } catch {
            logger.error("a change could not be stored", metadata: ["error": "\(error)"])
            store.miss(operation.account)
        }
    }
}

/// The API does not know an operation any more.
struct OperationForgotten: Error {}

/// An uploader has refused the bytes that it was sent, or has failed with them, some time after the last one.
struct UploadRefused: Error {
    let problem: any Error
}
