import Foundation
import Media
import Screens

/// `GET /v1/disk/file`: one file or folder, and the actions on it.
struct FileScreen: Encodable, Sendable {
    /// Shown instead of a file that the app cannot show.
    struct Alert: Encodable, Sendable {
        let title = "Not supported format"
        let message = "It will work later"

        private enum CodingKeys: CodingKey { case title, message }
    }

    /// Whether an office file can be shown as a PDF here.
    struct Document: Encodable, Sendable {
        let available: Bool
        let href: String
        /// Why not; null if it is available.
        @Nullable var reason: String?
    }

    private let row: RowScreen
    @Nullable private var contentUrl: String?
    /// A picture of its first page; the parameters `page` and `width` select others.
    @Nullable private var pageUrl: String?
    @Nullable private var document: Document?
    @Nullable private var alert: Alert?
    private let actions: [Action]

    init(_ row: DiskRow, timeZone: TimeZone, offline: Bool, convertsOffice: Bool) {
        self.row = RowScreen(row, timeZone: timeZone)
        let item = row.item
        let isFile = item.kind == .file
        _contentUrl = Nullable(wrappedValue: isFile ? item.path.link(to: "/v1/disk/file/content") : nil)

        let isOffice = OfficeFormat(fileName: item.name) != nil && isFile
        let hasPages = item.viewer == .image || item.viewer == .pdf || (isOffice && convertsOffice)
        _pageUrl = Nullable(wrappedValue: hasPages ? item.path.link(to: "/v1/disk/file/page") : nil)
        let reason = convertsOffice ? nil : "LibreOffice is not installed where Larder runs."
        _document = Nullable(
            wrappedValue: isOffice
                ? Document(available: convertsOffice, href: item.path.link(to: "/v1/disk/file/pdf"), reason: reason)
                : nil
        )
        _alert = Nullable(wrappedValue: item.viewer == .unsupported ? Alert() : nil)
        actions = Self.actions(row, offline: offline)
    }

    func encode(to encoder: any Encoder) throws {
        try row.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(_contentUrl, forKey: .contentUrl)
        try container.encode(_pageUrl, forKey: .pageUrl)
        try container.encode(_document, forKey: .document)
        try container.encode(_alert, forKey: .alert)
        try container.encode(actions, forKey: .actions)
    }

    private enum CodingKeys: CodingKey { case contentUrl, pageUrl, document, alert, actions }

    /// The actions. Offline, nothing can be changed, so no change is enabled.
    private static func actions(_ row: DiskRow, offline: Bool) -> [Action] {
        let item = row.item
        let noun = item.kind == .dir ? "folder" : item.viewer == .image ? "image" : "file"
        let deletion = Action.Confirmation(
            message: "Current \(noun) will be deleted",
            buttons: ["Delete \(noun)", "Cancel"]
        )
        var actions: [Action] = []
        if item.kind == .file {
            actions.append(
                Action(
                    id: "share",
                    title: "Share file",
                    method: "GET",
                    href: item.path.link(to: "/v1/disk/file/content"),
                    enabled: !offline || row.isDownloaded
                )
            )
        }
        let hrefOfFile = item.path.link(to: "/v1/disk/file")
        actions += [
            Action(id: "link", title: "Share link", method: "POST", href: "/v1/disk/links", enabled: !offline),
            Action(
                id: "delete",
                title: "Delete",
                method: "DELETE",
                href: hrefOfFile,
                enabled: !offline,
                confirm: deletion
            ),
            Action(id: "rename", title: "Rename", method: "PATCH", href: hrefOfFile, enabled: !offline),
        ]
        return actions
    }
}

/// `DELETE` of a file or publication: the removed path.
struct RemovalScreen: Encodable, Sendable {
    let path: String
    /// The screen to return to.
    let back: String
}

/// `POST /v1/disk/links`.
struct LinkScreen: Encodable, Sendable {
    let path: String
    /// Null if it was published and the address could not be read back: the same request returns it later.
    @Nullable var publicUrl: String?

    init(path: String, publicUrl: String?) {
        self.path = path
        _publicUrl = Nullable(wrappedValue: publicUrl)
    }
}

/// `POST` and `GET /v1/disk/downloads/{id}`.
struct DownloadScreen: Encodable, Sendable {
    let id: String
    let path: String
    let status: String
    let bytesDone: Int
    let bytesTotal: Int
    let progress: Double
    @Nullable var contentUrl: String?
    /// Why it failed; null if it did not.
    @Nullable var failure: String?

    init(_ job: DownloadJob) {
        id = job.id
        path = job.path.text
        status = job.status.rawValue
        bytesDone = job.bytesDone
        bytesTotal = job.bytesTotal
        progress = job.progress
        _contentUrl = Nullable(wrappedValue: job.status == .done ? job.path.link(to: "/v1/disk/file/content") : nil)
        _failure = Nullable(wrappedValue: job.failure?.rawValue)
    }
}

/// `GET /v1/disk/operations/{id}`, and the response to a write that the API has accepted and continues.
struct OperationScreen: Encodable, Sendable {
    let id: String
    let action: String
    let path: String
    @Nullable var target: String?
    let status: String
    let href: String

    init(_ operation: DiskOperation) {
        id = operation.id
        action = operation.action.rawValue
        path = operation.path.text
        _target = Nullable(wrappedValue: operation.target?.text)
        status = operation.status.rawValue
        href = "/v1/disk/operations/\(operation.id)"
    }
}
