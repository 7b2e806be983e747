import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// Files and folders that users keep offline.
struct Offline: Sendable {
    let disk: Disk
    let sync: OfflineSync

    private static let list = PagedList("disk.offline", key: [.integer])

    private var store: DiskStore { disk.store }

    /// `GET /v1/disk/offline`: the files and folders marked to be kept offline, the latest first. Needs no upstream.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(of: Self.list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let (account, page) = try await disk.account(of: session) {
            try store.offlinePage(asked, account: $0.id)
        }
        let shown = Page(asked, count: page.rows.count, total: page.total, hasMore: page.hasMore)
        let received = sync.received(of: account.id)
        let next = page.rows.last.map { Self.list.cursor(after: [.integer($0.mark.number)]) }
        return try .local(
            OfflineScreen(page, received: received, budget: disk.settings[DiskApp.offlineBudget], timeZone: timeZone),
            Meta(screen: "disk.offline", state: page.total == 0 ? .empty : .content, provenance: .local, page: shown)
                .lagging(store.users.lag),
            request.links(for: shown, next: next)
        )
    }

    /// `PUT /v1/disk/offline`: marks a file or folder. It is fetched in the background. Idempotent.
    @Sendable func mark(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().itemPath()
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let account = try await disk.account(of: session)
        try check(request, path, account)
        let isNew = try await disk.keepOffline(path, for: account)
        guard let present = try store.offlineRow(path, account: account.id) else { throw Problem.loggedOut }
        return try .local(
            OfflineRowScreen(present, received: sync.received(of: account.id), timeZone: timeZone),
            "disk.offline",
            request,
            status: isNew ? .created : .ok,
            selfLink: "/v1/disk/offline"
        )
    }

    /// `DELETE /v1/disk/offline`: removes the mark, and the local contents that no other mark keeps. Needs no upstream.
    @Sendable func unmark(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let account = try await disk.account(of: session)
        try check(request, path, account)
        guard try await store.unmark(path, account: account.id) else {
            throw Problem.notFound("\(path.name) is not marked to be kept offline.")
        }
        sync.cancel(path, account: account.id)
        return try .local(
            RemovalScreen(path: path.text, back: "/v1/disk/offline"),
            "disk.offline",
            request,
            selfLink: "/v1/disk/offline"
        )
    }

    /// Checks the preconditions of a write: an existing mark has the version 1.
    private func check(_ request: ScreenRequest, _ path: DiskPath, _ account: DiskAccount) throws {
        let version = try store.mark(path, account: account.id).map { _ in 1 }
        try request.writePreconditions().check(version: version, of: "\(path.name) in the list of offline files")
    }
}

extension Disk {
    /// Marks a file or folder to be kept offline.
    ///
    /// - Returns: Whether it was not marked before.
    func keepOffline(_ path: DiskPath, for account: DiskAccount) async throws -> Bool {
        let (row, _) = try await item(path, for: account, .useCache)
        let maximum = settings[DiskApp.offlineFiles]
        let now = clock.now()
        guard let (_, isNew) = try await store.mark(row.item, account: account.id, at: now, maximum: maximum) else {
            throw Problem.loggedOut
        }
        return isNew
    }
}

/// A file or folder that is kept offline.
struct OfflineRowScreen: Encodable, Sendable {
    let id: String
    let type: String
    let name: String
    let path: String
    let icon: String
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
    /// Bytes of all its files whose size is known.
    let size: Int
    let sizeText: Text
    /// Bytes that this server has.
    let bytesDone: Int
    /// From 0 to 1; 1 only if all of it is kept.
    let progress: Double
    let progressText: Text
    let markedAt: Date
    /// When the last of its contents was stored; null if there is none.
    @Nullable var keptAt: Date?
    @Nullable var keptText: Text?
    let actions: [Action]
    let task: TaskScreen

    /// Creates the screen of a mark.
    ///
    /// - Parameter received: Bytes that are here of its contents that are being fetched, by path.
    init(_ row: OfflineRow, received: [DiskPath: Int], timeZone: TimeZone) {
        let (mark, counts) = (row.mark, row.counts)
        let item = row.item ?? DiskItem(path: mark.path, kind: mark.kind)
        let fetched = received.filter { mark.path.covers($0.key) }
        let state = OfflineState(mark, counts, isFetching: !fetched.isEmpty)
        id = item.identity
        type = item.kind.rawValue
        name = item.name
        path = mark.path.text
        icon = item.icon
        href = mark.path.link(to: item.kind == .dir ? "/v1/disk/files" : "/v1/disk/file")
        self.state = state.rawValue
        stateText = state.text
        let failure = Self.failure(state, mark, counts)
        reason = failure?.rawValue
        reasonText = failure?.text
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
        keptAt = counts.keptAt
        keptText = counts.keptAt.map { DiskText.date($0, in: timeZone) }
        actions = [.removeOffline(mark.path)]
        task = TaskScreen(id, state, progress: progress, failure, actions)
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
        call("keep_offline", .addToOffline, "PUT", "/v1/disk/offline", reason, body: ["path": .text(path.text)])
    }

    /// Returns the action that ends it.
    static func removeOffline(_ path: DiskPath) -> Action {
        call("remove_offline", .deleteFromOffline, "DELETE", path.link(to: "/v1/disk/offline"))
    }
}

extension Text {
    static let addToOffline = Text("Add to offline", ru: "Добавить в офлайн")
    static let deleteFromOffline = Text("Delete from offline", ru: "Удалить из офлайна")
    static let offline = Text("Offline", ru: "Офлайн")
    static let nothingOffline = Text(
        "Files and folders that you add to offline open without the Internet",
        ru: "Файлы и папки, добавленные в офлайн, открываются без интернета"
    )
}

extension OfflineState {
    var text: Text {
        switch self {
        case .waiting: Text("Waiting for download", ru: "Ожидает загрузки")
        case .fetching: Text("Downloading", ru: "Загружается")
        case .kept: Text("Available offline", ru: "Доступно офлайн")
        case .outOfDate: Text("Waiting for update", ru: "Ожидает обновления")
        case .failed: Text("Not downloaded", ru: "Не загружено")
        case .tooLarge: Text("Not enough space", ru: "Недостаточно места")
        }
    }
}

extension OfflineFailure {
    var text: Text {
        switch self {
        case .tooLarge:
            Text("There is not enough space for offline files", ru: "Недостаточно места для офлайн-файлов")
        case .tooManyFiles:
            Text("There are too many files to keep offline", ru: "Слишком много файлов для офлайн-доступа")
        case .sizeUnknown: Text("The size of the file is not known", ru: "Размер файла неизвестен")
        case .sessionExpired: Text("Log in again", ru: "Войдите снова")
        case .forbidden:
            Text(
                "Yandex Disk does not allow this file to be downloaded",
                ru: "Яндекс Диск не разрешает скачать этот файл"
            )
        case .unavailable:
            Text("Yandex Disk does not respond. Trying again later", ru: "Яндекс Диск не отвечает. Попробуем позже")
        case .damaged:
            Text("The file arrived damaged. Trying again later", ru: "Файл получен повреждённым. Попробуем позже")
        case .storageFull:
            Text("The disk of the server is full. Trying again later", ru: "Диск сервера заполнен. Попробуем позже")
        case .storage:
            Text("The file could not be saved. Trying again later", ru: "Файл не удалось сохранить. Попробуем позже")
        }
    }
}
