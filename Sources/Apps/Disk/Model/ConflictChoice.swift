/// How a user ends a conflict.
enum ConflictChoice: String, CaseIterable, Sendable {
    /// Both items stay: the one made here gets another name.
    case keepBoth = "keep_both"
    /// The found item is replaced, or changed nevertheless.
    case overwrite
    /// The found item stays, and the write is dropped.
    case discard

    /// Whether it is possible: an item that is gone cannot be changed, and a file to be deleted has no other name.
    func isPossible(for work: QueuedWrite) -> Bool {
        switch self {
        case .keepBoth: work.isDisputedAtTarget
        case .overwrite: work.isDisputedAtTarget || work.theirs != nil
        case .discard: true
        }
    }
}

extension QueuedWrite {
    /// Whether the found item is at the target of the write, and is not its subject.
    var isDisputedAtTarget: Bool { disputed == target && (isCreation || kind == .move) }

    /// The item that the write leaves, as a side of a conflict; nil if it leaves none.
    var ours: SeenItem? {
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
        if isDisputedAtTarget {
            write.place = theirs
            write.overwrites = true
        } else {
            write.subject = theirs
        }
        return write.undisputed()
    }

    /// Returns the write with another path for its result.
    func renamed(to other: DiskPath) -> QueuedWrite {
        var write = self
        if kind == .move { write.to = other } else { write.path = other }
        write.place = nil
        write.overwrites = false
        return write.undisputed()
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

    private func undisputed() -> QueuedWrite {
        var write = self
        write.theirs = nil
        write.disputed = nil
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
