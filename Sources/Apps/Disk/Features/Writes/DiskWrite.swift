import Concurrency
import Foundation
import Screens
import Upstream

/// A change of the Disk as a value: the request to the API, the paths that it acts on, and its expected result.
struct DiskWrite: Sendable {
    /// The change.
    enum Kind: Sendable {
        case upload(ByteStream, length: Int?, overwrite: Bool)
        case makeFolder
        case delete(permanently: Bool)
        case move(to: DiskPath, overwrite: Bool)
        case copy(to: DiskPath, overwrite: Bool)
        case publish(LinkEnd)
        case unpublish
        case restore(name: String?, overwrite: Bool)
    }

    var kind: Kind
    /// The path that it acts on; the new path for a creation.
    var path: DiskPath
    /// Preconditions.
    var conditions = WriteConditions.none
    /// Whether it is a rename: the target of the request is ``path`` although the move leads elsewhere, so that
    /// `If-None-Match` applies to it (RFC 9110 §13.1.2).
    var isRename = false
    /// The items found before it, if they were read already.
    var found: WritePreparation.Before?
    /// Whether the API compares the deleted file with the known version.
    var isCompared = false
    /// The operation of the outbox that it is; nil for a write that a client waits for.
    var operation: String?
    /// Whether a write that a client waits for is left in the outbox if the API goes on with it: its bytes are kept
    /// here.
    var isFollowed = false
    /// Is called with the API's operation of an upload before the last byte is sent.
    var beforeLastByte: @Sendable (_ operation: String) async throws -> Void = { _ in }

    /// Its name in the screen of an operation.
    var action: DiskOperation.Action {
        switch kind {
        case .upload: .upload
        case .makeFolder: .makeFolder
        case .delete: .delete
        case .move: .move
        case .copy: .copy
        case .publish: .publish
        case .unpublish: .unpublish
        case .restore: .restore
        }
    }

    /// Returns an operation of the API that goes on with it.
    func operation(_ upstreamID: String, of account: DiskAccount) -> DiskOperation {
        DiskOperation(
            id: SessionToken.make(),
            account: account.id,
            upstreamID: upstreamID,
            action: action,
            path: path,
            target: target,
            status: .running
        )
    }

    /// The new path of a move or copy.
    var target: DiskPath? {
        switch kind {
        case .move(let target, _), .copy(let target, _): target
        default: nil
        }
    }

    /// Whether it creates something at ``path``, so that nothing has to be there before.
    var isCreation: Bool {
        switch kind {
        case .upload, .makeFolder: true
        default: false
        }
    }

    /// Whether the item that it acts on must be known before, because the API's response does not describe it.
    var needsSubject: Bool {
        switch kind {
        case .move, .copy: true
        default: false
        }
    }

    /// Whether the item that it acts on must be requested before, because the write may not be necessary or has
    /// preconditions.
    var asksForSubject: Bool {
        switch kind {
        case .publish, .unpublish: true
        default: conditions.concernSubject
        }
    }

    /// Whether the item at its target must be known before: else one that was there already could be taken for the
    /// result of a write whose response does not arrive.
    var needsPlace: Bool {
        switch kind {
        case .makeFolder, .copy: true
        default: false
        }
    }

    /// Returns the path of the result; nil for a restore whose origin is not known.
    func place(of subject: DiskItem?) -> DiskPath? {
        guard case .restore(let name, _) = kind else { return target ?? path }
        guard let origin = subject?.origin.flatMap({ DiskPath($0) }) else { return nil }
        return name.flatMap { origin.parent?.child($0) } ?? origin
    }

    /// Returns the path that `If-None-Match` is compared with: the target of the request, or the path of the result if
    /// the request has no target of its own.
    func comparedPlace(of subject: DiskItem?) -> DiskPath? { isRename ? path : place(of: subject) }

    /// Address of the screen that shows the result.
    var href: Link {
        switch kind {
        case .restore: "/v1/disk/trash"
        default: (target ?? path).link(to: "/v1/disk/file")
        }
    }

    /// Returns the change of the store once it is done.
    ///
    /// - Parameters:
    ///   - subject: The item that it acts on, as it was before.
    ///   - made: The file or folder that it has created, as far as it is known.
    func change(subject: DiskItem?, made: DiskItem?) -> DiskChange {
        switch kind {
        case .upload, .makeFolder, .copy: .appeared(target ?? path, made)
        case .delete: .deleted(path)
        case .move(let target, _): .moved(from: path, to: target)
        case .publish: .appeared(path, made)
        case .unpublish: .unpublished(path)
        case .restore: .restored(path)
        }
    }

    /// Returns the item that the write makes, as far as it follows from known items: the API is asked afterwards, but
    /// may be unreachable by then.
    ///
    /// - Parameters:
    ///   - subject: The item that it acts on, as it was before.
    ///   - replaced: The item that was at its place before.
    ///   - sent: The bytes of an upload.
    func made(subject: DiskItem?, replaced: DiskItem?, sent: UploadedBytes.Summary?, at now: Date) -> DiskItem? {
        let now = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        switch kind {
        case .upload: return DiskItem(uploaded: sent, to: path, replacing: replaced, at: now)
        case .makeFolder:
            var item = DiskItem(path: path, kind: .dir)
            item.created = now
            item.modified = now
            return item
        case .move(let target, _): return subject?.at(target)
        case .copy(let target, _): return subject?.copied(to: target, at: now)
        case .publish(let end):
            var item = subject
            item?.isPublished = true
            item?.linkEnd = end
            return item
        case .delete, .unpublish, .restore: return nil
        }
    }
}

extension DiskItem {
    /// Describes an uploaded file as far as it is known.
    fileprivate init(
        uploaded sent: UploadedBytes.Summary?,
        to path: DiskPath,
        replacing replaced: DiskItem?,
        at now: Date
    ) {
        self.init(path: path, kind: .file)
        size = sent?.count
        md5 = sent?.md5
        created = replaced?.created ?? now
        modified = now
        mediaType = replaced?.mediaType
        mimeType = replaced?.mimeType
    }

    /// Returns a copy of the item at another path, which is not published.
    fileprivate func copied(to path: DiskPath, at now: Date) -> DiskItem {
        var item = at(path)
        item.unpublish()
        item.resourceID = nil
        item.created = now
        item.modified = now
        return item
    }
}
