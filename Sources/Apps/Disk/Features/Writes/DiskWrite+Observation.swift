import Foundation

/// The observed outcome of a write whose response did not arrive.
enum WriteObservation: Sendable, Equatable {
    /// The intended state exists.
    case done
    /// The state is as before.
    case notDone
    /// Neither can be concluded from the current state.
    case unclear
    /// The current state could not be determined.
    case unobserved
}

extension DiskWrite {
    /// The paths that show whether the write was carried out.
    var witnesses: (subject: DiskPath?, place: DiskPath?) {
        switch kind {
        case .upload, .makeFolder: (nil, path)
        case .delete, .publish, .unpublish, .restore: (path, nil)
        case .move(let target, _), .copy(let target, _): (path, target)
        }
    }

    /// Returns whether the write was carried out, from the current state.
    ///
    /// - Parameters:
    ///   - subject: The item at ``path`` now, if that is a witness, with the end of its link.
    ///   - place: The item at the path of the result now, if that is a witness.
    ///   - before: The items known before it was sent. Nil means that there was none, or that it was not known.
    ///   - sent: The bytes of an upload.
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
            // A folder that was known before is not the one that was to be created.
            return before.place?.kind == .dir ? .notDone : .done
        case .delete, .restore:
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
