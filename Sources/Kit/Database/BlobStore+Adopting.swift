import Foundation

extension BlobStore {
    /// Turns a finished file, such as the output of a child process, into a blob.
    ///
    /// The file is fsynced and renamed, so it must be in a ``ScratchFolder`` of the same data directory. Without a row
    /// it is removed with its last reference.
    ///
    /// - Throws: ``StorageError``, also if the file is missing or a symbolic link.
    public func adopt(_ place: TemporaryPath) throws -> Blob {
        let file = try OpenFile(place.path, O_RDONLY | O_NOFOLLOW)
        guard fchmod(file.descriptor, 0o600) == 0 else {
            throw StorageError.system(errno, path: place.path, operation: "fchmod")
        }
        let length = try file.length()
        try file.synchronize()
        return try name(place.path, .random(), length: length)
    }

    /// Renames a finished file to the name of a blob.
    func name(_ finished: String, _ id: BlobID, length: Int) throws -> Blob {
        // If the folder cannot be synchronized, the file is removed with the claim.
        let claim = BlobClaim(id, path: path(id), removal: removal)
        guard rename(finished, path(id)) == 0 else {
            throw StorageError.system(errno, path: finished, operation: "rename")
        }
        try OpenFile.synchronizeDirectory(folder)
        return Blob(id: id, length: length, claim: claim)
    }

    /// Returns the path of a blob's file, for a child process that reads it. The file may be removed at any moment,
    /// with the blob's row.
    public func filePath(of blob: Blob) -> String { path(blob.id) }
}
