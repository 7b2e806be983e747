import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

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

    /// There are more files and folders than may be kept.
    private struct TooManyFiles: Error {}

    let accounts: DiskAccounts
    let items: ItemReader
    let load: ForegroundLoad
    /// Most files and folders of an account.
    let maximumFiles: Int
    let clock: WallClock

    /// Rows of one request, and how often a folder that changes meanwhile is listed.
    private static let (batchSize, attempts) = (1000, 3)
    /// Longest wait for clients before a request.
    private static let longestWait: Duration = .seconds(30)

    private var client: YandexDiskClient { accounts.reader.client }
    private var store: DiskStore { accounts.store }

    /// Compares a mark with the API.
    func check(_ mark: OfflineMark) async -> Outcome {
        do {
            let account = try await accounts.account(mark.account)
            try await load.idle(atMost: Self.longestWait, clock)
            let (row, result) = try await items.item(mark.path, for: account, .revalidate, waitsToTimeout: true)
            guard result.provenance.isValidatedNow else {
                return client.isReachable ? .ended(.unavailable) : .postponed
            }
            if row.item.kind == .dir { try await walk(row.item, account) }
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
    private func walk(_ folder: DiskItem, _ account: DiskAccount) async throws {
        var folders = [folder]
        while let next = folders.popLast() {
            folders += try await content(of: next, account).filter { $0.kind == .dir }
            guard try store.countEntries(account: account.id) <= maximumFiles else { throw TooManyFiles() }
        }
    }

    /// Lists a folder and stores its content, which is empty if it was deleted.
    private func content(of folder: DiskItem, _ account: DiskAccount) async throws -> [DiskItem] {
        for _ in 0..<Self.attempts {
            guard let present = try store.renewed(account) else { throw Problem.loggedOut }
            do {
                let now = clock.now()
                guard let rows = try await rows(of: folder.path, present) else { continue }
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
                try await store.forget(folder.path, account: present.id, asOf: present.epoch)
                return []
            } catch {
                throw client.translated(error)
            }
        }
        throw client.failure(.badResponse(status: .ok, reason: "a folder that changes while it is listed"))
    }

    /// Returns the rows of a folder; nil if they have changed while they were requested in parts.
    private func rows(of folder: DiskPath, _ account: DiskAccount) async throws -> [ListedRow]? {
        var rows: [ListedRow] = []
        while true {
            try await load.idle(atMost: Self.longestWait, clock)
            let offset = rows.count
            let record = try await accounts.reader.tokens.authorized(account) {
                try await client.content(of: folder, limit: Self.batchSize, offset: offset, $0)
            }
            guard let embedded = record.embedded else {
                throw UpstreamError.badResponse(status: .ok, reason: "a folder without its content")
            }
            rows += embedded.rows
            if let total = embedded.total {
                if rows.count >= total { return rows.count == total && rows.uniqueByPath == rows ? rows : nil }
                if embedded.rows.isEmpty { return nil }
            } else if embedded.rows.count < Self.batchSize {
                return rows
            }
            guard rows.count <= maximumFiles else { throw TooManyFiles() }
        }
    }
}
