import Foundation
import HTTPTypes
import Screens
import Upstream

/// A write of the Disk that waits for the API, as a value that is stored.
struct QueuedWrite: OutboxWork {
    typealias View = PendingView

    enum Kind: String, Codable, Sendable {
        case folder, upload, move, delete, publish, unpublish
    }

    /// The bytes of an upload.
    struct Bytes: Codable, Sendable, Equatable {
        var length: Int
        /// In lower-case hexadecimal, as the API writes it.
        var md5: String
        var sha256: String
        /// When they were received.
        var at: Date
    }

    /// An operation by which the API continues the write after it was sent.
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
    var remote: SeenItem?
    /// The path of the found item, or of the missing one.
    var conflictingPath: DiskPath?
    var following: Following?

    private enum CodingKeys: String, CodingKey {
        case kind, path, to, permanently, until, overwrites, subject, place, bytes, following
        case remote = "theirs"
        case conflictingPath = "disputed"
    }

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

    /// Returns the write with the operation by which the API continues it.
    func followed(by operation: String, since now: Date) -> QueuedWrite {
        var write = self
        write.following = Following(operation: operation, since: now)
        return write
    }
}

extension DiskPath: OutboxPath {
    /// The folders above it. The root is left out: no write touches it.
    var above: [DiskPath] { lineage.dropFirst().filter { !$0.isRoot } }
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

extension QueuedWrite {
    /// Returns a write as it can be queued; nil for one that cannot.
    init?(_ write: DiskWrite) {
        switch write.kind {
        case .upload(_, _, let overwrite):
            self.init(kind: .upload, path: write.path)
            overwrites = overwrite && !write.conditions.forbidReplacing
        case .makeFolder: self.init(kind: .folder, path: write.path)
        case .delete(let permanently):
            self.init(kind: .delete, path: write.path)
            self.permanently = permanently
        case .move(let target, let overwrite):
            self.init(kind: .move, path: write.path, to: target)
            overwrites = overwrite && !write.conditions.forbidReplacing
        case .publish(let end):
            self.init(kind: .publish, path: write.path)
            until = end.date
            permanently = end == .never
        case .unpublish: self.init(kind: .unpublish, path: write.path)
        case .copy, .restore, .purge: return nil
        }
    }
}

extension Action {
    /// Returns the same request, made so that it is queued in the outbox.
    static func enqueue(_ request: ScreenRequest, _ body: [String: Constant]?) -> Action {
        let method = request.method.rawValue
        return call("leave", .leaveInOutbox, method, request.selfLink, body: body, prefersAsync: true)
    }
}

extension Problem {
    /// 507: the outbox of an account has no room.
    static func outboxFull(_ settings: SettingValues) -> Problem {
        let (operations, bytes) = (settings[DiskApp.outboxOperations], settings[DiskApp.outboxBytes])
        return Problem(.outboxFull, .outboxLimit(operations, bytes >> 20), href: OutboxScreen.href)
    }
}

// Combines a write with earlier ones. Each case leaves the Disk as both would have, by fewer calls, or leaves both.
extension QueuedWrite {
    func folding(_ earlier: QueuedWrite) -> OutboxFold<QueuedWrite> {
        switch kind {
        case .upload: foldingUpload(earlier)
        case .move: foldingMove(earlier)
        case .delete: foldingDeletion(earlier)
        case .publish, .unpublish: foldingPublication(earlier)
        case .folder: .stop
        }
    }

    /// An upload over a waiting upload: the last one, over the item that the first one was to replace.
    private func foldingUpload(_ earlier: QueuedWrite) -> OutboxFold<QueuedWrite> {
        guard earlier.kind == .upload, earlier.path == path else { return .stop }
        var last = self
        last.place = earlier.place
        last.overwrites = earlier.overwrites
        return .merge(earlier: nil, later: last)
    }

    /// A move of an item that is still to be made or moved: it is made or moved under the last name.
    private func foldingMove(_ earlier: QueuedWrite) -> OutboxFold<QueuedWrite> {
        // A move that replaces an item stays a call of its own.
        guard let to, place == nil else { return .stop }
        if earlier.isCreation, path.contains(earlier.path) {
            guard let moved = earlier.path.moved(from: path, to: to) else { return .stop }
            var below = earlier
            below.path = moved
            return .pass(below, always: false)
        }
        if earlier.isCreation, earlier.path == path, earlier.place == nil {
            var made = earlier
            made.path = to
            return .merge(earlier: made, later: nil)
        }
        guard earlier.kind == .move, earlier.to == path, earlier.place == nil, !earlier.path.contains(to) else {
            return .stop
        }
        if earlier.path == to { return .merge(earlier: nil, later: nil) }
        var once = earlier
        once.to = to
        once.overwrites = overwrites
        // At the position of the first one: writes between both may need the last name, or the first one again.
        return .merge(earlier: once, later: nil)
    }

    /// A deletion of an item that is still to be made: nothing. Of one that is still to be moved: at its present path.
    private func foldingDeletion(_ earlier: QueuedWrite) -> OutboxFold<QueuedWrite> {
        // An item that was deleted permanently must not go to the trash.
        if earlier.kind == .delete, earlier.permanently, !permanently { return .stop }
        if path.contains(earlier.path), earlier.kind != .move { return .pass(nil, always: true) }
        if let to = earlier.to, path.contains(earlier.path), path.contains(to), earlier.place == nil {
            return .pass(nil, always: true)
        }
        guard earlier.target == path else { return .stop }
        switch earlier.kind {
        case .folder, .upload:
            guard let replaced = earlier.place else { return .merge(earlier: nil, later: nil) }
            var deletion = self
            deletion.subject = replaced
            return .merge(earlier: nil, later: deletion)
        case .move:
            guard earlier.place == nil else { return .stop }
            var deletion = self
            deletion.path = earlier.path
            deletion.subject = earlier.subject
            return .merge(earlier: deletion, later: nil)
        case .publish, .unpublish: return .pass(nil, always: true)
        case .delete: return .stop
        }
    }

    /// A publication and its end: the last one, unless that is how it was.
    private func foldingPublication(_ earlier: QueuedWrite) -> OutboxFold<QueuedWrite> {
        guard earlier.path == path, earlier.kind == .publish || earlier.kind == .unpublish else { return .stop }
        if kind == .publish, earlier.kind == .publish, linkEnd == .unspecified {
            return .merge(earlier: earlier, later: nil)
        }
        let wasPublished = earlier.subject?.isPublished ?? false
        if wasPublished == (kind == .publish), linkEnd == .unspecified { return .merge(earlier: nil, later: nil) }
        var last = self
        last.subject = earlier.subject
        return .merge(earlier: nil, later: last)
    }
}
