import Concurrency
import Foundation
import NIOCore

// Pure comparison of the items found at the paths of a write with those that the client had seen.
extension QueuedWrite {
    /// The next step of a write.
    enum Comparison: Sendable, Equatable {
        /// Nothing remains to be done: the items have the state that the write would give them.
        case done
        /// Something else was found at a path, or nothing.
        case conflict(remote: DiskItem?, DiskPath)
        /// It can be sent.
        case clear
    }

    /// Compares the found items with those that the client had seen.
    ///
    /// - Parameter wasSent: Whether it may have been carried out already.
    func compare(with found: CurrentState, wasSent: Bool) -> Comparison {
        if wasSent, isCarriedOut(found) { return .done }
        switch kind {
        case .folder, .upload: return comparisonOfTarget(found)
        case .delete:
            guard let subject = found.subject else { return .done }
            return isSeen(subject) ? .clear : .conflict(remote: subject, path)
        case .publish, .unpublish:
            guard let subject = found.subject else { return .conflict(remote: nil, path) }
            if kind == .unpublish, !subject.isPublished { return .done }
            // Whether its link has the requested end is asked when it is sent.
            if kind == .publish, subject.publicURL != nil { return .clear }
            return isSeen(subject) ? .clear : .conflict(remote: subject, path)
        case .move:
            guard let subject = found.subject else { return .conflict(remote: nil, path) }
            guard isSeen(subject) else { return .conflict(remote: subject, path) }
            return comparisonOfTarget(found)
        }
    }

    /// Whether the API compares its subject in the same request: a file is deleted only if it has the MD5 that was
    /// seen. Then it is not read before.
    var isComparedByAPI: Bool { kind == .delete && before.subject?.comparedMD5 != nil }

    /// Returns the item that it acts on if none was found at its path: others may have moved it. A move that was
    /// carried out has left nothing there, either.
    func missingSubject(_ comparison: Comparison, _ found: CurrentState) -> SeenItem? {
        guard found.subject == nil, comparison == .conflict(remote: nil, path) || kind == .delete else { return nil }
        return subject
    }

    /// Whether it is carried out, after it may have been sent.
    private func isCarriedOut(_ found: CurrentState) -> Bool {
        let write = write(body: ByteStream(ByteBuffer()), nil)
        let observation = write.observation(subject: found.subject, place: found.place, before: before, sent: summary)
        return observation == .done
    }

    private func comparisonOfTarget(_ found: CurrentState) -> Comparison {
        guard let remote = found.place else { return .clear }
        if kind == .upload, remote.kind == .file, remote.size == bytes?.length, remote.md5?.lowercased() == bytes?.md5 {
            return .done
        }
        guard let place, overwrites || kind == .folder, place.isSame(as: remote) else {
            return .conflict(remote: remote, target)
        }
        if kind == .folder, remote.kind == .dir { return .done }
        return .clear
    }

    private func isSeen(_ item: DiskItem) -> Bool { subject?.isSame(as: item) ?? false }

    /// The items that the client had seen.
    var before: CurrentState {
        CurrentState(subject: subject?.item(at: path), place: place?.item(at: target))
    }

    /// The length and checksum of an upload, to be compared with the file at the API.
    var summary: ByteSummary? { bytes.map { ByteSummary(count: $0.length, md5: $0.md5) } }

    /// Returns the request to the API.
    ///
    /// - Parameters:
    ///   - body: The bytes of an upload.
    ///   - operation: Its name in the outbox.
    func write(body: ByteStream, _ operation: String?) -> DiskWrite {
        let kind: DiskWrite.Kind
        switch self.kind {
        case .folder: kind = .makeFolder
        case .upload: kind = .upload(body, length: bytes?.length, overwrite: overwrites)
        case .delete: kind = .delete(permanently: permanently)
        case .move: kind = .move(to: target, overwrite: overwrites)
        case .publish: kind = .publish(linkEnd)
        case .unpublish: kind = .unpublish
        }
        var write = DiskWrite(kind: kind, path: path)
        write.operation = operation
        write.isCompared = isComparedByAPI
        return write
    }
}

enum ConflictChoice: String, CaseIterable, Sendable {
    /// Both items stay: the one made here gets another name.
    case keepBoth = "keep_both"
    /// The found item is replaced, or changed nevertheless.
    case overwrite
    /// The found item stays, and the write is dropped.
    case discard

    /// Whether it is possible: an item that no longer exists cannot be changed, and a file to be deleted has no other
    /// name.
    func isPossible(for work: QueuedWrite) -> Bool {
        switch self {
        case .keepBoth: work.conflictsAtTarget
        case .overwrite: work.conflictsAtTarget || work.remote != nil
        case .discard: true
        }
    }
}

extension QueuedWrite {
    /// Whether the found item is at the target of the write, and is not its subject.
    var conflictsAtTarget: Bool { conflictingPath == target && (isCreation || kind == .move) }

    /// Whether others have moved the item that it acts on.
    var isMoved: Bool {
        guard let conflictingPath, remote != nil else { return false }
        return !conflictsAtTarget && conflictingPath != path
    }

    /// The item that the write leaves, as a side of a conflict; nil if it leaves none.
    var local: SeenItem? {
        switch kind {
        case .folder: return SeenItem(DiskItem(path: path, kind: .dir))
        case .upload:
            var item = DiskItem(path: path, kind: .file)
            item.size = bytes?.length
            item.md5 = bytes?.md5
            item.modified = bytes?.at
            return SeenItem(item)
        case .move, .publish, .unpublish: return subject
        case .delete: return nil
        }
    }

    /// Returns the write in the form that is sent although another item was found.
    func overwriting() -> QueuedWrite {
        var write = self
        if conflictsAtTarget {
            write.place = remote
            write.overwrites = true
        } else {
            write.subject = remote
            write.path = conflictingPath ?? path
        }
        return write.withoutConflict()
    }

    /// Returns the write with another path for its result.
    func renamed(to other: DiskPath) -> QueuedWrite {
        var write = self
        if kind == .move { write.to = other } else { write.path = other }
        write.place = nil
        write.overwrites = false
        return write.withoutConflict()
    }

    /// Returns the write after something that it touches was given another path; nil if it touches nothing of it.
    func relocated(from: DiskPath, to: DiskPath) -> QueuedWrite? {
        let (moved, target) = (path.moved(from: from, to: to), self.to?.moved(from: from, to: to))
        guard moved != nil || target != nil else { return nil }
        var write = self
        write.path = moved ?? path
        write.to = target ?? self.to
        return write
    }

    private func withoutConflict() -> QueuedWrite {
        var write = self
        write.remote = nil
        write.conflictingPath = nil
        return write
    }
}

extension DiskPath {
    /// The path with a number before the extension: `report (2).pdf`.
    func numbered(_ number: Int, isFile: Bool) -> DiskPath {
        let kept = isFile ? DiskItem.fileExtension(of: name).unicodeScalars.count : 0
        let scalars = name.unicodeScalars
        let end = kept > 0 ? scalars.dropLast(kept + 1) : scalars[...]
        let suffix = kept > 0 ? String(Substring(scalars.suffix(kept + 1))) : ""
        let mark = " (\(number))"
        let room = Self.longestName - mark.unicodeScalars.count - suffix.unicodeScalars.count
        return (parent ?? .root).child(String(Substring(end.prefix(max(room, 1)))) + mark + suffix)
    }
}
