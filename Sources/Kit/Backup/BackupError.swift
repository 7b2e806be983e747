/// Why a backup was not made, or not restored. Nothing was changed.
package enum BackupError: Error, Sendable, Equatable {
    /// There is no database to back up.
    case noDatabase(path: String)
    /// The target exists, and is not an empty directory.
    case targetNotEmpty(path: String)
    /// A backup cannot be written to the target.
    case targetUnsuitable(path: String, reason: String)
    /// Another process writes a backup to the target.
    case targetInUse(path: String, pid: Int32?)
    /// What is stored cannot be used, whatever is done with the files.
    case unusable(path: String, detail: String)
    /// The data directory changed faster than it could be copied.
    case unsettled(path: String, attempts: Int)
    /// A directory is not a complete backup.
    case notABackup(path: String, reason: String)
    /// Files of a backup are missing, or are not those that were written.
    case changed(path: String, files: [String])
    /// A data directory that is to receive a backup has files already.
    case directoryNotEmpty(path: String, names: [String])
    /// A backup cannot be restored to this place.
    case directoryUnsuitable(path: String, reason: String)
}

extension BackupError: CustomStringConvertible {
    /// The most names that a message has.
    private static let limit = 5

    /// One sentence for an operator, with paths and names.
    package var description: String {
        switch self {
        case .noDatabase(let path): "There is no database in \(path), so there is nothing to back up."
        case .targetNotEmpty(let path): "\(path) exists and is not empty: a backup needs a new directory."
        case .targetUnsuitable(let path, let reason): "A backup cannot be written to \(path): \(reason)."
        case .targetInUse(let path, let pid):
            "Another process\(pid.map { " (pid \($0))" } ?? "") is writing a backup to \(path)."
        case .unusable(let path, let detail): "\(path) cannot be used: \(detail)"
        case .unsettled(let path, let attempts):
            "\(path) changed faster than it could be copied (\(attempts) attempts): try again when there is less to do."
        case .notABackup(let path, let reason): "\(path) is not a complete backup: \(reason)."
        case .changed(let path, let files):
            "The backup \(path) is damaged; missing or changed since it was made: \(Self.list(files)). "
                + "Nothing was restored."
        case .directoryNotEmpty(let path, let names):
            "The data directory \(path) is not empty (\(Self.list(names))): "
                + "restore to an empty one, or move its contents elsewhere. Nothing was changed."
        case .directoryUnsuitable(let path, let reason): "A backup cannot be restored to \(path): \(reason)."
        }
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(limit).joined(separator: ", ")
            + (names.count > limit ? " and \(names.count - limit) more" : "")
    }
}
