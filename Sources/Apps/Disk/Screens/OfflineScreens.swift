import Foundation
import Screens

/// A file or folder that is kept offline.
struct OfflineRowScreen: Encodable, Sendable {
    let type: String
    let name: String
    let path: String
    let icon: String
    /// Address of the screen that opens it.
    let href: Link
    let state: String
    let stateText: Text
    /// Why it is not kept; null if it is, or will be.
    @Nullable var reason: String?
    @Nullable var reasonText: Text?
    /// Whether it is tried again without a change.
    let retryable: Bool
    /// Files in it; 1 for a file.
    let files: Int
    let filesKept: Int
    /// Bytes of all its files, as far as they are known.
    let size: Int
    let sizeText: Text
    /// Bytes that are here.
    let bytesDone: Int
    /// From 0 to 1; 1 only if all of it is kept.
    let progress: Double
    let progressText: Text
    let markedAt: Date
    /// When the last of its contents was stored; null if there is none.
    @Nullable var keptAt: Date?
    @Nullable var keptText: Text?
    let actions: [Action]

    /// Creates the screen of a mark.
    ///
    /// - Parameter received: Bytes that are here of its contents that are being fetched, by path.
    init(_ row: OfflineRow, received: [DiskPath: Int], timeZone: TimeZone) {
        let (mark, counts) = (row.mark, row.counts)
        let item = row.item ?? DiskItem(path: mark.path, kind: mark.kind)
        let fetched = received.filter { mark.path.covers($0.key) }
        let state = OfflineState(mark, counts, isFetching: !fetched.isEmpty)
        type = item.kind.rawValue
        name = item.name
        path = mark.path.text
        icon = item.icon
        href = mark.path.link(to: item.kind == .dir ? "/v1/disk/files" : "/v1/disk/file")
        self.state = state.rawValue
        stateText = state.text
        let failure = Self.failure(state, mark, counts)
        _reason = Nullable(wrappedValue: failure?.rawValue)
        _reasonText = Nullable(wrappedValue: failure?.text)
        retryable = failure?.isRetryable ?? false
        files = counts.files
        filesKept = counts.keptFiles
        size = counts.bytes
        sizeText = DiskText.size(counts.bytes)
        bytesDone = min(counts.keptBytes + fetched.values.reduce(0, +), counts.bytes)
        let share = counts.bytes > 0 ? Double(bytesDone) / Double(counts.bytes) : 0
        progress = state == .kept ? 1 : min(share, 0.999)
        progressText = DiskText.share(progress)
        markedAt = mark.markedAt
        _keptAt = Nullable(wrappedValue: counts.keptAt)
        _keptText = Nullable(wrappedValue: counts.keptAt.map { DiskText.date($0, in: timeZone) })
        actions = [.removeOffline(mark.path)]
    }

    private static func failure(_ state: OfflineState, _ mark: OfflineMark, _ counts: OfflineCounts) -> OfflineFailure?
    {
        switch state {
        case .tooLarge: mark.failure ?? .tooLarge
        case .failed: mark.failure ?? counts.failure
        case .waiting, .fetching, .kept, .outOfDate: nil
        }
    }
}

/// `GET /v1/disk/offline`.
struct OfflineScreen: Encodable, Sendable {
    let items: [OfflineRowScreen]
    /// Bytes of all contents that are kept of the account.
    let bytes: Int
    let bytesText: Text
    /// Bytes that may be kept of it.
    let budget: Int
    let budgetText: Text
    let empty: EmptyState?
    let actions: [Action]

    init(_ page: OfflinePage, received: [DiskPath: Int], budget: Int, timeZone: TimeZone) {
        items = page.rows.map { OfflineRowScreen($0, received: received, timeZone: timeZone) }
        bytes = page.keptBytes
        bytesText = DiskText.size(page.keptBytes)
        self.budget = budget
        budgetText = DiskText.size(budget)
        empty = page.total == 0 ? .offline : nil
        actions = [.refresh("/v1/disk/offline")]
    }
}

extension Action {
    /// Returns the action that keeps a file or folder offline.
    ///
    /// - Parameter isKept: Whether a folder above it is kept, so that it is kept already.
    static func keepOffline(_ path: DiskPath, disabled reason: Text?) -> Action {
        Action(
            id: "keep_offline",
            title: .addToOffline,
            method: "PUT",
            href: "/v1/disk/offline",
            body: ["path": .text(path.text)],
            disabled: reason
        )
    }

    /// Returns the action that ends it.
    static func removeOffline(_ path: DiskPath) -> Action {
        Action(
            id: "remove_offline",
            title: .deleteFromOffline,
            method: "DELETE",
            href: path.link(to: "/v1/disk/offline")
        )
    }
}
