import Concurrency
import Foundation
import NIOCore

// Pure comparison of the items found at the paths of a write with those that the client had seen.
extension QueuedWrite {
    /// The next step of a write.
    enum Judgement: Sendable, Equatable {
        /// Nothing remains to be done: the items are already as the write would make them.
        case done
        /// Something else was found at a path, or nothing.
        case conflict(theirs: DiskItem?, DiskPath)
        /// It can be sent.
        case clear
    }

    /// Compares the found items with those that the client had seen.
    ///
    /// - Parameter wasSent: Whether it may have been carried out already.
    func judgement(of found: WritePreparation.Before, wasSent: Bool) -> Judgement {
        if wasSent, isCarriedOut(found) { return .done }
        switch kind {
        case .folder, .upload: return judgementOfPlace(found)
        case .delete:
            guard let subject = found.subject else { return .done }
            return isSeen(subject) ? .clear : .conflict(theirs: subject, path)
        case .publish, .unpublish:
            guard let subject = found.subject else { return .conflict(theirs: nil, path) }
            if kind == .unpublish, !subject.isPublished { return .done }
            // Whether its link has the requested end is asked when it is sent.
            if kind == .publish, subject.publicURL != nil { return .clear }
            return isSeen(subject) ? .clear : .conflict(theirs: subject, path)
        case .move:
            guard let subject = found.subject else { return .conflict(theirs: nil, path) }
            guard isSeen(subject) else { return .conflict(theirs: subject, path) }
            return judgementOfPlace(found)
        }
    }

    /// Whether the API compares its subject in the same request: a file is deleted only if it has the MD5 that was
    /// seen. Then it is not read before.
    var isComparedByAPI: Bool { kind == .delete && before.subject?.comparedMD5 != nil }

    /// Whether it is carried out, after it may have been sent.
    private func isCarriedOut(_ found: WritePreparation.Before) -> Bool {
        let write = write(body: ByteStream(ByteBuffer()), nil)
        let observation = write.observation(
            subject: found.subject,
            place: found.place,
            before: before,
            sent: summary
        )
        return observation == .done
    }

    private func judgementOfPlace(_ found: WritePreparation.Before) -> Judgement {
        guard let theirs = found.place else { return .clear }
        if kind == .upload, theirs.kind == .file, theirs.size == bytes?.length, theirs.md5?.lowercased() == bytes?.md5 {
            return .done
        }
        guard let place, overwrites || kind == .folder, place.isSame(as: theirs) else {
            return .conflict(theirs: theirs, target)
        }
        if kind == .folder, theirs.kind == .dir { return .done }
        return .clear
    }

    private func isSeen(_ item: DiskItem) -> Bool { subject?.isSame(as: item) ?? false }

    /// The items that the client had seen.
    var before: WritePreparation.Before {
        WritePreparation.Before(subject: subject?.item(at: path), place: place?.item(at: target))
    }

    /// The bytes of an upload, as they are compared with the file at the API.
    var summary: UploadedBytes.Summary? { bytes.map { UploadedBytes.Summary(count: $0.length, md5: $0.md5) } }

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
