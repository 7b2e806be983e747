import Foundation

/// The paths of the programs.
package struct MediaTools: Sendable, Equatable {
    /// Absolute paths of those that were found.
    package let paths: [MediaTool: String]

    /// Creates tools of known paths.
    package init(paths: [MediaTool: String]) {
        self.paths = paths
    }

    /// Searches for all tools.
    ///
    /// - Parameters:
    ///   - searchPath: folders separated by colons, as in the variable PATH.
    ///   - pdfWorker: path of the worker; if nil or empty, it is searched for beside the executable, then on the search
    ///     path.
    ///   - executable: path of the running executable.
    package static func find(searchPath: String, pdfWorker: String? = nil, executable: String) -> MediaTools {
        // Relative entries of the search path would depend on the working directory, whose owner could choose the
        // program.
        let folders = searchPath.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let beside = URL(filePath: executable).resolvingSymlinksInPath().deletingLastPathComponent().path
        var paths: [MediaTool: String] = [:]
        for tool in MediaTool.allCases {
            let candidates: [String]
            if tool == .pdfWorker, let pdfWorker, !pdfWorker.isEmpty {
                candidates = [URL(filePath: pdfWorker).absoluteURL.path]
            } else {
                candidates = ((tool.isOwn ? [beside] : []) + folders).map { "\($0)/\(tool.executable)" }
            }
            paths[tool] = candidates.first { isProgram($0) }
        }
        return MediaTools(paths: paths)
    }

    /// Returns the path of a tool.
    ///
    /// - Throws: ``MediaError/toolMissing(_:)``.
    package func path(of tool: MediaTool) throws(MediaError) -> String {
        guard let path = paths[tool] else { throw .toolMissing(tool) }
        return path
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
