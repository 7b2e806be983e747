import Foundation
import Upstream

/// A change of the Disk as a value: what is asked of the upstream, what it acts on, and what is to be seen there
/// afterwards.
struct DiskWrite: Sendable {
    /// What is to be done.
    enum Kind: Sendable {
        case upload(ByteStream, length: Int?, overwrite: Bool)
        case makeFolder
        case delete(permanently: Bool)
        case move(to: DiskPath, overwrite: Bool)
        case copy(to: DiskPath, overwrite: Bool)
        case publish(until: Date?)
        case unpublish
        case restore(name: String?, overwrite: Bool)
    }

    var kind: Kind
    /// What it acts on; for something new where it is to be.
    var path: DiskPath
    /// What must hold before.
    var conditions = WriteConditions.none
    /// Whether the target of the request is ``path`` also if it leads elsewhere, so that `If-None-Match` is about it
    /// (RFC 9110 §13.1.2).
    var isRename = false

    /// What it is called in the screen of an operation.
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

    /// Where something moved or copied is to be.
    var target: DiskPath? {
        switch kind {
        case .move(let target, _), .copy(let target, _): target
        default: nil
        }
    }

    /// Whether something new is made at ``path``, so that nothing has to be there before.
    var isCreation: Bool {
        switch kind {
        case .upload, .makeFolder: true
        default: false
        }
    }

    /// Whether what it acts on must be known before, because the upstream's response to the write does not say what it
    /// is.
    var needsSubject: Bool {
        switch kind {
        case .move, .copy: true
        default: false
        }
    }

    /// Whether what it acts on must be asked for before: the write may not be necessary.
    var asksForSubject: Bool {
        switch kind {
        case .publish, .unpublish: true
        default: conditions.concernSubject
        }
    }

    /// Where the write leads; nil for a restore whose origin is not known.
    func place(of subject: DiskItem?) -> DiskPath? {
        guard case .restore(let name, _) = kind else { return target ?? path }
        guard let origin = subject?.origin.flatMap({ DiskPath($0) }) else { return nil }
        return name.flatMap { origin.parent?.child($0) } ?? origin
    }

    /// What `If-None-Match` is compared with: the target of the request, or where a request leads that has no target
    /// of its own.
    func comparedPlace(of subject: DiskItem?) -> DiskPath? { isRename ? path : place(of: subject) }

    /// The screen that shows what came of it.
    var href: String {
        switch kind {
        case .restore: "/v1/disk/trash"
        default: (target ?? path).link(to: "/v1/disk/file")
        }
    }

    /// What it changes here once it is done.
    ///
    /// - Parameters:
    ///   - subject: what it acts on, as it was before.
    ///   - made: the file or folder that it has made, as far as it is known.
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

    /// What is there once it is done, as far as it follows from what is known: the upstream is asked afterwards, but
    /// may be away by then.
    ///
    /// - Parameters:
    ///   - subject: what it acts on, as it was before.
    ///   - replaced: what was at its place before.
    ///   - sent: the bytes of an upload.
    func made(subject: DiskItem?, replaced: DiskItem?, sent: UploadedBytes.Summary?, at now: Date) -> DiskItem? {
        let now = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        switch kind {
        case .upload:
            var item = DiskItem(path: path, kind: .file)
            item.size = sent?.count
            item.md5 = sent?.md5
            item.created = replaced?.created ?? now
            item.modified = now
            item.mediaType = replaced?.mediaType
            item.mimeType = replaced?.mimeType
            return item
        case .makeFolder:
            var item = DiskItem(path: path, kind: .dir)
            item.created = now
            item.modified = now
            return item
        case .move(let target, _): return subject?.at(target)
        case .copy(let target, _):
            var item = subject?.at(target)
            item?.isPublished = false
            item?.publicURL = nil
            item?.resourceID = nil
            item?.created = now
            item?.modified = now
            return item
        case .publish:
            var item = subject
            item?.isPublished = true
            return item
        case .delete, .unpublish, .restore: return nil
        }
    }
}
