import Database
import Foundation

/// The folder within a data directory that has the files of snapshots.
enum SnapshotFolder {
    /// Removes it with its files, which no later process can use.
    /// - Throws: file errors.
    static func remove(in directory: DataDirectory) throws {
        let path = "\(directory.path)/\(Snapshots.folderName)"
        guard FileManager.default.fileExists(atPath: path) else { return }
        try FileManager.default.removeItem(atPath: path)
    }
}
