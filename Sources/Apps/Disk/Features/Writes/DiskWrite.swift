import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// The items that a write touches, as far as lists or the API have shown them.
struct CurrentState: Sendable {
    /// The item that it acts on.
    var subject: DiskItem?
    /// The item at its target.
    var place: DiskItem?
}

/// A change of the Disk as a value: the request to the API, the paths that it acts on, and its expected result.
struct DiskWrite: Sendable {
    enum Kind: Sendable {
        case upload(ByteStream, length: Int?, overwrite: Bool)
        case makeFolder
        case delete(permanently: Bool)
        case move(to: DiskPath, overwrite: Bool)
        case copy(to: DiskPath, overwrite: Bool)
        case publish(LinkEnd)
        case unpublish
        case restore(name: String?, overwrite: Bool)
        /// Permanently deletes an item of the trash, or all of them if the path is that of the trash.
        case purge
    }

    var kind: Kind
    /// The path that it acts on; the new path for a creation.
    var path: DiskPath
    var conditions = Conditions.none
    /// Whether it is a rename. The target of its request is ``path``, not the new path, so `If-None-Match` applies to
    /// ``path`` (RFC 9110 §13.1.2).
    var isRename = false
    /// The items found before it, if they were read already.
    var found: CurrentState?
    /// Whether the API compares the deleted file with the known version.
    var isCompared = false
    /// The operation of the outbox that it is; nil for a write that a client waits for.
    var operation: String?
    /// Whether it is queued if the API continues it: its bytes are kept here.
    var isQueuedIfUnderWay = false
    /// Whether it is queued if it was not carried out.
    var isQueuedIfNotDone = false
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
        case .purge: .purge
        }
    }

    /// Returns an operation of the API that continues it.
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

    var target: DiskPath? {
        switch kind {
        case .move(let target, _), .copy(let target, _): target
        default: nil
        }
    }

    /// Whether it creates something at ``path``, so that nothing has to be there before.
    var isCreation: Bool { [.upload, .makeFolder].contains(action) }

    /// Whether the item that it acts on must be known before, because the API's response does not describe it.
    var needsSubject: Bool { [.move, .copy].contains(action) }

    /// Whether the item that it acts on must be requested before, because the write may not be necessary or has
    /// preconditions.
    var asksForSubject: Bool { [.publish, .unpublish].contains(action) || conditions.concernSubject }

    /// Whether the item at its target must be known before: else one that was there already could be taken for the
    /// result of a write whose response does not arrive.
    var needsPlace: Bool { [.makeFolder, .copy].contains(action) }

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
        case .restore, .purge: "/v1/disk/trash"
        default: (target ?? path).link(to: "/v1/disk/file")
        }
    }

    /// Returns the change of the store once it is done.
    ///
    /// - Parameters:
    ///   - subject: The item that it acts on, in its state before.
    ///   - made: The file or folder that it has created; nil if that is not known.
    func change(subject: DiskItem?, made: DiskItem?) -> DiskChange {
        switch kind {
        case .upload, .makeFolder, .copy: .appeared(target ?? path, made)
        case .delete, .purge: .deleted(path)
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
    ///   - subject: The item that it acts on, in its state before.
    ///   - replaced: The item that was at its place before.
    ///   - sent: The bytes of an upload.
    func made(subject: DiskItem?, replaced: DiskItem?, sent: ByteSummary?, at now: Date) -> DiskItem? {
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
        case .delete, .unpublish, .restore, .purge: return nil
        }
    }
}

