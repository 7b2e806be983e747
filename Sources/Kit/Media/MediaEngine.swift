package import Foundation
package import Logging
@_exported public import MediaFormats

// Apps that use Media need these types; they are a module of their own, because the worker links it without the server.

/// Works on pictures and documents. The server has one engine, which the composition root creates.
package struct MediaEngine: Sendable {
    /// The programs that were found.
    package let tools: MediaTools
    package let limits: MediaLimits
    package let pictures: PictureScaler
    package let pages: PagePictures
    package let documents: PDFTool
    package let office: OfficeConverter
    private let bench: ToolRunner

    /// Number of programs that run, and of jobs that wait for another to end.
    package var load: (running: Int, waiting: Int) {
        get async { await bench.load }
    }

    /// - Parameters:
    ///   - tools: the programs; a missing one is an error of the jobs that need it.
    ///   - folder: the parent of the jobs' directories, on the file system of the results. No other process may use
    ///     it: directories that an earlier run has left there are removed.
    ///   - logger: receives the causes of failures that are not in the input.
    /// - Throws: `CocoaError` if a leftover directory cannot be removed.
    package init(
        tools: MediaTools,
        limits: MediaLimits = MediaLimits(),
        folder: URL,
        logger: Logger = Logger(label: "media")
    ) throws {
        self.tools = tools
        self.limits = limits
        let root = folder.absoluteURL.path
        try JobDirectory.removeLeftovers(below: root)
        let bench = ToolRunner(tools: tools, limits: limits, root: root, logger: logger)
        self.bench = bench
        pictures = PictureScaler(bench: bench)
        pages = PagePictures(bench: bench)
        documents = PDFTool(bench: bench)
        office = OfficeConverter(bench: bench)
    }
}

/// A program that Media starts.
package enum MediaTool: String, Sendable, CaseIterable {
    /// Sets the limits of all the others.
    case prlimit
    /// Denies all the others files that are not theirs, and the network.
    case confine
    /// Decodes and scales pictures.
    case vips
    /// Draws pages of PDFs.
    case pdftoppm
    /// Converts office files to PDF.
    case soffice
    /// Makes and changes PDFs.
    case pdfWorker

    package var executable: String {
        switch self {
        case .pdfWorker: "larder-pdf-worker"
        case .confine: "larder-confine"
        case .prlimit, .vips, .pdftoppm, .soffice: rawValue
        }
    }

    /// Whether it is built with Larder and installed beside it.
    var isOwn: Bool { self == .pdfWorker || self == .confine }

    /// The Debian package of the program; the place of one that is part of Larder.
    package var package: String {
        switch self {
        case .prlimit: "util-linux"
        case .confine: "larder-confine (built with Larder; it belongs beside larder)"
        case .vips: "libvips-tools"
        case .pdftoppm: "poppler-utils"
        case .soffice: "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
        case .pdfWorker:
            "larder-pdf-worker (built with Larder; it belongs beside larder, or where media.pdf_worker says)"
        }
    }

    /// The work that needs it, for the operator.
    package var purpose: String {
        switch self {
        case .prlimit: "limits of all the others"
        case .confine: "keeping all the others to their files, and off the network"
        case .vips: "decoding and scaling pictures"
        case .pdftoppm: "pictures of pages"
        case .soffice: "previews of office files"
        case .pdfWorker: "making and changing PDFs"
        }
    }

    /// Whether Larder is ready without it.
    package var isOptional: Bool { self == .soffice }
}

package struct MediaTools: Sendable, Equatable {
    /// Absolute paths of the programs that were found.
    package let paths: [MediaTool: String]

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
