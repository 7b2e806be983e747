import Foundation

/// A write that the API finishes after it has accepted it (202).
struct DiskOperation: Sendable, Equatable {
    enum Status: String, Sendable {
        case running, done, failed
    }

    enum Action: String, Sendable {
        case delete, move, copy, restore, publish, unpublish, upload
        case makeFolder = "folder"
    }

    let id: String
    let account: String
    /// Its identifier at the API.
    let upstreamID: String
    let action: Action
    let path: DiskPath
    let target: DiskPath?
    var status: Status

    /// The change of the store once it is done.
    var change: DiskChange {
        switch action {
        case .delete: .deleted(path)
        case .move: target.map { .moved(from: path, to: $0) } ?? .doubtful
        case .restore: .restored(path)
        case .unpublish: .unpublished(path)
        case .copy, .publish, .upload, .makeFolder: .doubtful
        }
    }

    /// Returns how an operation has ended that the API has forgotten, from the items at its paths now. The API had
    /// accepted it, so the item that it acts on was there.
    ///
    /// - Parameters:
    ///   - subject: The item at ``path``.
    ///   - place: The item at ``target``.
    func ending(subject: DiskItem?, place: DiskItem?) -> Status {
        let isDone =
            switch action {
            case .delete, .restore: subject == nil
            case .move: subject == nil && place != nil
            case .copy: place != nil
            case .upload: subject?.kind == .file
            case .makeFolder: subject?.kind == .dir
            case .publish: subject?.isPublished == true
            case .unpublish: subject?.isPublished == false
            }
        return isDone ? .done : .failed
    }
}
