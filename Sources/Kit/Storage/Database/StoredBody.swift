package import Foundation

/// A stored body: a small one in memory, a large one in a file.
package enum StoredBody: Sendable, Equatable {
    /// At most ``BlobStore/inlineLimit`` bytes, stored in the database.
    case bytes(Data)
    /// A file, opened by ``BlobStore/reader(_:)``.
    case blob(Blob)

    /// Length in bytes.
    package var count: Int {
        switch self {
        case .bytes(let data): data.count
        case .blob(let blob): blob.length
        }
    }
}
