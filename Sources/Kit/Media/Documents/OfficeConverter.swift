import Concurrency
package import Foundation

/// Converts office files to PDF with LibreOffice, if it is installed; one at a time.
package struct OfficeConverter: Sendable {
    let bench: ToolRunner
    /// One LibreOffice is as much as the machine has memory for.
    private let turn: AsyncSemaphore

    init(bench: ToolRunner) {
        self.bench = bench
        turn = AsyncSemaphore(permits: 1, maximumWaiting: bench.limits.waiting)
    }

    /// Whether LibreOffice is installed.
    package var isAvailable: Bool { bench.tools.paths[.soffice] != nil }

    /// Converts a file; the result replaces the file at the destination.
    ///
    /// - Throws: ``MediaError``: `toolMissing` if LibreOffice is not installed, `unsupported`, `damaged` (also for
    ///   files with a password), `tooLarge`, `timedOut`, `overloaded`, `crashed`, `failed`.
    package func convert(_ file: URL, format: OfficeFormat, to destination: URL) async throws {
        _ = try bench.tools.path(of: .soffice)
        try check(file, format)
        try await turn.withJobPermit {
            try await bench.withFolder { folder in
                let input = try folder.link(file, as: "in.\(format.rawValue)")
                let profile = try OfficeProfile.make(in: folder)
                let start = [
                    "-env:UserInstallation=\(profile)", "--headless", "--norestore", "--nolockcheck", "--nodefault",
                    "--nofirststartwizard",
                ]
                // The first start sets up a new profile. Without `--terminate_after_init` LibreOffice would start again
                // by itself then, and find the socket of the first start in its way.
                for arguments in [["--terminate_after_init"], ["--convert-to", "pdf", "--outdir", folder.path, input]] {
                    defer { OfficePipe.remove(profile: profile) }
                    _ = try await bench.run(.soffice, start + arguments, in: folder)
                }
                // It exits with 0 also if it fails; only the file shows success.
                let output = folder.path("in.pdf")
                guard FileManager.default.fileExists(atPath: output) else {
                    throw MediaError.damaged("LibreOffice cannot convert it; a password, perhaps")
                }
                try FinishedFile.move(output, to: destination)
            }
        }
    }

    private func check(_ file: URL, _ format: OfficeFormat) throws {
        let source = try FileBytes(file)
        guard source.count <= bench.limits.officeBytes else {
            throw MediaError.tooLarge(.bytes(limit: bench.limits.officeBytes))
        }
        guard try source.bytes(0..<8).starts(with: format.signature) else {
            throw MediaError.unsupported("a file that is not \(format.rawValue.uppercased())")
        }
    }
}
