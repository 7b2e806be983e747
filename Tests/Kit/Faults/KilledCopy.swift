package import Foundation

/// Copies a data directory that is in use, as a killed process leaves it.
package enum KilledCopy {
    private static let names = ["larder.sqlite", "larder.sqlite-wal", "larder.key", "larder.key.next"]

    /// Copies database, key and blobs. Two names of one file are two names of one copy.
    package static func make(of folder: URL, at copy: URL) throws {
        let files = FileManager.default
        try files.createDirectory(at: copy.appending(path: "blobs"), withIntermediateDirectories: true)
        for name in names where files.fileExists(atPath: folder.appending(path: name).path) {
            try files.copyItem(at: folder.appending(path: name), to: copy.appending(path: name))
        }
        var copied: [UInt: URL] = [:]
        for name in try files.contentsOfDirectory(atPath: folder.appending(path: "blobs").path) {
            let (from, to) = (folder.appending(path: "blobs/\(name)"), copy.appending(path: "blobs/\(name)"))
            let attributes = try files.attributesOfItem(atPath: from.path)
            guard let file = attributes[.systemFileNumber] as? UInt else { throw POSIXError(.ENOENT) }
            if let first = copied[file] {
                try files.linkItem(at: first, to: to)
            } else {
                try files.copyItem(at: from, to: to)
                copied[file] = to
            }
        }
        // The files were there when the database was written.
        try files.setAttributes(
            [.modificationDate: Date() + 1],
            ofItemAtPath: copy.appending(path: "larder.sqlite").path
        )
    }
}
