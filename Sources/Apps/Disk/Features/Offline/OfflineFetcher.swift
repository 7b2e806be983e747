import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Fetches the contents that are kept offline, one part after the other; requests that clients wait for take
/// precedence.
struct OfflineFetcher: Sendable {
    let disk: Disk

    /// Longest wait for clients before a request, and before each part of a content.
    private static let (longestWait, longestPartWait): (Duration, Duration) = (.seconds(30), .seconds(1))

    private var store: DiskStore { disk.store }

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
            return try await store.keep(blob, of: file, at: disk.clock.now()) ? .stored : .changed
        } catch {
            if error is StorageError || error is FileFetcher.WrongContent { partial = nil }
            if Task.isCancelled { return .postponed }
            return await outcome(of: error, file)
        }
    }

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
        if received.received == 0, let cached = try await disk.files.openCached(.content, of: item, file.account) {
            parts = try cached.content(of: item, type: cached.type).parts(0..<file.size)
        } else {
            let account = try await disk.account(file.account)
            try await disk.load.idle(atMost: Self.longestWait, disk.clock)
            (parts, received) = try await disk.fetcher.missing(
                behind: received,
                of: item,
                size: file.size,
                for: account
            )
        }
        for try await part in parts {
            try received.append(part)
            partial = received
            progress(received.received)
            try await disk.load.idle(atMost: Self.longestPartWait, disk.clock)
        }
    }

    /// Returns the row of a file; nil if the file no longer exists or has another version than the wanted one.
    private func wanted(_ file: OfflineFile) throws -> DiskItem? {
        let item = try store.item(file.path, account: file.account)?.item
        return item.flatMap { $0.version == file.version && $0.size == file.size ? $0 : nil }
    }

    /// Returns the outcome of a fetch that failed with an error. A failure may be the consequence of a change of the
    /// file, of which its present row tells.
    private func outcome(of error: any Error, _ file: OfflineFile) async -> OfflineFile.Outcome {
        let failure = OfflineFailure(error)
        guard disk.client.isReachable || failure != .unavailable else { return .postponed }
        guard failure == .unavailable || failure == .damaged else { return .failed(failure) }
        do {
            let account = try await disk.account(file.account)
            _ = try await disk.item(file.path, for: account, .revalidate)
            return try wanted(file) == nil ? .changed : .failed(failure)
        } catch let problem as Problem where problem.code == .notFound {
            return .changed
        } catch {
            return .failed(failure)
        }
    }
}

extension OfflineFailure {
    init(_ error: any Error) {
        switch error {
        case is FileFetcher.WrongContent: self = .damaged
        case StorageError.diskFull: self = .storageFull
        case is StorageError, is ClusterError: self = .storage
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

/// Compares marked files and folders with the API: a file by its version, a folder with everything below it.
struct OfflineChecker: Sendable {
    /// How a comparison ended.
    enum Outcome: Sendable, Equatable {
        /// All of it is known now; or not, for a reason.
        case ended(OfflineFailure?)
        /// The marked file or folder was deleted, and its mark with it.
        case gone
        /// The API cannot be requested at the moment.
        case postponed
    }

    private struct TooManyFiles: Error {}

    let disk: Disk

    /// Rows of one request, and how often a folder that changes meanwhile is listed.
    private static let (batchSize, attempts) = (1000, 3)
    /// Longest wait for clients before a request.
    private static let longestWait: Duration = .seconds(30)

    private var client: YandexDiskClient { disk.client }
    private var store: DiskStore { disk.store }
    private var maximumFiles: Int { disk.settings[DiskApp.offlineFiles] }

    func check(_ mark: OfflineMark) async -> Outcome {
        do {
            let account = try await disk.account(mark.account)
            try await disk.load.idle(atMost: Self.longestWait, disk.clock)
            let (row, result) = try await disk.item(mark.path, for: account, .revalidate, waitsToTimeout: true)
            guard result.provenance.isValidatedNow else {
                return client.isReachable ? .ended(.unavailable) : .postponed
            }
            if row.item.kind == .dir { try await walk(row.item.path, account) }
            return .ended(nil)
        } catch is TooManyFiles {
            return .ended(.tooManyFiles)
        } catch let problem as Problem where problem.code == .notFound {
            return .gone
        } catch {
            let failure = OfflineFailure(error)
            return Task.isCancelled || failure == .unavailable && !client.isReachable ? .postponed : .ended(failure)
        }
    }

    /// Lists a folder and all folders below it.
    private func walk(_ folder: DiskPath, _ account: DiskAccount) async throws {
        var folders = [folder]
        while let next = folders.popLast() {
            folders += try await content(of: next, account).filter { $0.kind == .dir }.map(\.path)
            guard try store.countEntries(account: account.id) <= maximumFiles else { throw TooManyFiles() }
        }
    }

    /// Lists a folder and stores its content, which is empty if it was deleted.
    private func content(of path: DiskPath, _ account: DiskAccount) async throws -> [DiskItem] {
        for _ in 0..<Self.attempts {
            guard let present = try store.renewed(account) else { throw Problem.loggedOut }
            do {
                let now = disk.clock.now()
                guard let (folder, rows) = try await rows(of: path, present) else { continue }
                let items = rows.uniqueByPath.items
                let isStored = try await store.enterContent(
                    of: folder,
                    items,
                    isWhole: !rows.contains(.unreadable),
                    account: present.id,
                    epoch: present.epoch,
                    at: now
                )
                if isStored { return items }
            } catch  where DiskRefusal(error)?.isGone == true {
                try await disk.forget(path, for: present)
                return []
            } catch {
                throw client.translated(error)
            }
        }
        throw client.failure(.badResponse(status: .ok, reason: "a folder that changes while it is listed"))
    }

    /// Returns a folder with its rows; nil if they have changed while they were requested in parts.
    private func rows(of folder: DiskPath, _ account: DiskAccount) async throws -> (DiskItem, [ListedRow])? {
        var rows: [ListedRow] = []
        while true {
            try await disk.load.idle(atMost: Self.longestWait, disk.clock)
            let page = PageRequest(limit: Self.batchSize, offset: rows.count)
            let record = try await disk.tokens.authorized(account) {
                try await client.content(of: folder, page, $0)
            }
            guard let item = record.item, let embedded = record.embedded else {
                throw UpstreamError.badResponse(status: .ok, reason: "a folder without its content")
            }
            rows += embedded.rows
            if let total = embedded.total {
                if rows.count >= total {
                    return rows.count == total && rows.uniqueByPath == rows ? (item, rows) : nil
                }
                if embedded.rows.isEmpty { return nil }
            } else if embedded.rows.count < Self.batchSize {
                return (item, rows)
            }
            guard rows.count <= maximumFiles else { throw TooManyFiles() }
        }
    }
}
