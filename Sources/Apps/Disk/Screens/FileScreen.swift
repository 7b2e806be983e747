import Foundation
import Media
import Screens

/// `GET /v1/disk/file`: one file or folder, and the actions on it.
struct FileScreen: Encodable, Sendable {
    /// Shown instead of a file that the app cannot show.
    struct Alert: Encodable, Sendable {
        let title = Text.notSupported
        let message = Text.laterSupported

        private enum CodingKeys: CodingKey { case title, message }
    }

    /// Whether an office file can be shown as a PDF here.
    struct Document: Encodable, Sendable {
        let available: Bool
        let pdfUrl: Link
        /// Why not; null if it is available.
        @Nullable var reason: Text?
    }

    private let row: RowScreen
    @Nullable private var contentUrl: Link?
    /// A picture of its first page; the parameters `page` and `width` select others.
    @Nullable private var pageUrl: Link?
    @Nullable private var document: Document?
    @Nullable private var alert: Alert?
    private let actions: [Action]

    init(_ row: DiskRow, timeZone: TimeZone, way: WriteWay, convertsOffice: Bool) {
        self.row = RowScreen(row, timeZone: timeZone, actions: nil)
        let item = row.item
        let isFile = item.kind == .file
        _contentUrl = Nullable(wrappedValue: isFile ? item.path.link(to: "/v1/disk/file/content") : nil)

        let isOffice = OfficeFormat(fileName: item.name) != nil && isFile
        let hasPages = item.viewer == .image || item.viewer == .pdf || (isOffice && convertsOffice)
        _pageUrl = Nullable(wrappedValue: hasPages ? item.path.link(to: "/v1/disk/file/page") : nil)
        let reason = convertsOffice ? nil : Text.noLibreOffice
        _document = Nullable(
            wrappedValue: isOffice
                ? Document(available: convertsOffice, pdfUrl: item.path.link(to: "/v1/disk/file/pdf"), reason: reason)
                : nil
        )
        _alert = Nullable(wrappedValue: item.viewer == .unsupported ? Alert() : nil)
        actions = .ofFile(row, way)
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
}
