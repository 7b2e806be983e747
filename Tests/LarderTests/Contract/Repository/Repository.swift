import Foundation

/// The checkout that the tests were built from.
struct Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the text of a file.
    ///
    /// - Parameter path: relative to the root of the repository.
    /// - Throws: If it cannot be read as UTF-8.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the paths of all files in a folder and in those below it, relative to the folder and sorted.
    ///
    /// - Parameters:
    ///   - path: the folder, relative to the root of the repository.
    ///   - suffixes: the endings of the names that are wanted; all files if there are none.
    static func files(in path: String, suffixes: [String] = []) -> [String] {
        let found = FileManager.default.enumerator(atPath: root.appending(path: path).path)?.compactMap {
            $0 as? String
        }
        return (found ?? []).filter { file in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: root.appending(path: "\(path)/\(file)").path,
                isDirectory: &isFolder
            )
            return exists && !isFolder.boolValue && (suffixes.isEmpty || suffixes.contains { file.hasSuffix($0) })
        }
        .sorted()
    }
}
