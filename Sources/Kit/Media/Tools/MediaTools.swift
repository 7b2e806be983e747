import Foundation

/// Where the programs are.
public struct MediaTools: Sendable, Equatable {
    /// Absolute paths of those that were found.
    public let paths: [MediaTool: String]

    /// Tools at known places.
    public init(paths: [MediaTool: String]) {
        self.paths = paths
    }

    /// Looks for all of them.
    ///
    /// - Parameters:
    ///   - searchPath: folders separated by colons, as in the variable PATH.
    ///   - pdfWorker: path of the worker; nil or empty for beside the executable, then on the search path.
    ///   - executable: path of the running executable.
    public static func find(searchPath: String, pdfWorker: String? = nil, executable: String) -> MediaTools {
        // Relative entries of the search path would depend on where Larder was started, and let a folder's owner choose
        // the program.
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

    /// The path of a tool.
    ///
    /// - Throws: ``MediaError/toolMissing(_:)``.
    public func path(of tool: MediaTool) throws(MediaError) -> String {
        guard let path = paths[tool] else { throw .toolMissing(tool) }
        return path
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
