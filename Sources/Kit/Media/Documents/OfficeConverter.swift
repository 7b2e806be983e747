import Concurrency
import Crypto
package import Foundation

/// Converts office files to PDF with LibreOffice, if it is installed; one at a time.
package struct OfficeConverter: Sendable {
    let bench: ToolRunner
    /// One LibreOffice is as much as the machine has memory for.
    private let slot: AsyncSemaphore

    init(bench: ToolRunner) {
        self.bench = bench
        slot = AsyncSemaphore(permits: 1, maximumWaiting: bench.limits.waiting)
    }

    package var isAvailable: Bool { bench.tools.paths[.soffice] != nil }

    /// Converts a file; the result replaces the file at the destination.
    ///
    /// - Throws: ``MediaError``: `toolMissing` if LibreOffice is not installed, `unsupported`, `damaged` (also for
    ///   files with a password), `tooLarge`, `timedOut`, `overloaded`, `crashed`, `failed`.
    package func convert(_ file: URL, format: OfficeFormat, to destination: URL) async throws {
        _ = try bench.tools.path(of: .soffice)
        try check(file, format)
        try await slot.withJobPermit {
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

/// Office formats that LibreOffice converts.
package enum OfficeFormat: String, Sendable, CaseIterable {
    case docx, xlsx, pptx, odt, ods, odp, doc, xls, ppt, rtf

    /// Returns the format of a file's extension, in any case.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    }

    /// The first bytes of such a file: ZIP, OLE compound file, or RTF. Without this check LibreOffice would convert any
    /// text with the name of an office file.
    var signature: [UInt8] {
        switch self {
        case .docx, .xlsx, .pptx, .odt, .ods, .odp: [0x50, 0x4B, 0x03, 0x04]
        case .doc, .xls, .ppt: [0xD0, 0xCF, 0x11, 0xE0]
        case .rtf: Array("{\\rtf".utf8)
        }
    }
}

/// The LibreOffice profile of a job. Each job has its own: two instances at a time on one profile fail, and a document
/// must not affect the next one by its changes there.
enum OfficeProfile {
    /// Settings that differ from the defaults: documents load no other files, and no macro runs.
    private static let settings = [
        ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
        ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
        ("Common/Security/Scripting", "DisableActiveContent", "true"),
        ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
        ("Writer/Content/Update", "Link", "0"),
        ("Calc/Content/Update", "Link", "1"),
    ]

    /// The content of `registrymodifications.xcu`.
    static var registry: String {
        let items = settings.map { path, name, value in
            #"<item oor:path="/org.openoffice.Office.\#(path)">"#
                + #"<prop oor:name="\#(name)" oor:op="fuse"><value>\#(value)</value></prop></item>"#
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" \
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
            \(items.joined(separator: "\n"))
            </oor:items>

            """
    }

    /// Writes a profile into a job's directory and returns its URL.
    ///
    /// - Throws: Foundation's error.
    static func make(in folder: JobDirectory) throws -> String {
        let user = folder.path("profile/user")
        try FileManager.default.createDirectory(atPath: user, withIntermediateDirectories: true)
        _ = try folder.write(Data(registry.utf8), as: "profile/user/registrymodifications.xcu")
        return URL(filePath: folder.path("profile"), directoryHint: .notDirectory).absoluteString
    }
}

/// The socket at which LibreOffice listens for a second instance with its profile. It is in `/tmp`, whatever `TMPDIR`
/// is, and a confined process cannot remove it.
enum OfficePipe {
    /// Its directory, the only one outside of the job's in which LibreOffice may create anything, and only sockets.
    static let folder = "/tmp"

    /// Returns the path of the socket. Source: LibreOffice's sal/osl/unx/pipe.cxx and
    /// desktop/source/app/officeipcthread.cxx (`CreateMD5FromString`).
    ///
    /// - Parameters:
    ///   - profile: the URL of the profile that is passed to LibreOffice.
    ///   - user: the id of the user who runs it.
    static func path(profile: String, user: uid_t) -> String {
        let digest = Insecure.MD5.hash(
            data: Data(profile.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        )
        // Bytes below 16 have one digit there.
        return "\(folder)/OSL_PIPE_\(user)_SingleOfficeIPC_" + digest.map { String($0, radix: 16) }.joined()
    }

    /// Removes the socket, if it exists.
    static func remove(profile: String) {
        unlink(path(profile: profile, user: getuid()))
    }
}

/// Files of the system that LibreOffice reads beside those that every program may read.
enum OfficeFiles {
    /// Names of users are a part of the name of its socket.
    static let read = [
        "/etc/libreoffice", "/etc/mime.types", "/etc/papersize", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
        "/var/lib/libreoffice", "/var/spool/libreoffice",
    ]
}
