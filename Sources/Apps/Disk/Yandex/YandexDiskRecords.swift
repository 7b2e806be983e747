import Foundation
import HTTPTypes
import Screens
import Upstream

/// `Disk`: the account and its space.
struct DiskInfoRecord: Decodable, Sendable {
    struct User: Decodable, Sendable {
        let uid: String
        let login: String?

        private enum CodingKeys: CodingKey { case uid, login }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // Documented as a string; a number is accepted too.
            if let text = try? container.decode(String.self, forKey: .uid) {
                uid = text
            } else {
                uid = String(try container.decode(Int.self, forKey: .uid))
            }
            login = try? container.decode(String.self, forKey: .login)
        }
    }

    let space: DiskSpace
    let user: User?

    private enum CodingKeys: String, CodingKey {
        case user
        case totalSpace = "total_space"
        case usedSpace = "used_space"
        case trashSize = "trash_size"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        space = DiskSpace(
            total: try container.decode(Int.self, forKey: .totalSpace),
            used: try container.decode(Int.self, forKey: .usedSpace),
            trash: try container.decodeIfPresent(Int.self, forKey: .trashSize) ?? 0
        )
        user = try container.decodeIfPresent(User.self, forKey: .user)
        guard space.total >= 0, space.used >= 0, space.trash >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .totalSpace,
                in: container,
                debugDescription: "a negative size"
            )
        }
    }
}

/// `Link`.
struct LinkRecord: Decodable, Sendable {
    let href: String
    let operationID: String?

    private enum CodingKeys: String, CodingKey {
        case href
        case operationID = "operation_id"
    }
}

/// Settings of a public link, of which the API tells the end only.
struct PublicSettingsRecord: Decodable, Sendable {
    let end: LinkEnd

    /// The first second of the year 10000.
    private static let lastTime = 253_402_300_800.0

    private enum CodingKeys: String, CodingKey {
        case availableUntil = "available_until"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = (try? container.decode(Double.self, forKey: .availableUntil)) ?? 0
        let isTime = seconds >= 1 && seconds < Self.lastTime
        end = isTime ? .at(Date(timeIntervalSince1970: seconds.rounded(.down))) : .never
    }
}

/// `Operation`.
struct OperationRecord: Decodable, Sendable {
    let status: String
}

/// The body of an error response.
struct ErrorRecord: Decodable, Sendable {
    let error: String?
}

/// `Resource`: all but path, name and type may be missing.
struct ResourceRecord: Decodable, Sendable {
    let item: DiskItem?
    /// Its kind, even if the rest is missing.
    let kind: DiskItem.Kind?
    var embedded: Embedded?
    /// Its meaning as a row of a list.
    let row: ListedRow
    /// Address of the small picture, to be used at once and never stored.
    let preview: String?

    struct Embedded: Decodable, Sendable {
        var rows: [ListedRow]
        let total: Int?
        let offset: Int?

        private enum CodingKeys: CodingKey { case items, total, offset }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            rows = try container.decode(TolerantList<ResourceRecord>.self, forKey: .items).values.map {
                $0?.row ?? .unreadable
            }
            // Without a readable total it is not known whether this is the whole.
            total = try container.decodeIfPresent(Int.self, forKey: .total)
            offset = try? container.decode(Int.self, forKey: .offset)
        }
    }

    /// Most bytes of a text: those of the longest path.
    private static let longestText = 4 * DiskPath.longest

    private enum CodingKeys: String, CodingKey {
        case path, name, type, size, created, modified, md5, sha256, deleted, preview
        case mediaType = "media_type"
        case mimeType = "mime_type"
        case resourceID = "resource_id"
        case publicKey = "public_key"
        case publicURL = "public_url"
        case originPath = "origin_path"
        case embedded = "_embedded"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? {
            (try? container.decode(String.self, forKey: key)).flatMap { $0.utf8.count <= Self.longestText ? $0 : nil }
        }
        func date(_ key: CodingKeys) -> Date? { text(key).flatMap(UpstreamTime.date) }
        kind = text(.type).flatMap(DiskItem.Kind.init)
        embedded = try container.decodeIfPresent(Embedded.self, forKey: .embedded)
        preview = text(.preview)
        guard let path = text(.path).flatMap(decoder.shownPath), let kind else {
            item = nil
            row = kind != nil && text(.path).map(Self.isElsewhere) == true ? .elsewhere : .unreadable
            return
        }
        var item = DiskItem(path: path, kind: kind, name: text(.name))
        item.size = kind == .file ? (try? container.decode(Int.self, forKey: .size)).flatMap { $0 < 0 ? nil : $0 } : nil
        item.created = date(.created)
        item.modified = date(.modified)
        item.mediaType = text(.mediaType)
        item.mimeType = text(.mimeType)
        item.md5 = text(.md5)
        item.sha256 = text(.sha256)
        item.resourceID = text(.resourceID)
        item.publicURL = text(.publicURL)
        item.isPublished = item.publicURL != nil || text(.publicKey) != nil
        item.origin = text(.originPath)
        item.deleted = date(.deleted)
        self.item = item
        row = .item(item)
    }

    /// Whether a path of the API is at a place that the app does not show.
    private static func isElsewhere(_ path: String) -> Bool {
        ["app:/", "photounlim:/", "social:/", "attach:/", "notes:/"].contains { path.hasPrefix($0) }
    }
}

