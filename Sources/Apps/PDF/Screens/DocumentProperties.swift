import Database
import Foundation
import Screens

/// What the list and the reader show of a document.
struct DocumentProperties: Encodable, Sendable {
    let id: String
    let name: String
    let `extension` = "pdf"
    let createdAt: Date
    let createdText: Text
    let size: Int
    let sizeText: Text
    let pageCount: Int
    let pageCountText: Text
    let thumbnailUrl: Link
    let fileUrl: Link
    let href: Link

    /// Describes a document.
    ///
    /// - Parameter size: bytes of its file.
    init(id: String, name: String, created: Date, size: Int, pageCount: Int, zone: TimeZone = .gmt) {
        self.id = id
        self.name = name
        createdAt = created
        createdText = DocumentText.date(created, in: zone)
        self.size = size
        sizeText = .size(size)
        self.pageCount = pageCount
        pageCountText = DocumentText.pages(pageCount)
        href = Self.href(id)
        thumbnailUrl = "\(href)/thumbnail"
        fileUrl = "\(href)/file"
    }

    /// Describes a document.
    init(_ document: Document, zone: TimeZone) {
        self.init(
            id: document.id,
            name: document.name,
            created: document.created,
            size: document.blob.length,
            pageCount: document.pages.count,
            zone: zone
        )
    }

    /// Describes a row of the list.
    init(_ row: DocumentStore.Listing.Row, zone: TimeZone) {
        self.init(
            id: row.id,
            name: row.name,
            created: row.created,
            size: row.length,
            pageCount: row.pageCount,
            zone: zone
        )
    }

    private enum CodingKeys: CodingKey {
        case id, name, `extension`, createdAt, createdText, size, sizeText, pageCount, pageCountText, thumbnailUrl,
            fileUrl, href
    }

    /// Returns the address of a document in the reader.
    static func href(_ id: String) -> Link { "/v1/pdf/documents/\(id)" }
}
