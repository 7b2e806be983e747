import Foundation

/// Something that the upstream does in its own time (202): what was asked, and what is to be repeated here once it is
/// done.
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
    /// Its identity at the upstream.
    let upstreamID: String
    let action: Action
    let path: DiskPath
    let target: DiskPath?
    var status: Status

    /// What it has changed once it is done.
    var change: DiskChange {
        switch action {
        case .delete: .deleted(path)
        case .move: target.map { .moved(from: path, to: $0) } ?? .doubtful
        case .restore: .restored(path)
        case .unpublish: .unpublished(path)
        case .copy, .publish, .upload, .makeFolder: .doubtful
        }
    }
}
