import Foundation

extension BlobStore {
    /// Makes a blob of a file that is finished, such as what a child process has written: it is fsynced and renamed, so the file must be in a ``ScratchFolder`` of the same data directory.
    /// Like a written blob it is kept if its row is written before the next start.
    ///
    /// - Throws: ``StorageError``, also where the file is missing, or a link.
    public func adopt(_ place: ScratchPlace) throws -> Blob {
        let file = try OpenFile(place.path, O_RDONLY | O_NOFOLLOW)
        guard fchmod(file.descriptor, 0o600) == 0 else { throw StorageError.system(errno, path: place.path, operation: "fchmod") }
        let blob = Blob(id: .random(), length: try file.length())
        try file.synchronize()
        guard rename(place.path, path(blob.id)) == 0 else { throw StorageError.system(errno, path: place.path, operation: "rename") }
        try OpenFile.synchronizeDirectory(folder)
        return blob
    }

    /// Where the file of a blob is, for a child process that reads it. It may be removed at any moment, when the blob's row goes.
    public func filePath(of blob: Blob) -> String { path(blob.id) }
}
