import Database
import Foundation

/// A finished file that no document has yet. Without one it is removed with the last reference to it.
struct StagedFile: Sendable {
    /// The file as the document will have it.
    let blob: Blob
    /// Where its bytes are until then; nil if they are in the file of the blob.
    let place: TemporaryPath?
}

/// The file of a document at a path, for programs that read it. It stays at least as long as the value, unless it is
/// that of a blob, which a change of the document removes.
struct DocumentFile: Sendable {
    let url: URL
    private let place: TemporaryPath?

    /// The file of a blob.
    init(path: String) {
        url = URL(filePath: path)
        place = nil
    }

    /// A copy.
    init(_ place: TemporaryPath) {
        url = URL(filePath: place.path)
        self.place = place
    }
}
