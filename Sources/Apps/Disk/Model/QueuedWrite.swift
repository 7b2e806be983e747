import Foundation
import Upstream

/// A write of the Disk that waits for the API, as a value that is stored.
struct QueuedWrite: OutboxWork {
    typealias View = DiskOutlook

    enum Kind: String, Codable, Sendable {
        case folder, upload, move, delete, publish, unpublish
    }

    /// The bytes of an upload.
    struct Bytes: Codable, Sendable, Equatable {
        var length: Int
        /// In lower-case hexadecimal, as the API writes it.
        var md5: String
        var sha256: String
        /// When they were left here.
        var at: Date
    }

    /// An operation of the API that goes on with the write after it was sent.
    struct Following: Codable, Sendable, Equatable {
        /// Its identifier at the API.
        var operation: String
        var since: Date
    }

    var kind: Kind
    /// The path that it acts on; the new path for a creation.
    var path: DiskPath
    /// The new path of a move.
    var to: DiskPath?
    /// Whether a deletion bypasses the trash, or a link is to have no end.
    var permanently = false
    /// End of the link of a publication.
    var until: Date?
    /// Whether an item at ``target`` is replaced.
    var overwrites = false
    /// The item that it acts on, as the client has seen it; nil for a creation.
    var subject: SeenItem?
    /// The item at ``target``, as the client has seen it; nil if there is none.
    var place: SeenItem?
    var bytes: Bytes?
    /// The item found at the API in place of ``subject`` or ``place``, for a conflict.
    var theirs: SeenItem?
    /// The path of the found item, or of the missing one.
    var disputed: DiskPath?
    var following: Following?

    /// The end that the link of a publication is to have.
    var linkEnd: LinkEnd { until.map { .at($0) } ?? (permanently ? .never : .unspecified) }

    /// The path of the result.
    var target: DiskPath { to ?? path }

    /// Whether it gives something another name in the same folder.
    var isRename: Bool { kind == .move && to?.parent == path.parent }

    /// Whether it changes nothing: it gives an item the name that the item has.
    var isUnneeded: Bool { kind == .move && to == path }

    /// Whether it makes something at ``path``.
    var isCreation: Bool { kind == .folder || kind == .upload }

    /// Its name on screens.
    var name: String { isRename ? "rename" : kind.rawValue }

    /// Bytes that it adds to the used space. An item in the trash still uses its space.
    var addedBytes: Int {
        switch kind {
        case .upload: (bytes?.length ?? 0) - (place?.size ?? 0)
        case .delete: permanently ? -(subject?.size ?? 0) : 0
        case .folder, .move, .publish, .unpublish: 0
        }
    }

    var places: [DiskPath] { [path] + (to.map { [$0] } ?? []) }

    /// Returns the write as one that an operation of the API goes on with.
    func followed(by operation: String, since now: Date) -> QueuedWrite {
        var write = self
        write.following = Following(operation: operation, since: now)
        return write
    }
}

extension DiskPath: OutboxPlace {
    /// The folders above it. The root is left out: no write touches it.
    var above: [DiskPath] {
        var above: [DiskPath] = []
        var next = parent
        while let folder = next, !folder.isRoot {
            above.append(folder)
            next = folder.parent
        }
        return above
    }
}

/// The known properties of a file or folder, to be compared with its later state at the API.
struct SeenItem: Codable, Sendable, Equatable {
    var kind: DiskItem.Kind
    var size: Int?
    var md5: String?
    var resourceID: String?
    var modified: Date?
    var isPublished = false

    init(_ item: DiskItem) {
        kind = item.kind
        size = item.size
        md5 = item.md5
        resourceID = item.resourceID
        modified = item.modified
        isPublished = item.isPublished
    }

    /// Returns it as an item at a path.
    func item(at path: DiskPath) -> DiskItem {
        var item = DiskItem(path: path, kind: kind)
        item.size = size
        item.md5 = md5
        item.resourceID = resourceID
        item.modified = modified
        item.isPublished = isPublished
        return item
    }

    /// Whether an item is this one, unchanged, as far as both are known.
    func isSame(as item: DiskItem) -> Bool {
        guard kind == item.kind else { return false }
        if let resourceID, let other = item.resourceID, resourceID != other { return false }
        guard kind == .file else { return true }
        if let md5, let other = item.md5 { return md5.lowercased() == other.lowercased() && size == item.size }
        return size == item.size && modified == item.modified
    }
}

extension DiskPath: Codable {
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let path = DiskPath(text) ?? DiskPath(text, scheme: .trash) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no path"))
        }
        self = path
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension DiskItem.Kind: Codable {}
