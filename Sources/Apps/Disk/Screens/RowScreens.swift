import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// A file or folder in any list.
struct RowScreen: Encodable, Sendable {
    let type: String
    let name: String
    let path: String
    /// Bytes; null for folders, and if it is not known.
    @Nullable var size: Int?
    let sizeText: Text
    @Nullable var createdAt: Date?
    let createdText: Text
    @Nullable var modifiedAt: Date?
    let modifiedText: Text
    @Nullable var mediaType: String?
    @Nullable var mimeType: String?
    let icon: String
    @Nullable var viewer: String?
    @Nullable var previewUrl: Link?
    let published: Bool
    @Nullable var publicUrl: String?
    /// When its public address ends; null if it has no end, or none is known.
    @Nullable var availableUntil: Date?
    /// Whether the present version of its content is stored here.
    let downloaded: Bool
    /// Whether it, or a folder above it, is kept offline.
    let keptOffline: Bool
    /// The write that waits and has made or changed it; absent if it is as Yandex Disk has it.
    let pending: PendingScreen?
    /// Address of the screen that opens it.
    let href: Link
    /// The actions of a row; nil for the screen of one file, which has more.
    let actions: [Action]?

    init(_ row: DiskRow, timeZone: TimeZone, actions: [Action]?) {
        let item = row.item
        type = item.kind.rawValue
        name = item.name
        path = item.path.text
        _size = Nullable(wrappedValue: item.size)
        sizeText = DiskText.size(item.size)
        _createdAt = Nullable(wrappedValue: item.created)
        createdText = DiskText.date(item.created, in: timeZone)
        _modifiedAt = Nullable(wrappedValue: item.modified)
        modifiedText = DiskText.date(item.modified, in: timeZone)
        _mediaType = Nullable(wrappedValue: item.mediaType)
        _mimeType = Nullable(wrappedValue: item.mimeType)
        icon = item.icon
        _viewer = Nullable(wrappedValue: item.viewer?.rawValue)
        _previewUrl = Nullable(
            wrappedValue: item.hasPreview
                ? item.path.link(to: "/v1/disk/file/preview").query("size", PreviewSize.standard.text) : nil
        )
        published = item.isPublished
        _publicUrl = Nullable(wrappedValue: item.publicURL)
        _availableUntil = Nullable(wrappedValue: item.linkEnd.date)
        downloaded = row.isDownloaded
        keptOffline = row.offline != .none
        pending = row.pending.map(PendingScreen.init)
        href = item.path.link(to: item.kind == .dir ? "/v1/disk/files" : "/v1/disk/file")
        self.actions = actions
    }
}

/// How a row says that a write of it waits.
struct PendingScreen: Encodable, Sendable {
    /// Its name in `/v1/disk/outbox/{id}`.
    let operation: String
    let kind: String
    let kindText: Text
    let since: Date
    let state: String
    let stateText: Text

    init(_ pending: PendingWrite) {
        operation = pending.id
        kind = pending.kind
        kindText = .outboxKind(pending.kind)
        since = pending.since
        state = pending.state.rawValue
        stateText = pending.state.text
    }
}

extension DiskPath {
    /// Returns the address of a screen about this path.
    func link(to screen: Link) -> Link { screen.query("path", text, allowed: .unreserved) }
}

/// A file or folder in the trash.
struct TrashRowScreen: Encodable, Sendable {
    let type: String
    let name: String
    let path: String
    @Nullable var origin: String?
    @Nullable var size: Int?
    let sizeText: Text
    @Nullable var deletedAt: Date?
    let deletedText: Text
    let icon: String
    let actions: [Action]

    init(_ row: DiskRow, timeZone: TimeZone, offline: Bool) {
        let item = row.item
        type = item.kind.rawValue
        name = item.name
        path = item.path.text
        _origin = Nullable(wrappedValue: item.origin)
        _size = Nullable(wrappedValue: item.size)
        sizeText = DiskText.size(item.size)
        _deletedAt = Nullable(wrappedValue: item.deleted)
        deletedText = DiskText.date(item.deleted, in: timeZone)
        icon = item.icon
        actions = [.restore(item, offline: offline)]
    }
}

/// `GET /v1/disk/trash`.
struct TrashScreen: Encodable, Sendable {
    let items: [TrashRowScreen]
    let empty: EmptyState?
}
