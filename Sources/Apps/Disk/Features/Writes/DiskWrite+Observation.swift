import Foundation

/// What is seen of a write whose response did not arrive.
enum WriteObservation: Sendable, Equatable {
    /// What it was to bring about is there.
    case done
    /// Everything is as before.
    case notDone
    /// It cannot be told.
    case unclear
}

extension DiskWrite {
    /// What can be looked at to find out whether the write was carried out.
    var witnesses: (subject: DiskPath?, place: DiskPath?) {
        switch kind {
        case .upload, .makeFolder: (nil, path)
        case .delete, .publish, .unpublish, .restore: (path, nil)
        case .move(let target, _), .copy(let target, _): (path, target)
        }
    }

    /// Returns whether the write was carried out, from what is there now.
    ///
    /// - Parameters:
    ///   - subject: what is at ``path`` now, if that is a witness.
    ///   - place: what is at the place it leads to now, if that is a witness.
    ///   - before: what was known before it was sent. Nil there means that nothing was, or that it was not known.
    ///   - sent: the bytes of an upload.
    func observation(
        subject: DiskItem?,
        place: DiskItem?,
        before: WritePreparation.Before,
        sent: UploadedBytes.Summary?
    ) -> WriteObservation {
        switch kind {
        case .upload:
            guard let place else { return .notDone }
            guard let sent else { return before.place?.version == place.version ? .notDone : .unclear }
            guard place.kind == .file, place.size == sent.count else { return .notDone }
            guard let md5 = place.md5, md5.utf8.count == 32 else { return .unclear }
            return md5.lowercased() == sent.md5 ? .done : .notDone
        case .makeFolder:
            guard let place, place.kind == .dir else { return .notDone }
            // One that was known before is not the one that was to be made.
            return before.place?.kind == .dir ? .notDone : .done
        case .delete, .restore:
            // What was not known to be there may never have been.
            return subject != nil ? .notDone : before.subject != nil ? .done : .unclear
        case .move:
            if subject != nil { return .notDone }
            guard let place, let moved = before.subject, place.isSame(as: moved) else { return .unclear }
            return .done
        case .copy:
            guard let place else { return .notDone }
            guard let subject, place.isLike(subject) else { return .unclear }
            // One that was there before may have been like it already.
            return before.place.map { $0.isLike(subject) } == true ? .unclear : .done
        case .publish: return subject.map { $0.isPublished ? .done : .notDone } ?? .unclear
        case .unpublish: return subject.map { $0.isPublished ? .notDone : .done } ?? .unclear
        }
    }
}

extension DiskItem {
    /// Whether it is a file with the content of another. The content of folders cannot be compared.
    fileprivate func isLike(_ other: DiskItem) -> Bool {
        kind == .file && other.kind == .file && md5 != nil && size == other.size && md5 == other.md5
    }

    /// Whether it is the same file or folder as another under another path.
    fileprivate func isSame(as other: DiskItem) -> Bool {
        if let resourceID, let otherID = other.resourceID { return kind == other.kind && resourceID == otherID }
        return isLike(other)
    }
}
