public import Foundation

/// A body, small ones at hand, large ones to be read from a file.
public enum StoredBody: Sendable, Equatable {
    /// Up to ``BlobStore/inlineLimit`` bytes, kept in the database.
    case bytes(Data)
    /// A file, opened by ``BlobStore/reader(_:)``.
    case blob(Blob)

    /// Length in bytes.
    public var count: Int {
        switch self {
        case .bytes(let data): data.count
        case .blob(let blob): blob.length
        }
    }
}
