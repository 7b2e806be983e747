import Foundation

extension BlobStore {
    /// Makes a blob of a file that is finished, such as what a child process has written: it is fsynced and renamed, so
    /// the file must be in a ``ScratchFolder`` of the same data directory. Without a row it goes with its last
    /// reference.
    ///
    /// - Throws: ``StorageError``, also where the file is missing, or a link.
    public func adopt(_ place: TemporaryPath) throws -> Blob {
        let file = try OpenFile(place.path, O_RDONLY | O_NOFOLLOW)
        guard fchmod(file.descriptor, 0o600) == 0 else {
            throw StorageError.system(errno, path: place.path, operation: "fchmod")
        }
        let length = try file.length()
        try file.synchronize()
        return try name(place.path, .random(), length: length)
    }

    /// Gives a finished file its name as a blob.
    func name(_ finished: String, _ id: BlobID, length: Int) throws -> Blob {
        // If the folder cannot be brought to the disk, the file goes with the claim.
        let claim = BlobClaim(id, path: path(id), removal: removal)
        guard rename(finished, path(id)) == 0 else {
            throw StorageError.system(errno, path: finished, operation: "rename")
        }
        try OpenFile.synchronizeDirectory(folder)
        return Blob(id: id, length: length, claim: claim)
    }

    /// Where the file of a blob is, for a child process that reads it. It may be removed at any moment, when the blob's
    /// row goes.
    public func filePath(of blob: Blob) -> String { path(blob.id) }
}
