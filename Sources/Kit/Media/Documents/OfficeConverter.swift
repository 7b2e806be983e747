public import Foundation

/// Turns office files into PDFs with LibreOffice, where it is installed; one at a time.
public struct OfficeConverter: Sendable {
    let bench: ToolRunner
    /// One LibreOffice is as much as the machine has memory for.
    private let turn: AsyncSemaphore

    init(bench: ToolRunner) {
        self.bench = bench
        turn = AsyncSemaphore(children: 1, waiting: bench.limits.waiting)
    }

    /// Whether it can be done here at all.
    public var isAvailable: Bool { bench.tools.paths[.soffice] != nil }

    /// Converts a file; the result replaces what is at the destination.
    ///
    /// - Throws: ``MediaError``: `toolMissing` where LibreOffice is not installed, `unsupported`, `damaged` (also for
    ///   files with a password), `tooLarge`, `timedOut`, `overloaded`, `crashed`, `failed`.
    public func convert(_ file: URL, format: OfficeFormat, to destination: URL) async throws {
        _ = try bench.tools.path(of: .soffice)
        let source = try FileBytes(file)
        guard source.count <= bench.limits.officeBytes else {
            throw MediaError.tooLarge(.bytes(limit: bench.limits.officeBytes))
        }
        guard try source.bytes(0..<8).starts(with: format.signature) else {
            throw MediaError.unsupported("a file that is not \(format.rawValue.uppercased())")
        }
        try await turn.run {
            try await bench.withFolder { folder in
                let input = try folder.link(file, as: "in.\(format.rawValue)")
                let profile = try OfficeProfile.make(in: folder)
                let start = [
                    "-env:UserInstallation=\(profile)", "--headless", "--norestore", "--nolockcheck", "--nodefault",
                    "--nofirststartwizard",
                ]
                // A new profile is set up by a first start, after which LibreOffice would start again by itself, and
                // find the socket of its first start in its way.
                for arguments in [["--terminate_after_init"], ["--convert-to", "pdf", "--outdir", folder.path, input]] {
                    defer { OfficePipe.remove(profile: profile) }
                    _ = try await bench.run(.soffice, start + arguments, in: folder)
                }
                // It exits with 0 whatever happens: what counts is the file.
                let output = folder.path("in.pdf")
                guard FileManager.default.fileExists(atPath: output) else {
                    throw MediaError.damaged("LibreOffice cannot convert it; a password, perhaps")
                }
                try FinishedFile.move(output, to: destination)
            }
        }
    }
}
