/// Applies changes to a response that was requested before they were acknowledged, and may have been made before or
/// after them.
///
/// The result is the same in both cases: removed items are gone, moved items are at their new path, and created items
/// look as they were created.
enum DiskReplay {
    /// Returns an item after these changes; nil if they delete it.
    static func item(_ original: DiskItem, after changes: some Sequence<DiskChange>) -> DiskItem? {
        var present: DiskItem? = original
        for change in changes.sinceLastSeen(original) {
            switch change {
            case .deleted(let path), .restored(let path):
                if let item = present, path.covers(item.path) { present = nil }
            case .moved(let from, let to):
                if let item = present, let path = item.path.moved(from: from, to: to) {
                    present = item.at(path)
                } else if present == nil, to.covers(original.path) {
                    present = original
                }
            case .unpublished(let path):
                if present?.path == path { present?.unpublish() }
            case .appeared(let path, let known):
                if present?.path == path || (present == nil && original.path == path) {
                    present = known ?? present ?? original
                }
            case .doubtful: break
            }
        }
        return present
    }

    /// Returns the rows of a list after these changes, in their order.
    ///
    /// Items that were created later than the response are not among them, since their position is not known: the list
    /// has to be requested again.
    static func rows(_ items: [DiskItem], after changes: ArraySlice<DiskChange>) -> [DiskItem] {
        guard !changes.isEmpty else { return items }
        let pairs = items.compactMap { old in item(old, after: changes).map { (old: old, new: $0) } }
        // An item that was moved here replaces the one that it has overwritten.
        let moved = Set(pairs.lazy.filter { $0.old.path != $0.new.path }.map(\.new.path))
        var seen = Set<DiskPath>()
        return pairs.filter { $0.old.path != $0.new.path || !moved.contains($0.new.path) }.map(\.new).filter {
            seen.insert($0.path).inserted
        }
    }

    /// Whether a folder is still the requested one: neither it nor a folder above it was removed, moved or replaced.
    static func isSame(_ folder: DiskPath, after changes: ArraySlice<DiskChange>) -> Bool {
        !changes.contains { change in
            switch change {
            case .deleted(let path), .restored(let path): path.covers(folder)
            case .moved(let from, let to): from.covers(folder) || to.covers(folder)
            case .appeared, .unpublished, .doubtful: false
            }
        }
    }
}

extension DiskPath {
    /// Whether another path is this one, or below it.
    func covers(_ other: DiskPath) -> Bool { self == other || contains(other) }

    /// This path after a move of itself, or of a folder above it; nil if the move does not touch it.
    func moved(from: DiskPath, to: DiskPath) -> DiskPath? {
        if self == from { return to }
        guard from.contains(self) else { return nil }
        return to.child(String(Substring(text.unicodeScalars.dropFirst(from.below.unicodeScalars.count))))
    }
}

extension DiskItem {
    /// Returns the item at another path.
    func at(_ path: DiskPath) -> DiskItem {
        var item = self
        item.path = path
        item.name = path.name
        return item
    }
}

extension Sequence<DiskChange> {
    /// Returns the changes that an item of a response may not know: those after the last one that has created it as it
    /// is in the response. This distinguishes an item that has moved away from a later one of the same path.
    fileprivate func sinceLastSeen(_ item: DiskItem) -> [DiskChange] {
        let changes = Array(self)
        let last = changes.lastIndex { change in
            guard case .appeared(item.path, let created?) = change else { return false }
            return created.isSameVersion(as: item)
        }
        return last.map { Array(changes[$0...]) } ?? changes
    }
}

extension DiskItem {
    /// Whether both are known to be the same version of the same file or folder.
    fileprivate func isSameVersion(as other: DiskItem) -> Bool {
        guard kind == other.kind else { return false }
        if let resourceID, let otherID = other.resourceID, resourceID != otherID { return false }
        return kind == .dir ? resourceID != nil && other.resourceID != nil : version != nil && version == other.version
    }
}