extension DiskItem {
    /// Describes an uploaded file by its bytes and by the file that it replaced.
    fileprivate init(uploaded sent: ByteSummary?, to path: DiskPath, replacing replaced: DiskItem?, at now: Date) {
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

extension DiskWrite {
    enum Outcome: Sendable {
        /// Done: the row of the result or of the removed item, its provenance, and whether the write has published
        /// something that had no link.
        case done(DiskRow, Provenance, isNewLink: Bool)
        /// The API has accepted it and continues.
        case underWay(DiskOperation)
    }

    /// The observed outcome of a write whose response did not arrive.
    enum Observation: Sendable, Equatable {
        /// The intended state exists.
        case done
        /// The state is as before.
        case notDone
        /// Neither can be concluded from the current state.
        case unclear
        /// The current state could not be determined.
        case unobserved
    }

    /// The paths that show whether the write was carried out.
    var observedPaths: (subject: DiskPath?, place: DiskPath?) {
        switch kind {
        case .upload, .makeFolder: (nil, path)
        // Others may put something into an emptied trash.
        case .purge where path.isRoot: (nil, nil)
        case .delete, .publish, .unpublish, .restore, .purge: (path, nil)
        case .move(let target, _), .copy(let target, _): (path, target)
        }
    }

    /// Returns whether the write was carried out, from the current state.
    ///
    /// - Parameters:
    ///   - subject: The item at ``path`` now, if it is one of those, with the end of its link.
    ///   - place: The item at the path of the result now, if it is one of those.
    ///   - before: The items known before it was sent. Nil means that there was none, or that it was not known.
    ///   - sent: The bytes of an upload.
    func observation(
        subject: DiskItem?,
        place: DiskItem?,
        before: CurrentState,
        sent: ByteSummary?
    ) -> Observation {
        switch kind {
        case .upload:
            guard let place else { return .notDone }
            guard let sent else { return before.place?.version == place.version ? .notDone : .unclear }
            guard place.kind == .file, place.size == sent.count else { return .notDone }
            guard let md5 = place.md5, md5.utf8.count == 32 else { return .unclear }
            return md5.lowercased() == sent.md5 ? .done : .notDone
        case .makeFolder:
            guard let place, place.kind == .dir else { return .notDone }
            // A folder that was known before is not the one that was to be created.
            return before.place?.kind == .dir ? .notDone : .done
        case .delete, .restore, .purge:
            // An item that was not known may never have been there.
            return subject != nil ? .notDone : before.subject != nil ? .done : .unclear
        case .move:
            if subject != nil { return .notDone }
            guard let place, let moved = before.subject, place.isSame(as: moved) else { return .unclear }
            return .done
        case .copy:
            guard let place else { return .notDone }
            guard let subject, place.isLike(subject) else { return .unclear }
            // The item that was there before may have had the same content.
            return before.place.map { $0.isLike(subject) } == true ? .unclear : .done
        case .publish(let end):
            guard let subject else { return .unclear }
            guard subject.isPublished else { return .notDone }
            let wasPublished = before.subject?.isPublished == true
            if end == .unspecified, !wasPublished { return .done }
            if subject.linkEnd == (end == .unspecified ? .never : end) { return .done }
            // Published without the end that it was to have.
            return wasPublished ? .notDone : .unclear
        case .unpublish: return subject.map { $0.isPublished ? .notDone : .done } ?? .unclear
        }
    }
}

extension DiskItem {
    /// Whether both are files with the same content. The content of folders cannot be compared.
    fileprivate func isLike(_ other: DiskItem) -> Bool {
        kind == .file && other.kind == .file && md5 != nil && size == other.size && md5 == other.md5
    }

    /// Whether both are the same file or folder, under whatever paths.
    fileprivate func isSame(as other: DiskItem) -> Bool {
        if let resourceID, let otherID = other.resourceID { return kind == other.kind && resourceID == otherID }
        return isLike(other)
    }
}

extension DiskWrite {
    /// The preconditions of a write (RFC 9110 §13), compared with the present state at the API.
    struct Conditions: Sendable, Equatable {
        /// `If-Match`: the item that the write acts on must have one of these versions.
        var ifMatch: EntityTagCondition?
        /// `If-Unmodified-Since`, ignored if `If-Match` is present (RFC 9110 §13.1.4).
        var unmodifiedSince: Date?
        /// `If-None-Match`: the item at the path of the result must have none of these versions.
        var ifNoneMatch: EntityTagCondition?

        static let none = Conditions()

        private init() {}

        /// Reads the fields of a request. A field without a member names no tag.
        init(_ fields: HTTPFields, at now: Date) {
            func condition(_ name: HTTPField.Name) -> EntityTagCondition? {
                let lines = fields[values: name]
                return lines.isEmpty ? nil : EntityTagCondition(lines: lines) ?? .tags([])
            }
            ifMatch = condition(.ifMatch)
            ifNoneMatch = condition(.ifNoneMatch)
            if ifMatch == nil { unmodifiedSince = fields[.ifUnmodifiedSince].flatMap { HTTPDate.parse($0, now: now) } }
        }

        /// Whether the present state of the item that the write acts on is needed.
        var concernSubject: Bool { ifMatch != nil || unmodifiedSince != nil }

        /// Whether the write must not replace anything. The API enforces it: there is no race with other clients.
        var forbidReplacing: Bool { ifNoneMatch == .any }

        /// Evaluates the conditions in the order of RFC 9110 §13.2.2.
        ///
        /// - Parameters:
        ///   - subject: The item that the write acts on; nil if there is none.
        ///   - place: The item at the path of the result; nil if there is none.
        /// - Throws: 412 `precondition-failed`.
        func check(subject: DiskItem?, place: DiskItem?) throws(Problem) {
            if let ifMatch, !Self.names(ifMatch, subject, weakly: false) { throw Self.failed("If-Match") }
            if let unmodifiedSince, let modified = subject?.modified, modified > unmodifiedSince {
                throw Self.failed("If-Unmodified-Since")
            }
            if let ifNoneMatch, Self.names(ifNoneMatch, place, weakly: true) { throw Self.failed("If-None-Match") }
        }

        /// Refuses a write because the API has found an item that `If-None-Match: *` forbids.
        ///
        /// - Throws: 412 `precondition-failed`, always.
        func refuse() throws(Problem) -> Never { throw Self.failed("If-None-Match") }

        /// Weak tags count only in a weak comparison (RFC 9110 §8.8.3.2).
        private static func names(_ condition: EntityTagCondition, _ item: DiskItem?, weakly: Bool) -> Bool {
            guard let item else { return false }
            return switch condition {
            case .any: true
            case .tags(let tags):
                tags.contains { tag in (weakly || !tag.isWeak) && tag.version.map(item.versions.contains) ?? false }
            }
        }

        private static func failed(_ field: String) -> Problem {
            Problem(
                .preconditionFailed,
                "What is on Yandex Disk now is not what \(field) asks for. "
                    + "Nothing was changed; read it again before changing it."
            )
        }
    }
}
