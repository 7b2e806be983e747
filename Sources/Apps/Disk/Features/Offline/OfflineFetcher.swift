import Cluster
import Concurrency
import Screens
import Storage
import Upstream

/// Fetches the contents that are kept offline, one after the other part, behind the requests that clients wait for.
struct OfflineFetcher: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let fetcher: FileFetcher
    let load: ForegroundLoad
    let clock: WallClock

    /// Longest wait for clients before a request, and before each part of a content.
    private static let (longestWait, longestPartWait): (Duration, Duration) = (.seconds(30), .seconds(1))

    private var store: DiskStore { accounts.store }

    /// Fetches a content: from the cache if it is there, else the bytes that earlier attempts have not received, from
    /// the API.
    ///
    /// - Parameters:
    ///   - partial: The bytes received by an earlier attempt; afterwards, those with which the next attempt can begin.
    ///   - progress: Is called with the number of bytes received so far.
    func fetch(
        _ file: OfflineFile,
        _ partial: inout PartialContent?,
        progress: @Sendable (Int) -> Void
    ) async -> OfflineFile.Outcome {
        do {
            guard let item = try wanted(file) else { return .changed }
            try await receive(item, file, &partial, progress: progress)
            guard let received = partial else { return .failed(.damaged) }
            partial = nil
            let blob = try received.finish(as: item)
            // Its mark may have been removed on another server.
            try await store.catchUp(file.account)
            return try await store.keep(blob, of: file, at: clock.now()) ? .stored : .changed
        } catch {
            if error is StorageError || error is FileKeeper.WrongContent { partial = nil }
            if Task.isCancelled { return .postponed }
            return await outcome(of: error, file)
        }
    }

    /// Receives the missing bytes of a content.
    private func receive(
        _ item: DiskItem,
        _ file: OfflineFile,
        _ partial: inout PartialContent?,
        progress: @Sendable (Int) -> Void
    ) async throws {
        if partial?.version != file.version { partial = nil }
        var received = try partial ?? PartialContent(version: file.version, in: store.database.blobs)
        partial = received
        guard received.received < file.size else { return }
        let parts: ByteStream
        if received.received == 0, let cached = try await fetcher.files.openCached(.content, of: item, file.account) {
            parts = try cached.content(of: item, type: cached.type).parts(0..<file.size)
        } else {
            (parts, received) = try await request(item, file, received)
        }
        for try await part in parts {
            try received.append(part)
            partial = received
            progress(received.received)
            try await load.idle(atMost: Self.longestPartWait, clock)
        }
    }

    /// Requests the missing bytes of a content.
    ///
    /// - Returns: The bytes, and the partial content to append them to: an empty one if the response begins at the
    ///   first byte.
    private func request(_ item: DiskItem, _ file: OfflineFile, _ received: PartialContent) async throws -> (
        ByteStream, PartialContent
    ) {
        let account = try await accounts.account(file.account)
        try await load.idle(atMost: Self.longestWait, clock)
        return try await fetcher.missing(behind: received, of: item, size: file.size, for: account)
    }

    /// Returns the row of a file; nil if it is gone, or of another version than the wanted one.
    private func wanted(_ file: OfflineFile) throws -> DiskItem? {
        let item = try store.item(file.path, account: file.account)?.item
        return item.flatMap { $0.version == file.version && $0.size == file.size ? $0 : nil }
    }

    /// Returns the outcome of a fetch that failed with an error. A failure may be the consequence of a change of the
    /// file, of which its present row tells.
    private func outcome(of error: any Error, _ file: OfflineFile) async -> OfflineFile.Outcome {
        let failure = OfflineFailure(error)
        guard accounts.reader.client.isReachable || failure != .unavailable else { return .postponed }
        guard failure == .unavailable || failure == .damaged else { return .failed(failure) }
        do {
            let account = try await accounts.account(file.account)
            _ = try await items.item(file.path, for: account, .revalidate)
            return try wanted(file) == nil ? .changed : .failed(failure)
        } catch let problem as Problem where problem.code == .notFound {
            return .changed
        } catch {
            return .failed(failure)
        }
    }
}

extension OfflineFailure {
    /// Classifies an error of a read or of storing.
    init(_ error: any Error) {
        switch error {
        case is FileKeeper.WrongContent: self = .damaged
        case StorageError.diskFull: self = .storageFull
        case is StorageError, is SharedStoreError: self = .storage
        case let problem as Problem:
            switch problem.code {
            case .upstreamSessionExpired, .sessionExpired: self = .sessionExpired
            case .upstreamForbidden: self = .forbidden
            default: self = .unavailable
            }
        default: self = .unavailable  // The API fails, or the body broke off.
        }
    }
}
