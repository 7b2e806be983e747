import Foundation

extension BlobStore {
    /// Turns a finished file, such as the output of a child process, into a blob.
    ///
    /// The file is fsynced and renamed, so it must be in a ``ScratchFolder`` of the same data directory. Without a row
    /// it is removed with its last reference, or at the next start.
    ///
    /// - Throws: ``StorageError``, also if the file is missing or a symbolic link.
    package func adopt(_ place: TemporaryPath) throws -> Blob {
        let file = try OpenFile(place.path, O_RDONLY | O_NOFOLLOW)
        guard fchmod(file.descriptor, 0o600) == 0 else {
            throw StorageError.system(errno, path: place.path, operation: "fchmod")
        }
        try file.synchronize()
        let checksums = try BlobChecksums(of: file)
        let id = BlobID.random()
        guard rename(place.path, unfinishedPath(id)) == 0 else {
            throw StorageError.system(errno, path: place.path, operation: "rename")
        }
        return try name(id, checksums)
    }

    /// Gives a finished file its name beside the unfinished one, by which the next start finds it if the process is
    /// killed before a row names it.
    ///
    /// - Throws: ``StorageError``; the file is removed then.
    func name(_ id: BlobID, _ checksums: BlobChecksums) throws -> Blob {
        let claim = BlobClaim(id, checksums, removal: removal)
        if link(unfinishedPath(id), path(id)) != 0 {
            // Some network file systems and FAT have no links: there a file may remain without a row.
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), rename(unfinishedPath(id), path(id)) == 0 else {
                throw StorageError.system(errno, path: path(id), operation: "link")
            }
        }
        try OpenFile.synchronizeDirectory(folder)
        return Blob(id: id, length: checksums.length, claim: claim)
    }

    /// Returns the path of a blob's file, for a child process that reads it. The file may be removed at any moment,
    /// with the blob's row.
    package func filePath(of blob: Blob) -> String { path(blob.id) }

    /// Gives a blob's file a second name in a folder of the same file system. It can be read there even if the blob is
    /// deleted meanwhile, and takes no space of its own.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if the file is missing; other ``StorageError``s.
    package func hold(_ blob: Blob, in folder: ScratchFolder) throws -> TemporaryPath {
        let place = folder.place()
        guard link(path(blob.id), place.path) == 0 else {
            let code = errno
            if code == ENOENT { throw StorageError.blobUnavailable(blob.id) }
            throw StorageError.system(code, path: place.path, operation: "link")
        }
        return place
    }
}
