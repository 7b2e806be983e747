import Foundation
import HTTP
import HTTPTypes
import Media
import Screens

/// A file or folder in any list.
struct RowScreen: Encodable, Sendable {
    /// Identifies it in a list; a file keeps it when it is renamed or moved.
    fileprivate(set) var id: String
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
    /// The pending write that has made or changed it; absent if there is none.
    let pending: PendingScreen?
    /// The folder that it is in, in a list of rows of many folders.
    let folder: RowListScreen.Folder?
    let href: Link
    /// The actions of a row; nil for the screen of one file, which has more.
    let actions: [Action]?

    init(_ row: DiskRow, timeZone: TimeZone, folder: DiskPath? = nil, actions: [Action]?) {
        let item = row.item
        id = item.identity
        type = item.kind.rawValue
        name = item.name
        path = item.path.text
        size = item.size
        sizeText = DiskText.size(item.size)
        createdAt = item.created
        createdText = DiskText.date(item.created, in: timeZone)
        modifiedAt = item.modified
        modifiedText = DiskText.date(item.modified, in: timeZone)
        mediaType = item.mediaType
        mimeType = item.mimeType
        icon = item.icon
        viewer = item.viewer?.rawValue
        let preview = item.path.link(to: "/v1/disk/file/preview").query("size", PreviewSize.standard.text)
        previewUrl = item.hasPreview ? preview : nil
        published = item.isPublished
        publicUrl = item.publicURL
        availableUntil = item.linkEnd.date
        downloaded = row.isDownloaded
        keptOffline = row.offline != .none
        pending = row.pending
        self.folder = folder.map(RowListScreen.Folder.init)
        href = item.path.link(to: item.kind == .dir ? "/v1/disk/files" : "/v1/disk/file")
        self.actions = actions
    }
}

extension DiskPath {
    /// Returns the address of a screen about this path.
    func link(to screen: Link) -> Link { screen.query("path", text, allowed: .unreserved) }
}

struct TrashRowScreen: Encodable, Sendable {
    let id: String
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

    init(_ row: DiskRow, timeZone: TimeZone, away: Text?) {
        let item = row.item
        id = item.identity
        type = item.kind.rawValue
        name = item.name
        path = item.path.text
        origin = item.origin
        size = item.size
        sizeText = DiskText.size(item.size)
        deletedAt = item.deleted
        deletedText = DiskText.date(item.deleted, in: timeZone)
        icon = item.icon
        actions = [
            .restore(item, disabled: away), .purge(item.path.link(to: "/v1/disk/trash/item"), disabled: away),
        ]
    }
}

/// `GET /v1/disk/trash`.
struct TrashScreen: Encodable, Sendable {
    let items: [TrashRowScreen]
    let empty: EmptyState?
    let actions: [Action]
}

/// Lists: recent files, those of a folder, published and found ones.
struct RowListScreen: Encodable, Sendable {
    struct Folder: Encodable, Sendable {
        let path: String
        let name: Text
        @Nullable var parent: String?

        init(_ path: DiskPath) {
            self.path = path.text
            name = path.isRoot ? .disk : Text(verbatim: path.name)
            parent = path.parent?.text
        }
    }

    let items: [RowScreen]
    let folder: Folder?
    let empty: EmptyState?
    let actions: [Action]?

    init(
        _ rows: [DiskRow],
        timeZone: TimeZone,
        folder: DiskPath? = nil,
        namesFolders: Bool = false,
        empty: EmptyState?,
        availability: ChangeAvailability,
        actions: [Action]? = nil
    ) {
        var known: Set<String> = []
        items = rows.map { row in
            let folder = namesFolders ? row.item.path.parent : nil
            var screen = RowScreen(row, timeZone: timeZone, folder: folder, actions: .ofListedRow(row, availability))
            // Something that others have moved is known at both places for a while.
            if !known.insert(screen.id).inserted { screen.id = screen.path }
            return screen
        }
        self.folder = folder.map(Folder.init)
        self.empty = empty
        self.actions = actions.map { $0 + (folder.map { [.createFolder(in: $0, availability)] } ?? []) }
    }
}

/// `GET /v1/disk/file`: one file or folder, and the actions on it.
struct FileScreen: Encodable, Sendable {
    /// Shown instead of a file that the app cannot show.
    struct Alert: Encodable, Sendable {
        let title = Text.notSupported
        let message = Text.laterSupported
    }

    /// Whether an office file can be shown as a PDF here.
    struct Document: Encodable, Sendable {
        let available: Bool
        let pdfUrl: Link
        @Nullable var reason: Text?
    }

    @Flattened var row: RowScreen
    @Nullable private var contentUrl: Link?
    /// A picture of its first page; the parameters `page` and `width` select others.
    @Nullable private var pageUrl: Link?
    @Nullable private var document: Document?
    @Nullable private var alert: Alert?
    private let actions: [Action]

    init(_ row: DiskRow, timeZone: TimeZone, availability: ChangeAvailability, convertsOffice: Bool) {
        self.row = RowScreen(row, timeZone: timeZone, actions: nil)
        let item = row.item
        let isFile = item.kind == .file
        contentUrl = isFile ? item.path.link(to: "/v1/disk/file/content") : nil

        let isOffice = OfficeFormat(fileName: item.name) != nil && isFile
        // An SVG is no picture of dots.
        let hasPages =
            item.viewer == .image && item.fileExtension != "svg" || item.viewer == .pdf || (isOffice && convertsOffice)
        pageUrl = hasPages ? item.path.link(to: "/v1/disk/file/page") : nil
        let reason = convertsOffice ? nil : Text.noLibreOffice
        let pdf = item.path.link(to: "/v1/disk/file/pdf")
        document = isOffice ? Document(available: convertsOffice, pdfUrl: pdf, reason: reason) : nil
        alert = item.viewer == .unsupported ? Alert() : nil
        actions = .ofFile(row, availability)
    }
}
