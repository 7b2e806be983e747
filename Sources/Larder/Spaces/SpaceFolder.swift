import Database
import Foundation
import Logging

/// The folders of spaces, in the system's temporary folder. Each is locked while its space is there.
enum SpaceFolder {
    /// What their names begin with.
    private static let prefix = "larder-space-"

    /// Returns the place of a new one.
    static func new() -> URL {
        FileManager.default.temporaryDirectory.appending(
            path: "\(prefix)\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
    }

    /// Removes the folders of processes that were killed: those of this user whose lock is free.
    static func removeLeftovers(_ logger: Logger) {
        let base = FileManager.default.temporaryDirectory
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: base.path) where name.hasPrefix(prefix) {
                let url = base.appending(path: name, directoryHint: .isDirectory)
                guard try isOwnFolder(url.path) else { continue }
                try remove(url)
            }
        } catch {
            logger.warning("folders of ended spaces could not be removed", metadata: ["error": "\(error)"])
        }
    }

    private static func remove(_ url: URL) throws {
        do {
            let directory = try DataDirectory(at: url)
            try directory.remove()
        } catch StorageError.directoryInUse {
            // Its space is there.
        }
    }

    /// Whether a path is a folder of this user, and no link to one.
    private static func isOwnFolder(_ path: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
        return attributes[.type] as? FileAttributeType == .typeDirectory && owner == geteuid()
    }
}
