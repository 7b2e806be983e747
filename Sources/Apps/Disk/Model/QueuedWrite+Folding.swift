import Upstream

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