/// `{"items": […], "limit": …}`: a list without a total.
struct FlatListRecord: Decodable, Sendable {
    var rows: [ListedRow]
    let offset: Int?
    /// The number of rows that were requested, as the API repeats it.
    let limit: Int?

    private enum CodingKeys: CodingKey { case items, offset, limit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rows = try container.decode(TolerantList<ResourceRecord>.self, forKey: .items).values.map {
            $0?.row ?? .unreadable
        }
        offset = try? container.decode(Int.self, forKey: .offset)
        limit = try? container.decode(Int.self, forKey: .limit)
    }
}

/// Times as the API writes them: `2024-07-10T16:47:49+00:00`, without fractions, with a numeric offset.
enum UpstreamTime {
    static func date(_ text: String) -> Date? {
        try? Date(
            text,
            strategy: Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().time(
                includingFractionalSeconds: text.contains(".")
            ).timeZone(separator: .colon)
        )
    }
}

// Validation of lists before they replace stored ones.
extension ResourceRecord {
    /// Returns the record of the requested folder with the rows that are in it, and no more than were requested. Other
    /// rows count for the position only.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for another folder, and for a list that cannot be a part
    ///   of its content.
    func listing(_ folder: DiskPath, _ page: PageRequest) throws(UpstreamError) -> ResourceRecord {
        var record = try about(folder)
        record.embedded = try embedded?.checked(page) { $0.path.parent == folder }
        return record
    }

    /// Returns the record if it is that of the requested path.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for another path, and for a root that is a file.
    func about(_ path: DiskPath) throws(UpstreamError) -> ResourceRecord {
        guard let item, item.path == path, item.kind == .dir || !path.isRoot else {
            throw .badResponse(status: .ok, reason: "another path than was asked for")
        }
        return self
    }
}

extension ResourceRecord.Embedded {
    fileprivate func checked(_ page: PageRequest, _ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> Self {
        let (limit, offset) = (page.limit, page.offset)
        guard self.offset ?? offset == offset else {
            throw .badResponse(status: .ok, reason: "a part of the list that was not asked for")
        }
        guard total != nil || !rows.isEmpty else {
            throw .badResponse(status: .ok, reason: "no rows and no total that says so")
        }
        if let total {
            guard total >= 0 else { throw .badResponse(status: .ok, reason: "a negative total") }
            guard rows.isEmpty || total - rows.count >= offset else {
                throw .badResponse(status: .ok, reason: "a total that is less than its rows")
            }
            guard !rows.isEmpty || limit == 0 || total <= offset else {
                throw .badResponse(status: .ok, reason: "no rows although its total says that there are some")
            }
        }
        var checked = self
        // A folder contains nothing of another place.
        checked.rows = try rows.prefix(limit).map { $0 == .elsewhere ? .unreadable : $0 }.belonging(belongs)
        return checked
    }
}

extension FlatListRecord {
    /// Returns a flat list with the rows that can be in it, and no more than were requested.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a part of the list that was not requested, and for a
    ///   list without a usable row.
    func listing(_ page: PageRequest, _ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> FlatListRecord {
        guard offset ?? page.offset == page.offset else {
            throw .badResponse(status: .ok, reason: "a part of the list that was not asked for")
        }
        guard !rows.isEmpty || self.limit != nil else {
            throw .badResponse(status: .ok, reason: "no rows and no limit that says how many were requested")
        }
        var record = self
        record.rows = try Array(rows.prefix(page.limit)).belonging {
            $0.path.scheme == .disk && !$0.path.isRoot && belongs($0)
        }
        return record
    }
}

extension [ListedRow] {
    /// Returns the rows with those of another place marked as unreadable, since they cannot be in this list.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` if there are rows and none is usable.
    fileprivate func belonging(_ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> [ListedRow] {
        let rows = map { row in
            if case .item(let item) = row, !belongs(item) { ListedRow.unreadable } else { row }
        }
        guard rows.isEmpty || rows.contains(where: { $0 != .unreadable }) else {
            throw .badResponse(status: .ok, reason: "a list without a single usable row")
        }
        return rows
    }
}
